#include "apps/penstock/load_stop.h"

#include <cstdlib>
#include <utility>

#include "apps/penstock/exit_code.h"

namespace penstock::command {

LoadStop::LoadStop(std::function<void()> beforeTheJob)
    : beforeTheJob_(std::move(beforeTheJob)),
      signals_([this] { onSignal(); }, [this] { onSignal(); },
               runtime::StopSignals::Afterwards::kIgnored) {}

void LoadStop::duringJob(std::function<void()> first, std::function<void()> again,
                         const std::function<void()>& job) {
  {
    base::MutexLock lock(mutex_);
    phase_ = Phase::kJob;
    first_ = std::move(first);
    again_ = std::move(again);
  }
  job();
  finish();
}

void LoadStop::finish() {
  base::MutexLock lock(mutex_);
  phase_ = Phase::kAfter;
}

void LoadStop::onSignal() {
  base::MutexLock lock(mutex_);
  if (phase_ == Phase::kBefore) {
    beforeTheJob_();
    std::_Exit(static_cast<int>(ExitCode::kStopped));
  }
  if (phase_ == Phase::kAfter) return;
  const auto first = std::exchange(first_, nullptr);
  first ? first() : again_();
}

}  // namespace penstock::command
