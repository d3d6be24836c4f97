#pragma once

#include <atomic>

#include "penstock/base/clock.h"

namespace penstock::base {

/// A clock that moves only when told to. Starts at one hour, so that "a while ago" can be
/// subtracted.
class ManualClock final : public Clock {
 public:
  MonotonicTime now() const override { return MonotonicTime(Duration(nanoseconds_.load())); }
  WallTime wallNow() const override {
    return WallTime(Duration(nanoseconds_.load()) + std::chrono::hours(24 * 365 * 50));
  }
  void advance(Duration by) { nanoseconds_.fetch_add(by.count()); }
  void advanceTo(MonotonicTime time) {
    if (time > now()) nanoseconds_.store(time.time_since_epoch().count());
  }

 private:
  std::atomic<int64_t> nanoseconds_{Duration(std::chrono::hours(1)).count()};
};

}  // namespace penstock::base
