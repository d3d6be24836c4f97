// A load with exactly-once writers that can be killed at every step (crash_points.h): lines of JSON
// from files into the tables PREFIX0, PREFIX1, ... of the dataset p.d, by their ids.
//
// usage: crash_load GRPC REST CHECKPOINT_DIRECTORY PARALLELISM PREFIX TABLES FILE...
// Ends with 0 when all input is read and committed; prints how many records earlier runs read.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "crashing_transport.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/bigquery/transport/service.h"
#include "penstock/runtime/file_source.h"
#include "penstock/runtime/local_executor.h"

namespace penstock::crash {
namespace {

using std::chrono::milliseconds;
using Sink = bigquery::BigQuerySink<std::string_view>;
using Writer = connector::SinkWriter<std::string_view>;

struct Arguments {
  std::string grpc;
  std::string rest;
  std::string directory;
  int parallelism = 1;
  std::string prefix;
  uint64_t tables = 1;
  std::vector<std::string> files;
};

/// {"id":N,...} goes to table N modulo their number.
class TableOfId final
    : public connector::DestinationResolver<std::string_view, bigquery::TableName> {
 public:
  TableOfId(const std::string& prefix, uint64_t tables) {
    for (uint64_t at = 0; at < tables; ++at) {
      tables_.push_back(*bigquery::TableName::parse(fmt::format("p.d.{}{}", prefix, at)));
    }
  }
  absl::StatusOr<connector::Resolution<bigquery::TableName>> resolve(
      const std::string_view& record, const connector::WriteContext&) override {
    const uint64_t id = std::strtoull(record.data() + record.find(':') + 1, nullptr, 10);
    return &tables_[id % tables_.size()];
  }

 private:
  std::vector<bigquery::TableName> tables_;
};

/// One subtask: the sink's writer, passing the steps of a checkpoint.
class CrashingSink final : public runtime::SubtaskSink {
 public:
  explicit CrashingSink(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}

  absl::Status write(const runtime::RecordBatch& batch) override {
    for (const std::string_view record : batch.records) {
      PENSTOCK_RETURN_IF_ERROR(writer_->write(record, {}));
    }
    return absl::OkStatus();
  }
  absl::Status flush(bool endOfInput) override {
    return between("flush", [&] { return writer_->flush(endOfInput); });
  }
  absl::StatusOr<std::vector<connector::Committable>> prepareCommit() override {
    return between("prepare", [&] { return writer_->prepareCommit(); });
  }
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId checkpoint) override {
    return between("snapshot", [&] { return writer_->snapshotState(checkpoint); });
  }
  absl::Status close() override { return writer_->close(); }
  void cancel() override { writer_->cancel(); }

 private:
  template <typename Call>
  static auto between(const std::string& step, Call call) -> decltype(call()) {
    pass("before " + step);
    auto result = call();
    pass("after " + step);
    return result;
  }

  std::unique_ptr<Writer> writer_;
};

class CrashingCommitter final : public connector::Committer {
 public:
  explicit CrashingCommitter(std::unique_ptr<connector::Committer> inner)
      : inner_(std::move(inner)) {}
  absl::Status commit(std::span<const connector::Committable> committables) override {
    pass("before commit");
    absl::Status status = inner_->commit(committables);
    pass("after commit");
    return status;
  }
  absl::Status close() override { return inner_->close(); }
  void cancel() override { inner_->cancel(); }

 private:
  std::unique_ptr<connector::Committer> inner_;
};

bigquery::SinkOptions optionsFor(const Arguments& arguments) {
  bigquery::SinkOptions options;
  options.writeMethod = bigquery::WriteMethod::kStorageApiExactlyOnce;
  options.emulatorEndpoint = *base::parseEndpoint("GRPC", arguments.grpc);
  options.emulatorRestEndpoint = *base::parseEndpoint("REST", arguments.rest);
  // Small requests, so that there are many steps to be killed at.
  bigquery::BufferedStreamOptions& streams = options.bufferedStreamOptions.emplace();
  streams.maxAppendRequestBytes = 1024;
  streams.recoveryInitialBackoff = milliseconds(5);
  streams.retryInitialDelay = milliseconds(5);
  return options;
}

absl::StatusOr<bigquery::SinkConnections> connect(const bigquery::SinkOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<bigquery::Service> service,
                            bigquery::Service::connect(bigquery::ServiceOptions::of(options)));
  bigquery::SinkConnections connections;
  connections.clock = &base::systemClock();
  connections.emulator = true;
  connections.admin = service->tableAdmin();
  connections.streams = std::make_shared<CrashingStreams>(service->streamAdmin());
  connections.pool =
      bigquery::AppendPool::create(std::make_shared<CrashingCalls>(service->appendCalls()),
                                   base::systemClock(), base::systemRandom());
  return connections;
}

absl::StatusOr<std::unique_ptr<Sink>> makeSink(const Arguments& arguments) {
  PENSTOCK_ASSIGN_OR_RETURN(
      const bigquery::TableSchema schema,
      bigquery::parseSchemaJson(
          R"([{"name":"id","type":"INTEGER"},{"name":"name","type":"STRING"}])"));
  const bigquery::SinkOptions options = optionsFor(arguments);
  PENSTOCK_ASSIGN_OR_RETURN(bigquery::SinkConnections connections, connect(options));
  auto builder = Sink::builder();
  return builder
      .destinationResolver(
          [arguments] { return std::make_unique<TableOfId>(arguments.prefix, arguments.tables); })
      .serializer(
          [schema] { return std::make_unique<bigquery::JsonDocumentSerializationSchema>(schema); })
      .options(options)
      .connections(std::move(connections))
      .build();
}

absl::StatusOr<uint64_t> load(const Arguments& arguments) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, makeSink(arguments));
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<connector::Committer> inner, sink->createCommitter());
  CrashingCommitter committer(std::move(inner));
  runtime::FileSourceOptions sourceOptions;
  sourceOptions.bufferBytes = 2048;
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::FileSource> source,
                            runtime::FileSource::open(arguments.files, sourceOptions));
  runtime::LocalExecutorOptions options;
  options.parallelism = arguments.parallelism;
  options.checkpointDirectory = arguments.directory;
  options.checkpointInterval = milliseconds(1);
  options.jobIdentity = "crash test";
  options.committer = &committer;
  runtime::LocalExecutor executor(
      *source,
      [&](const runtime::SubtaskContext& context)
          -> absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>> {
        const connector::WriterInit init{context.subtaskIndex, context.parallelism, nullptr};
        PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer,
                                  sink->restoreWriter(init, context.restoredStates));
        return std::make_unique<CrashingSink>(std::move(writer));
      },
      options);
  PENSTOCK_ASSIGN_OR_RETURN(const runtime::ExecutionResult result, executor.run());
  PENSTOCK_RETURN_IF_ERROR(committer.close());
  return result.statistics.recordsRestored;
}

}  // namespace
}  // namespace penstock::crash

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  penstock::crash::Arguments arguments;
  arguments.grpc = argv[1];
  arguments.rest = argv[2];
  arguments.directory = argv[3];
  arguments.parallelism = std::atoi(argv[4]);
  arguments.prefix = argv[5];
  arguments.tables = std::strtoull(argv[6], nullptr, 10);
  arguments.files.assign(argv + 7, argv + argc);
  const auto restored = penstock::crash::load(arguments);
  if (!restored.ok()) {
    std::fprintf(stderr, "%s\n", penstock::base::describe(restored.status()).c_str());
    return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(*restored));
  return 0;
}
