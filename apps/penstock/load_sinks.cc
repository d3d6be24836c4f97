#include "apps/penstock/load_sinks.h"

#include "apps/penstock/load_sink.h"
#include "apps/penstock/protobuf_load_sink.h"
#include "penstock/bigquery/sink/sink_committer.h"

namespace penstock::command {
LoadSinks::LoadSinks(const LoadPlan& plan, const Connection& connection,
                     std::optional<bigquery::TableSchema> schema,
                     std::shared_ptr<const bigquery::ProtobufMapping> mapping,
                     RecordFailures& failures)
    : plan_(plan),
      options_(connection.options),
      schema_(std::move(schema)),
      mapping_(std::move(mapping)),
      failures_(failures),
      connections_{.pool = bigquery::AppendPool::create(connection.service->appendCalls(),
                                                        base::systemClock(), base::systemRandom(),
                                                        bigquery::ProcessBounds::ofProcess()),
                   .admin = connection.service->tableAdmin(),
                   .streams = connection.service->streamAdmin(),
                   .clock = &base::systemClock(),
                   .emulator = connection.service->isEmulator()} {}

absl::StatusOr<std::unique_ptr<connector::Committer>> LoadSinks::makeCommitter() {
  return bigquery::createSinkCommitter(options_, connections_);
}

std::vector<bigquery::WriterStatistics> LoadSinks::writerStatistics() const {
  constexpr base::Duration kMoment = std::chrono::milliseconds(100);
  std::vector<std::shared_ptr<bigquery::StatisticsBoard>> boards;
  {
    base::MutexLock lock(mutex_);
    boards = boards_;
  }
  std::vector<uint64_t> tickets;
  for (const auto& board : boards) tickets.push_back(board == nullptr ? 0 : board->request());
  const base::MonotonicTime until = base::systemClock().now() + kMoment;
  std::vector<bigquery::WriterStatistics> statistics(boards.size());
  for (size_t index = 0; index < boards.size(); ++index) {
    if (boards[index] != nullptr) statistics[index] = boards[index]->latest(tickets[index], until);
  }
  return statistics;
}

absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>> LoadSinks::make(
    const runtime::SubtaskContext& context, std::shared_ptr<base::MetricGroup> metrics) {
  const auto places = std::make_shared<RowPlaces>();
  PENSTOCK_ASSIGN_OR_RETURN(
      std::unique_ptr<bigquery::BlockingWriter> writer,
      bigquery::BlockingWriter::create(options_, connections_,
                                       {.subtaskIndex = context.subtaskIndex,
                                        .parallelism = context.parallelism,
                                        .metrics = std::move(metrics)},
                                       failures_.makeHandler(places), context.restoredStates));
  {
    base::MutexLock lock(mutex_);
    const auto index = static_cast<size_t>(context.subtaskIndex);
    if (boards_.size() <= index) boards_.resize(index + 1);
    boards_[index] = writer->core().statisticsBoard();
  }
  if (mapping_ != nullptr) return createForMessages(std::move(writer), places);
  PENSTOCK_ASSIGN_OR_RETURN(
      std::unique_ptr<RecordRoutes> routes,
      RecordRoutes::create(*writer, plan_.destination, schema_,
                           {.ignoreUnknownFields = plan_.ignoreUnknownFields}));
  std::unique_ptr<runtime::SubtaskSink> sink =
      std::make_unique<LoadSink>(std::move(writer), std::move(routes), places);
  return sink;
}

absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>> LoadSinks::createForMessages(
    std::unique_ptr<bigquery::BlockingWriter> writer, std::shared_ptr<RowPlaces> places) {
  const bigquery::ProtobufMessageOptions options = plan_.protobuf->options.messageOptions();
  bigquery::DestinationSetup setup;
  setup.table = plan_.destination.table();
  setup.schema = schema_;
  setup.followTable = !schema_.has_value();
  PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId destination,
                            writer->open(std::move(setup)));
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<bigquery::ProtobufMessageSerializer> serializer,
                            bigquery::ProtobufMessageSerializer::create(
                                *mapping_, *writer->core().schemaOf(destination), options));
  bigquery::BlockingWriter& opened = *writer;
  auto sink = std::make_unique<ProtobufLoadSink>(std::move(writer), destination,
                                                 std::move(serializer), std::move(places));
  opened.decideWith({.newSchema = [sink = sink.get(), mapping = mapping_, options](
                                      connector::DestinationId,
                                      const bigquery::TableSchema& columns) -> absl::Status {
    PENSTOCK_ASSIGN_OR_RETURN(
        auto other, bigquery::ProtobufMessageSerializer::create(*mapping, columns, options));
    sink->use(std::move(other));
    return absl::OkStatus();
  }});
  return std::unique_ptr<runtime::SubtaskSink>(std::move(sink));
}

}  // namespace penstock::command
