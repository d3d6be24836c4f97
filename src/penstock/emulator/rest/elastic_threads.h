#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>

#include "penstock/base/mutex.h"

namespace penstock::emulator {

/// Runs jobs on threads that exist only while there is work: a job starts at once as long as fewer
/// than `maxThreads` run, and a thread without one ends after `idleTime`. An HTTP connection that
/// is kept open holds its thread, so a fixed small number would let a few of them shut everyone
/// else out.
class ElasticThreads {
 public:
  explicit ElasticThreads(size_t maxThreads = 256,
                          std::chrono::milliseconds idleTime = std::chrono::seconds(2));
  ~ElasticThreads();
  ElasticThreads(const ElasticThreads&) = delete;
  ElasticThreads& operator=(const ElasticThreads&) = delete;

  void run(std::function<void()> job);
  /// Returns when every job that was handed over has ended and every thread is gone; no job may
  /// follow.
  void finish();
  [[nodiscard]] size_t threadCount() const;

 private:
  void work();

  const size_t maxThreads_;
  const base::Duration idleTime_;
  mutable base::Mutex mutex_;
  base::CondVar jobArrived_;
  base::CondVar threadEnded_;
  std::deque<std::function<void()>> jobs_ PENSTOCK_GUARDED_BY(mutex_);
  size_t threads_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  size_t idleThreads_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool finishing_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator
