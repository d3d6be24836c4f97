#include <CLI/CLI.hpp>

#include "apps/penstock/executor_flags.h"
#include "apps/penstock/load_run.h"
#include "apps/penstock/option_flags.h"
#include "apps/penstock/protobuf_records.h"

namespace penstock::command {
namespace {

using bigquery::TableName;

constexpr const char* kLoadFooter =
    "FILE is a file, a folder, a pattern or - for standard input; JSON objects, one a line, or one "
    "JSON array,\n"
    "or protobuf messages, each behind its length; plain, gzip or zstd. Without flags rows go to "
    "BigQuery with application-default credentials.\n"
    "Durations are like 500ms, 5 min; sizes like 512 KiB, 10MB. docs/command.md has the exit "
    "codes.\n"
    "Examples:\n"
    "  penstock load events.jsonl --to my-project.my_dataset.events\n"
    "  penstock load 'logs/*.jsonl.gz' --to p.d.logs --autodetect --local\n"
    "  penstock load big.jsonl --to p.d.t --schema schema.json --checkpoint-dir state --on-error "
    "drop\n"
    "  zcat x.gz | penstock load - --to p.d.t --autodetect --json --local\n"
    "  penstock load orders.pb --format protobuf --descriptor-set shop.set --message shop.Order "
    "--to "
    "p.d.t";

/// The flags of `load`, as text and checked.
struct LoadFlags {
  std::vector<std::string> inputs;
  std::string to;
  std::string schemaFile;
  bool autodetect = false;
  std::string format = "json";
  std::string descriptorSetFile;
  std::string messageName;
  std::string onError = "fail";
  bool ignoreUnknownFields = false;
  bool json = false;
};

/// --format, --descriptor-set and --message belong together.
absl::StatusOr<std::optional<ProtobufRecords>> protobufOf(const LoadFlags& flags) {
  if (flags.format == "json") {
    if (!flags.descriptorSetFile.empty() || !flags.messageName.empty()) {
      return base::invalidArgument("--descriptor-set and --message need --format protobuf");
    }
    return std::optional<ProtobufRecords>();
  }
  if (flags.format != "protobuf") {
    return base::invalidArgument("--format: '{}' is not one of json, protobuf", flags.format);
  }
  if (flags.descriptorSetFile.empty() || flags.messageName.empty()) {
    return base::invalidArgument(
        "--format protobuf needs --descriptor-set FILE (what protoc --include_imports "
        "--descriptor_set_out=FILE writes) and --message NAME");
  }
  if (flags.autodetect) {
    return base::invalidArgument(
        "--autodetect is for JSON: with --format protobuf the columns come from the message");
  }
  return std::optional(ProtobufRecords{flags.descriptorSetFile, flags.messageName});
}

/// What the flags say, each checked.
absl::StatusOr<LoadPlan> planOf(const LoadFlags& flags, const ExecutorFlags& executor) {
  LoadPlan plan;
  plan.inputs = flags.inputs;
  auto table = TableName::parse(flags.to);
  if (!table.ok()) return base::withContext(table.status(), "--to");
  plan.destination = DestinationTemplate::fixed(*table);
  if (!flags.schemaFile.empty() && flags.autodetect) {
    return base::invalidArgument("--schema and --autodetect exclude each other ('{}')",
                                 flags.schemaFile);
  }
  PENSTOCK_ASSIGN_OR_RETURN(plan.protobuf, protobufOf(flags));
  plan.schemaFile = flags.schemaFile;
  plan.autodetect = flags.autodetect;
  plan.ignoreUnknownFields = flags.ignoreUnknownFields;
  PENSTOCK_ASSIGN_OR_RETURN(plan.onError, parseOnError("--on-error", flags.onError));
  PENSTOCK_RETURN_IF_ERROR(executor.apply(plan));
  return plan;
}

class LoadCommand final : public Subcommand {
 public:
  explicit LoadCommand(CLI::App& app)
      : target_(app),
        sinkOptions_(app, bigquery::sinkOptionSet().definitions(),
                     [](const auto& each) { return !isConnectionOption(each); }),
        messageOptions_(app, bigquery::protobufOptionSet().definitions()),
        executor_(app),
        report_(app) {
    app.description("Streams JSON records or protobuf messages from files into a BigQuery table.");
    app.add_option("FILE", flags_.inputs, "files, folders, patterns, or - for standard input")
        ->required();
    app.add_option("--to", flags_.to, "the table, PROJECT.DATASET.TABLE")
        ->type_name("TABLE")
        ->required();
    app.add_option("--schema", flags_.schemaFile, "the table's schema in BigQuery's JSON form")
        ->type_name("FILE");
    app.add_flag("--autodetect", flags_.autodetect,
                 "infer the schema of a missing table from the records");
    app.add_option("--format", flags_.format, "what the records are")
        ->type_name("json | protobuf")
        ->capture_default_str();
    app.add_option("--descriptor-set", flags_.descriptorSetFile,
                   "of the messages: protoc --include_imports --descriptor_set_out=FILE")
        ->type_name("FILE");
    app.add_option("--message", flags_.messageName, "the messages' type, with its package")
        ->type_name("NAME");
    app.add_option("--on-error", flags_.onError,
                   "fail: a bad record ends the load; drop: it is counted and left out")
        ->type_name("fail | drop")
        ->capture_default_str();
    app.add_flag(
        "--ignore-unknown-fields", flags_.ignoreUnknownFields,
        "leave out fields that the table has no column for, instead of failing the record");
    app.add_flag("--json", flags_.json, "a summary in JSON as the last line of standard output");
    app.footer(kLoadFooter);
  }

  ExitCode run(const CommandContext& context) override {
    return reportLoad(context.console, flags_.json, flags_.to,
                      [&](const LoadFrame& frame) { return prepareAndRun(context, frame); });
  }

 private:
  std::optional<CommandError> prepareAndRun(const CommandContext& context, const LoadFrame& frame) {
    absl::StatusOr<LoadPlan> plan = planOf(flags_, executor_);
    if (!plan.ok()) return commandError(ExitCode::kUsage, plan.status());
    absl::Status status = applyMessageFlags(messageOptions_, *plan);
    if (status.ok())
      status = sinkOptions_.apply(bigquery::sinkOptionSet(), frame.connection.options);
    if (!status.ok()) return commandError(ExitCode::kUsage, status);
    const absl::StatusOr<Reporting> reporting = report_.reporting();
    if (!reporting.ok()) return commandError(ExitCode::kUsage, reporting.status());
    return runLoad(context, *plan, target_, *reporting, frame);
  }

  LoadFlags flags_;
  TargetFlags target_;
  OptionFlags sinkOptions_;
  OptionFlags messageOptions_;
  ExecutorFlags executor_;
  ReportFlags report_;
};

}  // namespace

std::unique_ptr<Subcommand> makeLoadCommand(CLI::App& app) {
  return std::make_unique<LoadCommand>(app);
}

}  // namespace penstock::command
