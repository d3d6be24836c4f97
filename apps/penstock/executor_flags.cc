#include "apps/penstock/executor_flags.h"

#include <CLI/CLI.hpp>

namespace penstock::command {

ExecutorFlags::ExecutorFlags(CLI::App& app) {
  app.add_option("--parallelism", parallelism_, "threads that read and write; default 1")
      ->type_name("N");
  app.add_option("--checkpoint-dir", checkpointDirectory_,
                 "where progress is kept: a stopped or crashed load continues from there")
      ->type_name("DIR");
  app.add_option("--checkpoint-interval", checkpointInterval_,
                 "time between checkpoints; default 10 s")
      ->type_name("DURATION");
}

absl::Status ExecutorFlags::apply(LoadPlan& plan) const {
  if (parallelism_) {
    PENSTOCK_RETURN_IF_ERROR(checkParallelism("--parallelism", *parallelism_));
    plan.executor.parallelism = static_cast<int>(*parallelism_);
  }
  if (checkpointDirectory_) {
    if (checkpointDirectory_->empty()) {
      return base::invalidArgument("--checkpoint-dir must name a directory");
    }
    plan.executor.checkpointDirectory = *checkpointDirectory_;
    PENSTOCK_RETURN_IF_ERROR(checkCanContinue(plan, "--checkpoint-dir"));
  }
  if (checkpointInterval_) {
    if (plan.executor.checkpointDirectory.empty()) {
      return base::invalidArgument("--checkpoint-interval needs --checkpoint-dir ('{}')",
                                   *checkpointInterval_);
    }
    PENSTOCK_ASSIGN_OR_RETURN(
        plan.executor.checkpointInterval,
        parseCheckpointInterval("--checkpoint-interval", *checkpointInterval_));
  }
  return absl::OkStatus();
}

}  // namespace penstock::command
