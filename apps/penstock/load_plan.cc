#include "apps/penstock/load_plan.h"

#include <algorithm>

#include "penstock/base/duration.h"

namespace penstock::command {

absl::StatusOr<OnError> parseOnError(std::string_view name, const std::string& text) {
  if (text == "fail") return OnError::kFail;
  if (text == "drop") return OnError::kDrop;
  return base::invalidArgument("{}: '{}' is not one of fail, drop", name, text);
}

absl::StatusOr<base::Duration> parseCheckpointInterval(std::string_view name,
                                                       const std::string& text) {
  const auto interval = base::parseDuration(text);
  if (!interval.ok()) return base::withContext(interval.status(), std::string(name));
  if (*interval < std::chrono::milliseconds(1)) {
    return base::invalidArgument("{} must be >= 1 ms: '{}'", name, text);
  }
  return interval;
}

absl::Status checkParallelism(std::string_view name, int64_t parallelism) {
  constexpr int64_t kMostSubtasks = 256;
  if (parallelism >= 1 && parallelism <= kMostSubtasks) return absl::OkStatus();
  return base::invalidArgument("{} must be 1 to {}: '{}'", name, kMostSubtasks, parallelism);
}

absl::Status checkCanContinue(const LoadPlan& plan, std::string_view name) {
  const std::string& directory = plan.executor.checkpointDirectory;
  const bool readsStandardInput =
      std::find(plan.inputs.begin(), plan.inputs.end(), "-") != plan.inputs.end();
  if (!readsStandardInput || directory.empty()) return absl::OkStatus();
  return base::invalidArgument(
      "- (standard input) cannot be read again from a checkpoint: leave out {} ('{}') or load a "
      "file",
      name, directory);
}

}  // namespace penstock::command
