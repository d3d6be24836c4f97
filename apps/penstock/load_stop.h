#pragma once

#include <functional>

#include "penstock/base/mutex.h"
#include "penstock/runtime/stop_signals.h"

namespace penstock::command {

/// What SIGINT and SIGTERM do to a load, from its first look at the input until it has said what it
/// came to. Before the first record there is nothing to see through: the process ends at once.
/// While the job runs they are the job's. Then they do nothing any more, also after this object:
/// what is loaded must not look as if it had been stopped. One at a time in a process.
class LoadStop {
 public:
  /// `beforeTheJob` says that the load was stopped; then the process exits with 130.
  explicit LoadStop(std::function<void()> beforeTheJob);

  /// Calls `first` for the first signal while `job` runs and `again` for every later one, on
  /// another thread, never after it has returned. Then signals do nothing.
  void duringJob(std::function<void()> first, std::function<void()> again,
                 const std::function<void()>& job);
  /// From here on signals do nothing, whether or not there was a job.
  void finish();

 private:
  enum class Phase { kBefore, kJob, kAfter };
  void onSignal();

  base::Mutex mutex_;
  Phase phase_ PENSTOCK_GUARDED_BY(mutex_) = Phase::kBefore;
  std::function<void()> first_ PENSTOCK_GUARDED_BY(mutex_);
  std::function<void()> again_ PENSTOCK_GUARDED_BY(mutex_);
  const std::function<void()> beforeTheJob_;
  const runtime::StopSignals signals_;  // last: its thread uses the others
};

}  // namespace penstock::command
