#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/base/testing/manual_clock.h"

namespace penstock::simulation {

/// Virtual time and everything that is going to happen in it. Single-threaded and deterministic:
/// events at the same time run in the order in which they were scheduled.
class World {
 public:
  explicit World(uint64_t seed) : random_(base::seededRandom(seed)) {}

  base::ManualClock& clock() { return clock_; }
  base::Random& random() { return *random_; }

  void after(base::Duration delay, std::function<void()> what) {
    events_.push({clock_.now() + delay, sequence_++, std::move(what)});
  }
  /// A delay uniform in [low, high].
  base::Duration between(base::Duration low, base::Duration high) {
    return low + base::Duration(static_cast<int64_t>(random_->uniform() *
                                                     static_cast<double>((high - low).count())));
  }
  [[nodiscard]] base::MonotonicTime nextEvent() const {
    return events_.empty() ? base::kNever : events_.top().time;
  }
  /// What happens from here on is written down there, a line each.
  void traceInto(std::vector<std::string>& trace) { trace_ = &trace; }
  template <typename... Arguments>
  void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (trace_ == nullptr) return;
    const std::chrono::duration<double> time = clock_.now() - start_;
    trace_->push_back(fmt::format("{:10.3f} s  ", time.count()) +
                      fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  /// Moves time to `time` at the latest and runs the next event that is due by then. False: none
  /// was.
  bool runNext(base::MonotonicTime time) {
    if (events_.empty() || events_.top().time > time) {
      if (time != base::kNever) clock_.advanceTo(time);
      return false;
    }
    Event event = events_.top();
    events_.pop();
    clock_.advanceTo(event.time);
    event.what();
    return true;
  }

 private:
  struct Event {
    base::MonotonicTime time;
    uint64_t sequence;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  base::ManualClock clock_;
  const base::MonotonicTime start_ = clock_.now();
  std::vector<std::string>* trace_ = nullptr;
  std::unique_ptr<base::Random> random_;
  std::priority_queue<Event> events_;
  uint64_t sequence_ = 0;
};

}  // namespace penstock::simulation
