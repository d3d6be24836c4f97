#include <CLI/CLI.hpp>

#include "apps/penstock/load_run.h"
#include "apps/penstock/option_flags.h"
#include "apps/penstock/pipeline_file.h"
#include "apps/penstock/protobuf_records.h"

namespace penstock::command {
namespace {

constexpr const char* kFooter =
    "PIPELINE is a YAML file that says where records come from, which tables they go to, and how. "
    "The sink's\n"
    "options stand in it under their keys (`penstock options`); flags take precedence. "
    "docs/pipelines.md\n"
    "describes the file.\n"
    "Examples:\n"
    "  penstock run pipeline.yaml\n"
    "  penstock run pipeline.yaml --local --json";

class RunCommand final : public Subcommand {
 public:
  explicit RunCommand(CLI::App& app)
      : target_(app),
        sinkOptions_(app, bigquery::sinkOptionSet().definitions(),
                     [](const auto& each) { return !isConnectionOption(each); }),
        messageOptions_(app, bigquery::protobufOptionSet().definitions()),
        report_(app) {
    app.description("Runs a pipeline that a YAML file describes.");
    app.add_option("PIPELINE", file_, "the pipeline's file")->required();
    app.add_option("--on-error", onError_, "instead of the file's executor.on-error")
        ->type_name("fail | drop");
    app.add_option("--parallelism", parallelism_, "instead of executor.parallelism")
        ->type_name("N");
    app.add_option("--checkpoint-dir", checkpointDirectory_, "instead of executor.checkpoint-dir")
        ->type_name("DIR");
    app.add_option("--checkpoint-interval", checkpointInterval_,
                   "instead of executor.checkpoint-interval")
        ->type_name("DURATION");
    app.add_flag("--ignore-unknown-fields", ignoreUnknownFields_,
                 "leave out fields that the tables have no column for");
    app.add_flag("--json", json_, "a summary in JSON as the last line of standard output");
    app.footer(kFooter);
  }

  ExitCode run(const CommandContext& context) override {
    return reportLoad(context.console, json_, /*table=*/"",
                      [&](const LoadFrame& frame) { return prepareAndRun(context, frame); });
  }

 private:
  std::optional<CommandError> prepareAndRun(const CommandContext& context, const LoadFrame& frame) {
    absl::StatusOr<Pipeline> pipeline = readPipelineFile(file_);
    // Its messages name the file's own keys.
    if (!pipeline.ok()) {
      return CommandError{ExitCode::kBadInput, std::string(base::messageOf(pipeline.status()))};
    }
    frame.connection.options = pipeline->options;
    const absl::Status status = applyFlags(pipeline->plan, frame.connection.options);
    if (!status.ok()) return commandError(ExitCode::kUsage, status);
    const absl::StatusOr<Reporting> reporting = report_.reporting();
    if (!reporting.ok()) return commandError(ExitCode::kUsage, reporting.status());
    return runLoad(context, pipeline->plan, target_, *reporting, frame);
  }

  absl::Status applyFlags(LoadPlan& plan, bigquery::SinkOptions& options) const {
    if (!onError_.empty()) {
      PENSTOCK_ASSIGN_OR_RETURN(plan.onError, parseOnError("--on-error", onError_));
    }
    PENSTOCK_RETURN_IF_ERROR(applyExecutorFlags(plan));
    plan.ignoreUnknownFields = plan.ignoreUnknownFields || ignoreUnknownFields_;
    PENSTOCK_RETURN_IF_ERROR(applyMessageFlags(messageOptions_, plan));
    return sinkOptions_.apply(bigquery::sinkOptionSet(), options);
  }

  absl::Status applyExecutorFlags(LoadPlan& plan) const {
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

  std::string file_;
  std::optional<int64_t> parallelism_;
  std::optional<std::string> checkpointDirectory_;
  std::optional<std::string> checkpointInterval_;
  std::string onError_;
  bool ignoreUnknownFields_ = false;
  bool json_ = false;
  TargetFlags target_;
  OptionFlags sinkOptions_;
  OptionFlags messageOptions_;
  ReportFlags report_;
};

}  // namespace

std::unique_ptr<Subcommand> makeRunCommand(CLI::App& app) {
  return std::make_unique<RunCommand>(app);
}

}  // namespace penstock::command
