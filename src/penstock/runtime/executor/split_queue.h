#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "penstock/base/mutex.h"

namespace penstock::runtime {

/// Splits that no subtask has taken yet, by index. Subtasks take the next one when they are done
/// with theirs, so that a slow split holds up no other. Thread-safe.
class SplitQueue {
 public:
  void add(size_t split) {
    base::MutexLock lock(mutex_);
    waiting_.push_back(split);
  }
  [[nodiscard]] std::optional<size_t> take() {
    base::MutexLock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    const size_t split = waiting_.front();
    waiting_.pop_front();
    return split;
  }
  [[nodiscard]] size_t size() {
    base::MutexLock lock(mutex_);
    return waiting_.size();
  }

 private:
  base::Mutex mutex_;
  std::deque<size_t> waiting_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::runtime
