#include "apps/penstock/load_run.h"

#include <algorithm>

#include "apps/penstock/load_job.h"
#include "apps/penstock/load_schema.h"
#include "apps/penstock/load_sinks.h"
#include "apps/penstock/preflight.h"
#include "apps/penstock/protobuf_records.h"
#include "apps/penstock/statistics_document.h"
#include "penstock/bigquery/schema/schema_union.h"
#include "penstock/runtime/checkpoint_store.h"

namespace penstock::command {
namespace {

using bigquery::TableSchema;

bool isEmpty(const runtime::FileSource& source) {
  return std::all_of(
      source.files().begin(), source.files().end(),
      [](const runtime::InputFile& file) { return file.format == runtime::FileFormat::kEmpty; });
}

/// One load on its way.
class LoadRun {
 public:
  LoadRun(const CommandContext& context, const LoadPlan& plan, const Reporting& reporting,
          const LoadFrame& frame)
      : context_(context),
        console_(context.console),
        plan_(plan),
        reporting_(reporting),
        stop_(frame.stop),
        connection_(frame.connection),
        summary_(frame.summary) {}

  std::optional<CommandError> run(const TargetFlags& target) {
    summary_.table = plan_.destination.text();
    if (auto error = openInput()) return error;
    if (auto error = openConnection(target, context_.environment, console_, connection_))
      return error;
    summary_.target = connection_.target->description();
    if (isEmpty(*source_)) {
      summary_.result = LoadSummary::Result::kNothingToLoad;
      return std::nullopt;
    }
    if (connection_.options.schemaUpdateOptions.allowFieldRelaxation && plan_.schemaFile.empty() &&
        mapping_ == nullptr) {
      console_.note(
          fmt::format("penstock: warning: --allow-field-relaxation changes nothing without {}, "
                      "which says what columns are to be",
                      plan_.names.schema));
    }
    // Everything that can be found before the first record.
    auto error = plan_.destination.isFixed() ? checkOneTable() : checkManyTables();
    if (error) return error;
    return runJob();
  }

 private:
  std::optional<CommandError> openInput() {
    if (!plan_.schemaFile.empty()) {
      auto schema = readSchemaFile(plan_.names.schema, plan_.schemaFile);
      if (!schema.ok()) return commandError(ExitCode::kBadInput, schema.status());
      schema_ = *std::move(schema);
    }
    if (plan_.protobuf) {
      auto mapping = readMapping(plan_);
      if (!mapping.ok()) return commandError(ExitCode::kBadInput, mapping.status());
      mapping_ = *std::move(mapping);
    }
    auto source = runtime::FileSource::open(
        plan_.inputs, {.format = plan_.protobuf ? runtime::RecordFormat::kProtobuf
                                                : runtime::RecordFormat::kJson});
    if (!source.ok()) return commandError(ExitCode::kBadInput, source.status());
    source_ = *std::move(source);
    for (const std::string& notice : source_->notices()) console_.note("penstock: " + notice);
    return std::nullopt;
  }

  std::optional<CommandError> checkOneTable() {
    const bigquery::TableName table = plan_.destination.table();
    TableState state;
    if (auto error = checkTable(connection_, table, plan_.names.destination, console_, state)) {
      return error;
    }
    if (auto error = checkCheckpoint(table, state)) return error;
    if (auto error = chooseSchema(table, state)) return error;
    if (schema_ && state.description) announceChanges(table, state.description->schema);
    if (auto error = checkMessage(table, state)) return error;
    return checkStream(connection_, table, state);
  }

  /// Whether the rows that a checkpoint covers can be where it says.
  std::optional<CommandError> checkCheckpoint(const bigquery::TableName& table,
                                              const TableState& state) {
    const std::string& directory = plan_.executor.checkpointDirectory;
    if (directory.empty() || state.description || state.lookUpDenied) return std::nullopt;
    const auto listing = runtime::CheckpointStore::list(directory);
    // What is wrong with the directory is told when it is opened.
    if (!listing.ok() || listing->checkpoints.empty()) return std::nullopt;
    const auto& newest = listing->checkpoints.back().content;
    if (!newest.ok() || newest->records == 0) return std::nullopt;
    if (newest->jobIdentity != jobIdentity()) return std::nullopt;  // told when it is opened, too
    return CommandError{
        ExitCode::kCheckpoint,
        fmt::format("the checkpoint directory {} covers {} of this input, and the service says "
                    "that there is no table {} that could hold them; if it was deleted, give an "
                    "empty directory to load them all",
                    directory, counted(newest->records, "record"), table.dotted())};
  }

  /// Whether the messages fit the columns that their rows are laid out by.
  std::optional<CommandError> checkMessage(const bigquery::TableName& table,
                                           const TableState& state) {
    const TableSchema* laidOutBy = schema_             ? &*schema_
                                   : state.description ? &state.description->schema
                                                       : nullptr;
    if (mapping_ == nullptr || laidOutBy == nullptr) return std::nullopt;
    const absl::Status status = mapping_->check(*laidOutBy);
    if (status.ok()) return std::nullopt;
    const std::string columns =
        plan_.schemaFile.empty() ? fmt::format("the table {}", table.dotted()) : schemaSetting();
    return commandError(ExitCode::kBadInput, base::withContext(status, columns));
  }

  /// The schema that rows are laid out by and a missing table is created with: the given one, the
  /// table's own (which the sink reads and follows by itself), inferred.
  std::optional<CommandError> chooseSchema(const bigquery::TableName& table,
                                           const TableState& state) {
    if (mapping_ != nullptr && !schema_ && !state.description && !state.lookUpDenied) {
      schema_ = mapping_->tableSchema();
      return checkSchema(connection_, table, state, *schema_, messageSetting());
    }
    if (schema_) return checkSchema(connection_, table, state, *schema_, schemaSetting());
    if (state.description) {
      const bool describesRecords = mapping_ != nullptr || plan_.autodetect;
      if (describesRecords && connection_.options.schemaUpdateOptions.allowNewFields) {
        return widen(table, state);
      }
      if (plan_.autodetect) {
        console_.note(fmt::format(
            "penstock: the table exists: its own schema is used, not {} (--allow-new-fields would "
            "add the columns that it lacks)",
            plan_.names.autodetect));
      }
      if (state.description->schema.columns.empty()) {
        return CommandError{ExitCode::kUnusable,
                            fmt::format("the table {} has no columns", table.dotted())};
      }
      return std::nullopt;
    }
    if (plan_.autodetect) {
      if (auto error = infer()) return error;
      return checkSchema(connection_, table, state, *schema_, plan_.names.autodetect);
    }
    if (state.lookUpDenied) return std::nullopt;  // the sink asks over gRPC
    return CommandError{
        ExitCode::kUsage,
        fmt::format("the table {} does not exist and there is no schema to create it with: give "
                    "{} FILE or {}",
                    table.dotted(), plan_.names.schema, plan_.names.autodetect)};
  }

  /// Where columns may be added, the table is to get those that only the records have: the fields
  /// of their message type, or what is found in them.
  std::optional<CommandError> widen(const bigquery::TableName& table, const TableState& state) {
    const TableSchema& live = state.description->schema;
    if (mapping_ != nullptr) {
      schema_ = mapping_->tableSchema();
    } else if (auto error = infer()) {
      return error;
    }
    schema_ = bigquery::withNewColumns(live, *schema_);
    if (*schema_ != live) {
      return checkSchema(connection_, table, state, *schema_,
                         mapping_ != nullptr ? messageSetting() : plan_.names.autodetect);
    }
    schema_.reset();  // the table's own: the sink reads and follows it
    return std::nullopt;
  }

  /// Says which columns the table is going to get.
  void announceChanges(const bigquery::TableName& table, const TableSchema& live) {
    const auto united =
        bigquery::uniteSchemas(live, *schema_, connection_.options.schemaUpdateOptions);
    if (!united.ok()) return;
    const std::vector<std::string> added = bigquery::addedColumns(live, *united);
    if (!added.empty()) {
      console_.note(fmt::format("penstock: columns that the table {} lacks are added to it: {}",
                                table.dotted(), fmt::join(added, ", ")));
    }
    const std::vector<std::string> relaxed = bigquery::relaxedColumns(live, *united);
    if (!relaxed.empty()) {
      console_.note(fmt::format("penstock: REQUIRED columns of the table {} become NULLABLE: {}",
                                table.dotted(), fmt::join(relaxed, ", ")));
    }
  }

  /// Tables that depend on the records cannot be looked at yet; their dataset may.
  std::optional<CommandError> checkManyTables() {
    const bigquery::TableName dataset = plan_.destination.knownDataset();
    if (!dataset.dataset.empty()) {
      if (auto error = checkDataset(connection_, dataset, console_)) return error;
    }
    if (auto error = checkService(connection_, dataset)) return error;
    if (!schema_ && plan_.autodetect) {
      if (auto error = infer()) return error;
    }
    if (!schema_) return std::nullopt;
    return checkNewTables(connection_, *schema_,
                          plan_.schemaFile.empty() ? plan_.names.autodetect : schemaSetting());
  }

  std::optional<CommandError> infer() {
    auto inferred =
        inferSchema(plan_.names.autodetect, console_, *source_, plan_.onError == OnError::kDrop);
    if (!inferred.ok()) return commandError(ExitCode::kBadInput, inferred.status());
    schema_ = *std::move(inferred);
    return std::nullopt;
  }

  [[nodiscard]] std::string messageSetting() const {
    return fmt::format("{} {}", plan_.names.message, plan_.protobuf->messageName);
  }

  [[nodiscard]] std::string schemaSetting() const {
    return fmt::format("{} {}", plan_.names.schema, plan_.schemaFile);
  }

  /// What a checkpoint directory belongs to.
  [[nodiscard]] std::string jobIdentity() const {
    const std::string records =
        plan_.protobuf ? fmt::format(" of messages {}", plan_.protobuf->messageName) : "";
    // A job that changes its method has no state to go on with.
    const bool exactlyOnce =
        connection_.options.writeMethod == bigquery::WriteMethod::kStorageApiExactlyOnce;
    return fmt::format("load{} into {} of {}{}", records, plan_.destination.text(), summary_.target,
                       exactlyOnce ? ", exactly once" : "");
  }

  std::optional<CommandError> runJob() {
    runtime::LocalExecutorOptions options = plan_.executor;
    options.jobIdentity = jobIdentity();
    RecordFailures failures(plan_.onError, console_);
    LoadSinks sinks(plan_, connection_, schema_, mapping_, failures);
    const auto committer = sinks.makeCommitter();
    if (!committer.ok()) return commandError(ExitCode::kBadInput, committer.status());
    options.committer = committer->get();
    if (options.committer != nullptr && options.checkpointDirectory.empty()) {
      console_.note(
          "penstock: no checkpoint directory: the rows become visible all at once, when the input "
          "has been read to its end");
    }
    const LoadWatch watch{reporting_, [&](const JobProgress& progress, const JobMetrics& metrics) {
                            return statisticsDocument(statistics(progress, metrics, sinks));
                          }};
    const LoadJobOutcome outcome = runLoadJob(
        *source_,
        [&](const runtime::SubtaskContext& context, std::shared_ptr<base::MetricGroup> metrics) {
          return sinks.make(context, std::move(metrics));
        },
        options, failures, watch, stop_, console_);
    summary_.result = outcome.result;
    summary_.rowsDropped = failures.dropped();
    summary_.rowsWritten = outcome.status.ok() ? outcome.statistics.recordsRead - failures.dropped()
                                               : outcome.rowsSent;
    summary_.bytesRead = outcome.statistics.bytesRead;
    summary_.rowsRestored = outcome.statistics.recordsRestored;
    summary_.checkpoints = outcome.statistics.checkpointsCompleted;
    summary_.elapsed = outcome.elapsed;
    const ExitCode code = exitCodeOf(outcome, failures);
    summary_.exitCode = static_cast<int>(code);
    if (outcome.status.ok()) return std::nullopt;
    if (absl::IsCancelled(outcome.status)) summary_.result = LoadSummary::Result::kStopped;
    return commandError(code, outcome.status);
  }

  JobStatistics statistics(const JobProgress& progress, const JobMetrics& metrics,
                           LoadSinks& sinks) const {
    JobStatistics statistics;
    statistics.writers = sinks.writerStatistics();
    statistics.pool = sinks.poolStatistics();
    statistics.time = base::systemClock().wallNow();
    statistics.now = base::systemClock().now();
    statistics.running = statistics.now - began_;
    statistics.target = summary_.target;
    statistics.table = summary_.table;
    statistics.progress = progress;
    statistics.subtasks = metrics.snapshot();
    return statistics;
  }

  [[nodiscard]] static ExitCode exitCodeOf(const LoadJobOutcome& outcome,
                                           const RecordFailures& failures) {
    if (outcome.result == LoadSummary::Result::kStopped) return ExitCode::kStopped;
    if (outcome.status.ok()) return ExitCode::kSuccess;
    if (absl::IsCancelled(outcome.status)) return ExitCode::kStopped;
    if (outcome.badSetting || failures.endedLoad()) return ExitCode::kBadInput;
    switch (outcome.origin) {
      case runtime::ErrorOrigin::kCheckpoints:
        return ExitCode::kCheckpoint;
      case runtime::ErrorOrigin::kSource:
        return ExitCode::kBadInput;
      case runtime::ErrorOrigin::kSink:
      case runtime::ErrorOrigin::kCommit:
      case runtime::ErrorOrigin::kJob:
      case runtime::ErrorOrigin::kNone:
        break;
    }
    return ExitCode::kFailed;
  }

  const CommandContext& context_;
  Console& console_;
  const LoadPlan& plan_;
  const Reporting& reporting_;
  LoadStop& stop_;
  Connection& connection_;
  LoadSummary& summary_;
  std::optional<TableSchema> schema_;  // none: the sink reads and follows the table's own
  std::shared_ptr<const bigquery::ProtobufMapping> mapping_;  // of messages; null: JSON
  std::unique_ptr<runtime::FileSource> source_;
  const base::MonotonicTime began_ = base::systemClock().now();
};

}  // namespace

std::optional<CommandError> runLoad(const CommandContext& context, const LoadPlan& plan,
                                    const TargetFlags& target, const Reporting& reporting,
                                    const LoadFrame& frame) {
  return LoadRun(context, plan, reporting, frame).run(target);
}

ExitCode reportLoad(Console& console, bool json, const std::string& table,
                    const std::function<std::optional<CommandError>(const LoadFrame&)>& load) {
  LoadStop stop([&] {
    console.note("penstock: stopped before the first record");
    if (!json) return;
    console.result(summaryJson({.result = LoadSummary::Result::kStopped,
                                .table = table,
                                .exitCode = static_cast<int>(ExitCode::kStopped)}));
  });
  Connection connection;
  LoadSummary summary;
  summary.table = table;
  const std::optional<CommandError> error = load({stop, connection, summary});
  stop.finish();
  if (error) {
    if (summary.result != LoadSummary::Result::kStopped) {
      summary.result = LoadSummary::Result::kFailed;
    }
    summary.exitCode = static_cast<int>(error->code);
    summary.error = error->message;
    console.error(error->message);
    if (summary.rowsWritten > 0) console.note(summaryText(summary));
  } else if (!json) {
    console.result(summaryText(summary));
  }
  if (json) console.result(summaryJson(summary));
  return static_cast<ExitCode>(summary.exitCode);
}

}  // namespace penstock::command
