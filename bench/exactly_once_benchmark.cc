// What exactly once costs beside at least once, and a commit beside the calls it is made of.

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/emulator_table.h"
#include "bench/measurement.h"
#include "bench/server_process.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/pre_serialized_rows.h"
#include "penstock/bigquery/sink/exactly_once_state.h"

namespace penstock::bench {
namespace {

using bigquery::WriteMethod;
using Sink = bigquery::BigQuerySink<std::string_view>;
using Writer = connector::SinkWriter<std::string_view>;

constexpr base::Duration kCheckpointInterval = std::chrono::seconds(1);
constexpr size_t kRows = 2'500;  // distinct ones
constexpr size_t kTables = 1'000;
constexpr size_t kCommitsInFlight = 32;

bigquery::TableSchema eventColumns() {
  using bigquery::ColumnType;
  bigquery::TableSchema schema;
  schema.columns = {
      {.name = "id", .type = ColumnType::kInt64, .mode = bigquery::ColumnMode::kRequired},
      {.name = "at", .type = ColumnType::kTimestamp},
      {.name = "value", .type = ColumnType::kDouble},
      {.name = "name", .type = ColumnType::kString},
      {.name = "remark", .type = ColumnType::kString}};
  return schema;
}

Sink::Builder builderFor(const std::string& emulator, WriteMethod method) {
  bigquery::SinkOptions options;
  options.writeMethod = method;
  options.createDisposition = bigquery::CreateDisposition::kCreateNever;
  if (method == WriteMethod::kStorageApiExactlyOnce) options.bufferedStreamOptions.emplace();
  Sink::Builder builder = Sink::builder();
  builder.serializer([] { return std::make_unique<bigquery::PreSerializedRows>(eventColumns()); })
      .options(std::move(options))
      .emulatorEndpoint(emulator)
      .emulatorRestEndpoint(emulator);  // nothing is created: it is never asked
  return builder;
}

/// Rows into one table of an emulator that begins empty each time, with a checkpoint a second.
class CheckpointedSink final : public Benchmark {
 public:
  explicit CheckpointedSink(WriteMethod method) : method_(method) {
    for (size_t row = 0; row < kRows; ++row) rows_.push_back(emulatorRow(row));
    records_.assign(rows_.begin(), rows_.end());
  }

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> emulator,
                              ServerProcess::start("penstock_bench_emulator"));
    PENSTOCK_ASSIGN_OR_RETURN(
        const std::unique_ptr<Sink> sink,
        builderFor(emulator->address(), method_).table("bench.bench.bench").build());
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer, sink->createWriter({}));
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<connector::Committer> committer,
                              sink->createCommitter());
    PENSTOCK_RETURN_IF_ERROR(writer->writeBatch(records_, {}));
    PENSTOCK_RETURN_IF_ERROR(checkpoint(*writer, committer.get()));
    const Meter meter;
    double rows = 0;
    // Several checkpoints, or the last one, which comes early, would weigh too much.
    constexpr base::Duration kLeast = 3 * kCheckpointInterval;
    const base::MonotonicTime end = base::systemClock().now() + std::max(duration, kLeast);
    base::MonotonicTime next = base::systemClock().now() + kCheckpointInterval;
    while (base::systemClock().now() < end) {
      PENSTOCK_RETURN_IF_ERROR(writer->writeBatch(records_, {}));
      rows += static_cast<double>(records_.size());
      if (base::systemClock().now() < next) continue;
      PENSTOCK_RETURN_IF_ERROR(checkpoint(*writer, committer.get()));
      next = base::systemClock().now() + kCheckpointInterval;
    }
    PENSTOCK_RETURN_IF_ERROR(checkpoint(*writer, committer.get()));
    const Measurement measured = meter.finish(rows, rows * kEmulatorRowBytes);
    PENSTOCK_RETURN_IF_ERROR(writer->close());
    return measured;
  }

 private:
  /// As the local executor takes it, but for the file.
  absl::Status checkpoint(Writer& writer, connector::Committer* committer) {
    PENSTOCK_RETURN_IF_ERROR(writer.flush(/*endOfInput=*/false));
    PENSTOCK_ASSIGN_OR_RETURN(const std::vector<connector::Committable> committables,
                              writer.prepareCommit());
    PENSTOCK_ASSIGN_OR_RETURN(const std::vector<connector::WriterState> states,
                              writer.snapshotState(++checkpoint_));
    if (committer == nullptr) return absl::OkStatus();
    if (states.empty()) return absl::InternalError("a checkpoint without a state");
    return committer->commit(committables);
  }

  const WriteMethod method_;
  connector::CheckpointId checkpoint_ = 0;
  std::vector<std::string> rows_;
  std::vector<std::string_view> records_;
};

/// Each record to the table of its place.
class TableAfterTable final
    : public connector::DestinationResolver<std::string_view, bigquery::TableName> {
 public:
  TableAfterTable() {
    for (size_t table = 0; table < kTables; ++table) {
      tables_.push_back(*bigquery::TableName::parse(fmt::format("bench.bench.t{}", table)));
    }
  }
  absl::StatusOr<connector::Resolution<bigquery::TableName>> resolve(
      const std::string_view&, const connector::WriteContext&) override {
    return &tables_[next_++ % tables_.size()];
  }

 private:
  std::vector<bigquery::TableName> tables_;
  size_t next_ = 0;
};

/// Commits of 1,000 streams with a new row each; only the commits are timed.
class Commits : public Benchmark {
 public:
  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_RETURN_IF_ERROR(connect());
    Measurement total;
    // The first one opens everything.
    PENSTOCK_ASSIGN_OR_RETURN(std::vector<connector::Committable> committables, prepare());
    PENSTOCK_RETURN_IF_ERROR(commit(committables));
    const auto enough = std::chrono::duration<double>(duration).count();
    do {
      PENSTOCK_ASSIGN_OR_RETURN(committables, prepare());
      const Meter meter;
      PENSTOCK_RETURN_IF_ERROR(commit(committables));
      const Measurement one = meter.finish(static_cast<double>(committables.size()), 0);
      total.rows += one.rows;
      total.wallSeconds += one.wallSeconds;
      total.cpuSeconds += one.cpuSeconds;
      total.allocations.own += one.allocations.own;
      total.allocations.library += one.allocations.library;
    } while (total.wallSeconds < enough);
    PENSTOCK_RETURN_IF_ERROR(writer_->close());
    disconnect();
    return total;
  }

 protected:
  virtual absl::Status commit(const std::vector<connector::Committable>& committables) = 0;

  std::unique_ptr<connector::Committer> committer_;
  bigquery::SinkConnections connections_;

 private:
  absl::Status connect() {
    PENSTOCK_ASSIGN_OR_RETURN(
        emulator_, ServerProcess::start("penstock_bench_emulator", std::to_string(kTables)));
    bigquery::SinkOptions options;
    options.emulatorEndpoint = *base::parseEndpoint("emulator", emulator_->address());
    options.emulatorRestEndpoint = options.emulatorEndpoint;
    PENSTOCK_ASSIGN_OR_RETURN(connections_, bigquery::connectSink(options));
    PENSTOCK_ASSIGN_OR_RETURN(
        sink_, builderFor(emulator_->address(), WriteMethod::kStorageApiExactlyOnce)
                   .destinationResolver([] { return std::make_unique<TableAfterTable>(); })
                   .connections(connections_)
                   .build());
    PENSTOCK_ASSIGN_OR_RETURN(writer_, sink_->createWriter({}));
    PENSTOCK_ASSIGN_OR_RETURN(committer_, sink_->createCommitter());
    return absl::OkStatus();
  }
  void disconnect() {
    writer_.reset();
    committer_.reset();
    sink_.reset();
    connections_ = {};
    emulator_.reset();
  }

  absl::StatusOr<std::vector<connector::Committable>> prepare() {
    for (size_t table = 0; table < kTables; ++table) {
      PENSTOCK_RETURN_IF_ERROR(writer_->write(row_, {}));
    }
    PENSTOCK_RETURN_IF_ERROR(writer_->flush(/*endOfInput=*/false));
    PENSTOCK_ASSIGN_OR_RETURN(std::vector<connector::Committable> committables,
                              writer_->prepareCommit());
    PENSTOCK_RETURN_IF_ERROR(writer_->snapshotState(++checkpoint_).status());
    if (committables.size() != kTables) return absl::InternalError("not one for each table");
    return committables;
  }

  std::unique_ptr<ServerProcess> emulator_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<Writer> writer_;
  connector::CheckpointId checkpoint_ = 0;
  const std::string row_ = emulatorRow(1);
};

class CommitterCommits final : public Commits {
  absl::Status commit(const std::vector<connector::Committable>& committables) override {
    return committer_->commit(committables);
  }
};

/// The calls alone, 32 in flight.
class BareFlushes final : public Commits {
  absl::Status commit(const std::vector<connector::Committable>& committables) override {
    std::vector<bigquery::StreamCommittable> flushes;
    for (const connector::Committable& committable : committables) {
      PENSTOCK_ASSIGN_OR_RETURN(flushes.emplace_back(), bigquery::decodeCommittable(committable));
    }
    std::mutex mutex;
    std::condition_variable changed;
    size_t inFlight = 0;
    absl::Status first;
    std::unique_lock<std::mutex> lock(mutex);
    for (const bigquery::StreamCommittable& flush : flushes) {
      changed.wait(lock, [&] { return inFlight < kCommitsInFlight; });
      ++inFlight;
      lock.unlock();
      connections_.streams->flushRows(flush.stream, flush.flushOffset, std::chrono::minutes(1),
                                      [&](const bigquery::StreamError& error, int64_t) {
                                        const std::lock_guard<std::mutex> guard(mutex);
                                        --inFlight;
                                        if (first.ok()) first = error.status;
                                        changed.notify_one();
                                      });
      lock.lock();
    }
    changed.wait(lock, [&] { return inFlight == 0; });
    return first;
  }
};

}  // namespace

std::unique_ptr<Benchmark> checkpointedSinkBenchmark(bool exactlyOnce) {
  return std::make_unique<CheckpointedSink>(exactlyOnce ? WriteMethod::kStorageApiExactlyOnce
                                                        : WriteMethod::kStorageApiAtLeastOnce);
}
std::unique_ptr<Benchmark> commitBenchmark() { return std::make_unique<CommitterCommits>(); }
std::unique_ptr<Benchmark> bareFlushBenchmark() { return std::make_unique<BareFlushes>(); }

}  // namespace penstock::bench
