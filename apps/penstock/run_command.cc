#include <CLI/CLI.hpp>

#include "apps/penstock/executor_flags.h"
#include "apps/penstock/load_run.h"
#include "apps/penstock/option_flags.h"
#include "apps/penstock/pipeline_file.h"
#include "apps/penstock/protobuf_records.h"

namespace penstock::command {
namespace {

constexpr const char* kRunFooter =
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
        executor_(app),
        report_(app) {
    app.description("Runs a pipeline that a YAML file describes.");
    app.add_option("PIPELINE", file_, "the pipeline's file")->required();
    app.add_option("--on-error", onError_, "instead of the file's executor.on-error")
        ->type_name("fail | drop");
    app.add_flag("--ignore-unknown-fields", ignoreUnknownFields_,
                 "leave out fields that the tables have no column for");
    app.add_flag("--json", json_, "a summary in JSON as the last line of standard output");
    app.footer(kRunFooter);
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
    PENSTOCK_RETURN_IF_ERROR(executor_.apply(plan));
    plan.ignoreUnknownFields = plan.ignoreUnknownFields || ignoreUnknownFields_;
    PENSTOCK_RETURN_IF_ERROR(applyMessageFlags(messageOptions_, plan));
    return sinkOptions_.apply(bigquery::sinkOptionSet(), options);
  }

  std::string file_;
  std::string onError_;
  bool ignoreUnknownFields_ = false;
  bool json_ = false;
  TargetFlags target_;
  OptionFlags sinkOptions_;
  OptionFlags messageOptions_;
  ExecutorFlags executor_;
  ReportFlags report_;
};

}  // namespace

std::unique_ptr<Subcommand> makeRunCommand(CLI::App& app) {
  return std::make_unique<RunCommand>(app);
}

}  // namespace penstock::command
