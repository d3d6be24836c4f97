#pragma once

#include <utility>
#include <vector>

#include "penstock/base/mutex.h"

namespace penstock::base {

/// Events on their way from any thread to the one thread that owns a core. Posting never blocks on
/// the owner; draining never waits; `wait` is for the blocking face only.
template <typename Event>
class Mailbox {
 public:
  /// Any thread.
  void post(Event event) {
    MutexLock lock(mutex_);
    events_.push_back(std::move(event));
    condition_.notifyOne();
  }

  /// Any thread: makes the next `waitUntil` return at once without an event.
  void wake() {
    MutexLock lock(mutex_);
    woken_ = true;
    condition_.notifyOne();
  }

  /// Owner: swaps what has arrived into `into` (cleared first, its capacity kept). False if nothing
  /// was there.
  bool drain(std::vector<Event>& into) {
    into.clear();
    MutexLock lock(mutex_);
    events_.swap(into);
    woken_ = false;
    return !into.empty();
  }

  /// Owner: waits for an event, a wake-up or the deadline.
  void waitUntil(MonotonicTime deadline) {
    MutexLock lock(mutex_);
    while (events_.empty() && !woken_) {
      condition_.waitUntil(mutex_, deadline);
      if (deadline != kNever && std::chrono::steady_clock::now() >= deadline) break;
    }
    woken_ = false;
  }

 private:
  Mutex mutex_;
  CondVar condition_;
  std::vector<Event> events_ PENSTOCK_GUARDED_BY(mutex_);
  bool woken_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::base
