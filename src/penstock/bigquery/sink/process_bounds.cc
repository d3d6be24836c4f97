#include "penstock/bigquery/sink/process_bounds.h"

#include "penstock/base/log.h"

namespace penstock::bigquery {

const std::shared_ptr<ProcessBounds>& ProcessBounds::ofProcess() {
  static const auto* bounds = new std::shared_ptr<ProcessBounds>(std::make_shared<ProcessBounds>());
  return *bounds;
}

ProcessLimits ProcessBounds::enter(const ProcessLimits& asked) {
  ProcessLimits inForce;
  {
    base::MutexLock lock(mutex_);
    if (writers_++ == 0) limits_ = asked;
    inForce = limits_;
    maxBuffered_.store(inForce.maxBufferedBytes, std::memory_order_relaxed);
  }
  if (!(inForce == asked)) warn(conflicts(inForce, asked), "the process");
  return inForce;
}

void ProcessBounds::leave() {
  base::MutexLock lock(mutex_);
  --writers_;
}

ProcessLimits ProcessBounds::limits() const {
  base::MutexLock lock(mutex_);
  return limits_;
}

void ProcessBounds::warn(const std::vector<OptionConflict>& conflicts, const std::string& where) {
  std::vector<std::string> messages;
  {
    base::MutexLock lock(mutex_);
    for (const OptionConflict& conflict : conflicts) {
      std::string message = fmt::format(
          "a sink asks for {} = {}: {} stays in force for {}, which an earlier sink asked for and "
          "which all share",
          conflict.key, conflict.asked, conflict.inForce, where);
      if (warned_.insert(message).second) messages.push_back(std::move(message));
    }
  }
  for (const std::string& message : messages) base::logWarning("{}", message);
}

}  // namespace penstock::bigquery
