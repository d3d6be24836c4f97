#include "penstock/bigquery/sink/blocking_writer.h"

#include <utility>

#include "penstock/bigquery/sink/create_writer.h"
#include "penstock/bigquery/sink/table_create_options.h"

namespace penstock::bigquery {

absl::StatusOr<std::unique_ptr<BlockingWriter>> BlockingWriter::create(
    const SinkOptions& options, const SinkConnections& connections,
    const connector::WriterInit& init, std::unique_ptr<connector::FailureHandler> handler,
    std::span<const connector::WriterState> restored) {
  auto metrics = init.metrics ? init.metrics : std::make_shared<base::MetricGroup>();
  PENSTOCK_RETURN_IF_ERROR(base::withContext(handler->open({init.subtaskIndex, metrics.get()}),
                                             "cannot open the failure handler"));
  absl::StatusOr<std::unique_ptr<StorageWriter>> core = createStorageWriter(
      options, connections, {init.subtaskIndex, init.parallelism, metrics}, restored);
  if (!core.ok()) {
    (void)handler->close();  // secondary: the original error stays on top (BASE-020)
    return core.status();
  }
  return std::unique_ptr<BlockingWriter>(
      new BlockingWriter(*std::move(core), std::move(handler), std::move(metrics)));
}

absl::StatusOr<connector::DestinationId> BlockingWriter::open(DestinationSetup setup) {
  PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId id,
                            core_->registerDestination(std::move(setup)));
  PENSTOCK_RETURN_IF_ERROR(driver_.admit(id));
  return id;
}

absl::Status BlockingWriter::writeRows(connector::DestinationId destination,
                                       std::span<const std::string_view> rows,
                                       connector::RowOrigin first) {
  for (size_t taken = 0;;) {
    taken += core_->takeRows(destination, rows.subspan(taken), connector::advanced(first, taken));
    if (taken == rows.size()) return absl::OkStatus();
    PENSTOCK_RETURN_IF_ERROR(driver_.admit(destination));
  }
}

void BlockingWriter::decideWith(Decisions decisions) {
  decisions_ = std::move(decisions);
  driver_.decideWith([this](const connector::Question& question) { return decide(question); });
}

connector::Answer BlockingWriter::decide(const connector::Question& question) {
  connector::Answer answer;
  if (question.kind == connector::Question::Kind::kCreateOptions) {
    if (!decisions_.createOptions) return answer;
    const absl::StatusOr<TableCreateOptions> options =
        decisions_.createOptions(core_->tableOf(question.destination));
    answer.status = options.status();
    if (options.ok()) answer.document = tableCreateOptionsToJson(*options);
  } else if (decisions_.newSchema) {
    answer.status =
        decisions_.newSchema(question.destination, *core_->schemaOf(question.destination));
  }
  return answer;
}

absl::Status BlockingWriter::changeSchema(connector::DestinationId destination,
                                          std::optional<TableSchema> schema,
                                          std::string descriptor) {
  core_->changeSchema(destination, std::move(schema), std::move(descriptor));
  return driver_.admit(destination);
}

absl::Status BlockingWriter::failRow(connector::DestinationId destination,
                                     connector::FailedRecord failure) {
  core_->failRow(destination, std::move(failure));
  driver_.answerQuestions();
  const connector::Progress progress = core_->poll();
  return progress.state == connector::Progress::State::kFailed ? progress.status : absl::OkStatus();
}

absl::Status BlockingWriter::failRecord(connector::DestinationId destination,
                                        const absl::Status& why, std::string_view origin) {
  connector::FailedRecord failure = core_->failureFor(destination);
  failure.errorMessage = fmt::format("serialization failed: {}", base::messageOf(why));
  failure.cause = why;
  failure.origin = std::string(origin);
  return failRow(destination, std::move(failure));
}

absl::Status BlockingWriter::failUnroutable(const connector::Unroutable& verdict,
                                            std::string_view origin) {
  connector::FailedRecord failure;
  failure.connector = "bigquery";
  failure.destination = "unresolved";
  failure.payload = verdict.payload;
  failure.errorMessage = verdict.reason;
  failure.origin = std::string(origin);
  return failRow(connector::kNoDestination, std::move(failure));
}

absl::StatusOr<base::MonotonicTime> BlockingWriter::poll() {
  const connector::Progress progress = core_->poll();
  driver_.answerQuestions();
  if (progress.state == connector::Progress::State::kFailed) return progress.status;
  return progress.wakeAt;
}

absl::StatusOr<std::vector<connector::Committable>> BlockingWriter::prepareCommit() {
  PENSTOCK_RETURN_IF_ERROR(driver_.prepareCommit());
  return core_->takeCommittables();
}

absl::StatusOr<std::vector<connector::WriterState>> BlockingWriter::snapshotState(
    connector::CheckpointId checkpoint) {
  PENSTOCK_RETURN_IF_ERROR(check());
  return core_->snapshotState(checkpoint);
}

absl::Status BlockingWriter::close() {
  if (closed_) return absl::OkStatus();
  closed_ = true;
  return driver_.close();
}

}  // namespace penstock::bigquery
