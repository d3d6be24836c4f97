#pragma once

#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/sink/buffered_stream_writer.h"
#include "penstock/bigquery/sink/testing/scripted_service.h"
#include "penstock/bigquery/sink/testing/scripted_streams.h"

namespace penstock::bigquery {

inline void PrintTo(const StreamCommittable& committable, std::ostream* out) {
  *out << committable.stream << " up to " << committable.flushOffset;
}
inline void PrintTo(const BufferedStreamState& state, std::ostream* out) {
  *out << state.stream << " next " << state.nextOffset << " prepared " << state.preparedOffset
       << " of checkpoint " << state.checkpoint;
}

/// An exactly-once writer over scripted calls, scripted streams and tables, and a clock that the
/// test moves. A request a row, unless a test says otherwise.
class BufferedWriterTest : public testing::Test {
 protected:
  using Admission = connector::Admission;
  using State = connector::Progress::State;
  using States = std::vector<connector::WriterState>;

  /// One request as the service sees it.
  struct Request {
    std::string stream;
    int64_t offset = -1;
    std::vector<std::string> rows;
    friend bool operator==(const Request&, const Request&) = default;
    friend void PrintTo(const Request& request, std::ostream* out) {
      *out << request.stream << "@" << request.offset << testing::PrintToString(request.rows);
    }
  };

  BufferedWriterTest() {
    options_.writeMethod = WriteMethod::kStorageApiExactlyOnce;
    options_.bufferedStreamOptions.emplace();
    options_.bufferedStreamOptions->maxAppendRequestBytes = 1;
    options_.bufferedStreamOptions->retryMaxAttempts = 1;
  }

  void start(const States& restored = {}) {
    writer_.reset();
    pool_ = AppendPool::create(calls_, clock_, base::seededRandom(1));
    auto writer = create(restored);
    ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
    writer_ = *std::move(writer);
    first_ = add("t1");
  }
  absl::StatusOr<std::unique_ptr<BufferedStreamWriter>> create(const States& restored) {
    BufferedStreamWriter::Dependencies dependencies;
    dependencies.pool = pool_;
    dependencies.admin = admin_;
    dependencies.streams = streams_;
    dependencies.clock = &clock_;
    dependencies.random = base::seededRandom(2);
    dependencies.metrics = metrics_;
    dependencies.subtaskIndex = 3;
    dependencies.parallelism = parallelism_;
    return BufferedStreamWriter::create(options_, std::move(dependencies), restored);
  }

  static TableName tableNamed(const std::string& table) { return {"p", "d", table}; }
  static std::string streamOf(const std::string& table, int number) {
    return tableNamed(table).resource() + "/streams/s" + std::to_string(number);
  }
  connector::DestinationId add(const std::string& table) {
    DestinationSetup setup;
    setup.table = tableNamed(table);
    setup.schema = TableSchema{{{"c", ColumnType::kString}}};
    return *writer_->registerDestination(std::move(setup));
  }

  void write(connector::DestinationId destination, std::string_view row) {
    ASSERT_EQ(writer_->admit(destination), Admission::kAccepted);
    writer_->beginRow(destination).append(row);
    writer_->commitRow(connector::RowOrigin::kUnknown);
  }
  connector::Progress poll() { return writer_->poll(); }
  /// Writes the rows, each a request of its own, and begins a flush.
  void sendEach(const std::vector<std::string>& rows) {
    const auto answerStreams = [this] {
      while (!streams_->creations.empty()) {
        streams_->answerCreation();
        poll();
      }
    };
    for (const std::string& row : rows) {
      write(first_, row);
      answerStreams();
    }
    writer_->beginFlush(false);
    answerStreams();
    writesLeave();
  }
  /// Every write of every call leaves, as far as there are more.
  void writesLeave() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t call = 0; call < calls_->calls.size(); ++call) {
        const auto record = calls_->calls[call];
        if (record->destroyed || record->cancelled ||
            writesDone_[record.get()] >= record->writes.size())
          continue;
        ++writesDone_[record.get()];
        record->events->onWriteDone(true);
        moved = true;
      }
      poll();
    }
  }
  /// All requests of one call so far.
  std::vector<Request> requestsOf(size_t call) {
    writesLeave();
    std::vector<Request> requests;
    for (const ScriptedCalls::Write& write : calls_->calls[call]->writes) {
      google::cloud::bigquery::storage::v1::AppendRowsRequest decoded;
      std::string bytes = write.header;
      for (const std::string& row : write.rows) {
        EXPECT_LT(row.size(), 0x80U);
        bytes += '\x0A';
        bytes += static_cast<char>(row.size());
        bytes += row;
      }
      EXPECT_TRUE(decoded.ParseFromString(bytes));
      Request request{decoded.write_stream(), decoded.has_offset() ? decoded.offset().value() : -1,
                      write.rows};
      if (request.stream.empty() && !requests.empty()) request.stream = requests.front().stream;
      requests.push_back(std::move(request));
    }
    return requests;
  }
  std::vector<Request> requests() { return requestsOf(calls_->calls.size() - 1); }
  ScriptedCalls::Call& call() { return calls_->last(); }

  /// The service takes the oldest unanswered request of the last call.
  void acknowledge(int64_t offset) {
    AppendResponse response;
    response.offset = offset;
    call().answer(std::move(response));
    poll();
  }
  void refuse(absl::StatusCode code, StorageErrorCode storage = StorageErrorCode::kNone) {
    call().refuse(code, storage);
    poll();
  }
  void refuseAsThere() {
    refuse(absl::StatusCode::kAlreadyExists, StorageErrorCode::kOffsetAlreadyExists);
  }
  void refuseAsBeyond() {
    refuse(absl::StatusCode::kOutOfRange, StorageErrorCode::kOffsetOutOfRange);
  }
  void refuseRows(const std::vector<int64_t>& indexes) {
    AppendResponse response;
    response.status = absl::InvalidArgumentError("refused rows");
    for (const int64_t index : indexes) {
      response.rowErrors.push_back({index, "bad value " + std::to_string(index)});
    }
    call().answer(std::move(response));
    poll();
  }
  /// Answers every question; returns what was asked about.
  std::vector<connector::FailedRecord> answerAll(const absl::Status& status = absl::OkStatus()) {
    std::vector<connector::FailedRecord> failures;
    poll();
    while (!writer_->questions().empty()) {
      const connector::Question question = writer_->questions().front();
      failures.insert(failures.end(), question.failures.begin(), question.failures.end());
      writer_->answer(question.id, {status, {}});
      poll();
    }
    return failures;
  }
  /// Until the writer's next timer.
  void passToTimer() {
    clock_.advanceTo(poll().wakeAt);
    poll();
  }
  std::string failure() { return base::describe(poll().status); }

  /// A checkpoint as hosts take it, after a flush that has everything landed.
  std::vector<StreamCommittable> prepare() {
    writer_->beginPrepareCommit();
    EXPECT_EQ(poll().state, State::kDone);
    std::vector<StreamCommittable> result;
    for (const connector::Committable& bytes : writer_->takeCommittables()) {
      result.push_back(*decodeCommittable(bytes));
    }
    return result;
  }
  std::vector<BufferedStreamState> snapshot(connector::CheckpointId checkpoint) {
    states_ = writer_->snapshotState(checkpoint);
    std::vector<BufferedStreamState> result;
    for (const connector::WriterState& bytes : states_) result.push_back(*decodeState(bytes));
    return result;
  }
  void flush() {
    writer_->beginFlush(false);
    answerAll();
    ASSERT_EQ(poll().state, State::kDone);
  }

  uint64_t counter(const std::string& name) { return metrics_->counter(name).value(); }
  int64_t gauge(const std::string& name) { return metrics_->gauge(name).value(); }

  base::ManualClock clock_;
  SinkOptions options_;
  int parallelism_ = 1;
  std::shared_ptr<ScriptedCalls> calls_ = std::make_shared<ScriptedCalls>();
  std::shared_ptr<ScriptedAdmin> admin_ = std::make_shared<ScriptedAdmin>();
  std::shared_ptr<ScriptedStreams> streams_ = std::make_shared<ScriptedStreams>();
  std::shared_ptr<base::MetricGroup> metrics_ = std::make_shared<base::MetricGroup>();
  std::shared_ptr<AppendPool> pool_;
  std::unique_ptr<BufferedStreamWriter> writer_;
  connector::DestinationId first_{};
  States states_;  // of the last snapshot
  std::map<const ScriptedCalls::Call*, size_t> writesDone_;
};

}  // namespace penstock::bigquery
