#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/emulator/testing/local_emulator.h"
#include "penstock/gcp/http_client.h"

namespace penstock {
namespace {

using bigquery::BigQuerySink;
using bigquery::ColumnType;
using bigquery::JsonDocumentSerializationSchema;
using bigquery::TableName;
using bigquery::TableSchema;
using connector::Committable;
using connector::WriterState;
using emulator::FaultAction;
using emulator::FaultRule;

TableSchema numbers() {
  TableSchema schema;
  schema.columns = {{"name", ColumnType::kString}, {"n", ColumnType::kInt64}};
  schema.columns[0].maxLength = 10;
  return schema;
}

/// Sends each row to the table that its `n` says.
class ByNumber final
    : public connector::DestinationResolver<std::string_view, bigquery::TableName> {
 public:
  explicit ByNumber(int tables) {
    for (int table = 0; table < tables; ++table) {
      tables_.push_back({"p", "d", fmt::format("t{}", table)});
    }
  }
  absl::StatusOr<connector::Resolution<TableName>> resolve(
      const std::string_view& record, const connector::WriteContext&) override {
    const size_t digits = record.find_first_of("0123456789");
    const size_t n = std::stoul(std::string(record.substr(digits)));
    return connector::Resolution<TableName>(&tables_[n % tables_.size()]);
  }

 private:
  std::vector<TableName> tables_;
};

/// The exactly-once sink over real gRPC and the emulator: what a host does, by hand.
class ExactlyOnceEndToEnd : public testing::Test {
 protected:
  using Sink = BigQuerySink<std::string_view>;
  using Writer = connector::SinkWriter<std::string_view>;

  Sink::Builder builder() {
    bigquery::BufferedStreamOptions stream;
    stream.maxAppendRequestBytes = 2000;
    stream.recoveryInitialBackoff = std::chrono::milliseconds(10);
    stream.recoveryMaxBackoff = std::chrono::milliseconds(50);
    stream.recoveryMaxAttempts = 50;
    stream.retryInitialDelay = std::chrono::milliseconds(1);
    return Sink::builder()
        .writeMethod(bigquery::WriteMethod::kStorageApiExactlyOnce)
        .bufferedStreamOptions(stream)
        .emulatorEndpoint(emulator_->grpcEndpoint())
        .emulatorRestEndpoint(emulator_->restEndpoint())
        .table("p.d.t0")
        .failureHandler([] { return connector::logAndDrop(); })
        .serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(numbers()); });
  }
  void start(Sink::Builder from) {
    auto sink = from.build();
    ASSERT_TRUE(sink.ok()) << base::describe(sink.status());
    sink_ = *std::move(sink);
    newWriter({});
    newCommitter();
  }
  void newWriter(const std::vector<WriterState>& states) {
    auto writer = sink_->restoreWriter({}, states);
    ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
    writer_ = *std::move(writer);
  }
  void newCommitter() {
    auto committer = sink_->createCommitter();
    ASSERT_TRUE(committer.ok()) << base::describe(committer.status());
    ASSERT_NE(*committer, nullptr);
    committer_ = *std::move(committer);
  }

  void write(int from, int to) {
    for (int n = from; n < to; ++n) {
      const absl::Status status =
          writer_->write(fmt::format(R"({{"n":{},"name":"r{}"}})", n, n), {});
      ASSERT_TRUE(status.ok()) << base::describe(status);
    }
  }
  /// All but the commit of a checkpoint.
  void checkpoint() {
    const absl::Status flushed = writer_->flush(false);
    ASSERT_TRUE(flushed.ok()) << base::describe(flushed);
    auto committables = writer_->prepareCommit();
    ASSERT_TRUE(committables.ok()) << base::describe(committables.status());
    committables_ = *std::move(committables);
    auto states = writer_->snapshotState(++number_);
    ASSERT_TRUE(states.ok()) << base::describe(states.status());
    states_ = *std::move(states);
  }
  void commit() {
    const absl::Status status = committer_->commit(committables_);
    ASSERT_TRUE(status.ok()) << base::describe(status);
  }

  /// How often each row is in the table, by its name.
  std::map<std::string, int> rowsOf(const std::string& table) {
    gcp::HttpClient client({});
    gcp::HttpRequest request;
    request.method = "GET";
    request.url =
        fmt::format("http://{}/bigquery/v2/projects/p/datasets/d/tables/{}/data?maxResults=100000",
                    emulator_->restEndpoint(), table);
    request.withoutProxy = true;
    const auto response = client.sendAndWait(std::move(request));
    EXPECT_TRUE(response.ok()) << base::describe(response.status());
    std::map<std::string, int> rows;
    if (!response.ok()) return rows;
    EXPECT_EQ(response->code, 200) << response->body;
    const std::string mark = "\"v\":\"r";
    for (size_t at = response->body.find(mark); at != std::string::npos;
         at = response->body.find(mark, at + 1)) {
      const size_t begin = at + mark.size() - 1;
      ++rows[response->body.substr(begin, response->body.find('"', begin) - begin)];
    }
    return rows;
  }
  /// Each of the rows `from` to `to` exactly once, and no other.
  static void expectExactly(const std::map<std::string, int>& rows, int from, int to) {
    EXPECT_EQ(rows.size(), static_cast<size_t>(to - from));
    for (int n = from; n < to; ++n) {
      const auto row = rows.find(fmt::format("r{}", n));
      ASSERT_NE(row, rows.end()) << "r" << n << " is missing";
      EXPECT_EQ(row->second, 1) << "r" << n;
    }
  }

  const std::unique_ptr<emulator::Emulator> emulator_ = emulator::startLocalEmulator();
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<connector::Committer> committer_;
  std::vector<Committable> committables_;
  std::vector<WriterState> states_;
  connector::CheckpointId number_ = 0;
};

// BQW-101, BQW-108, BQW-109, BQW-120, BQW-151
TEST_F(ExactlyOnceEndToEnd, RowsAreThereOnceTheCheckpointIsCommitted) {
  start(builder());
  write(0, 1000);
  checkpoint();
  ASSERT_EQ(committables_.size(), 1U);
  expectExactly(rowsOf("t0"), 0, 0);
  commit();
  expectExactly(rowsOf("t0"), 0, 1000);
  write(1000, 1500);
  checkpoint();
  commit();
  expectExactly(rowsOf("t0"), 0, 1500);
  EXPECT_TRUE(writer_->close().ok());
  EXPECT_TRUE(committer_->close().ok());
}

// BQW-121, scenarios 34 to 36: a commit is repeated after a restart.
TEST_F(ExactlyOnceEndToEnd, CommittingAgainChangesNothing) {
  start(builder());
  write(0, 100);
  checkpoint();
  commit();
  newCommitter();
  commit();
  expectExactly(rowsOf("t0"), 0, 100);
}

// Scenario 32: rows behind the checkpoint were appended, then the writer was lost.
TEST_F(ExactlyOnceEndToEnd, ReplayedRowsOfALostWriterAreNotThereTwice) {
  start(builder());
  write(0, 100);
  checkpoint();
  commit();
  write(100, 300);
  ASSERT_TRUE(writer_->flush(false).ok());  // in the stream, and in no checkpoint
  newWriter(states_);
  write(100, 400);
  checkpoint();
  commit();
  expectExactly(rowsOf("t0"), 0, 400);
}

// Scenarios 34 and 42: the stream goes on after a restart that lost nothing, committed afterwards.
TEST_F(ExactlyOnceEndToEnd, AStreamGoesOnAfterARestart) {
  start(builder());
  write(0, 100);
  checkpoint();
  const std::vector<WriterState> states = states_;
  newWriter(states);
  newCommitter();
  commit();
  write(100, 200);
  checkpoint();
  commit();
  expectExactly(rowsOf("t0"), 0, 200);
}

// Scenario 41: two writers of one table become one.
TEST_F(ExactlyOnceEndToEnd, StatesOfSeveralWritersMayGoToOne) {
  start(builder());
  write(0, 100);
  checkpoint();
  const std::vector<WriterState> first = states_;
  commit();
  newWriter({});
  --number_;
  write(100, 200);
  checkpoint();
  commit();
  std::vector<WriterState> both = states_;
  both.insert(both.end(), first.begin(), first.end());
  newWriter(both);
  write(200, 300);
  checkpoint();
  commit();
  expectExactly(rowsOf("t0"), 0, 300);
}

// BQW-106, scenario 44
TEST_F(ExactlyOnceEndToEnd, RefusedRowsLeaveNoGapAndNoDuplicate) {
  start(builder());
  for (int n = 0; n < 2000; ++n) {
    const std::string name = n % 97 == 3 ? "x is longer than ten" : fmt::format("r{}", n);
    ASSERT_TRUE(writer_->write(fmt::format(R"({{"n":{},"name":"{}"}})", n, name), {}).ok());
  }
  checkpoint();
  commit();
  const auto rows = rowsOf("t0");
  EXPECT_EQ(rows.size(), 2000U - 21U);
  for (const auto& [name, times] : rows) EXPECT_EQ(times, 1) << name;
}

// BQW-054, BQW-055, BQW-102, BQW-104, BQW-122: with errors, lost answers and cut connections.
TEST_F(ExactlyOnceEndToEnd, FaultsOnEveryCallLoseAndDoubleNothing) {
  for (const FaultAction action :
       {FaultAction::kFail, FaultAction::kCutBefore, FaultAction::kCutAfter}) {
    for (const char* method : {"AppendRows", "FlushRows", "CreateWriteStream"}) {
      FaultRule rule;
      rule.method = method;
      rule.times = 0;
      rule.probability = 0.1;
      rule.seed = static_cast<uint64_t>(action) + 7;
      rule.action = action;
      ASSERT_TRUE(emulator_->faults().add(rule).ok());
    }
  }
  start(builder());
  for (int round = 0; round < 10; ++round) {
    write(round * 300, (round + 1) * 300);
    checkpoint();
    commit();
    if (round % 3 == 2) newWriter(states_);
  }
  expectExactly(rowsOf("t0"), 0, 3000);
}

// BQW-060: more streams than the 100 that the service allows on one HTTP/2 connection.
TEST_F(ExactlyOnceEndToEnd, AThousandTablesAreWrittenAtATime) {
  static constexpr int kTables = 1000;
  auto from = builder();
  from.destinationResolver([] { return std::make_unique<ByNumber>(kTables); });
  start(std::move(from));
  for (int round = 0; round < 2; ++round) {
    write(round * 3 * kTables, (round + 1) * 3 * kTables);
    checkpoint();
    EXPECT_EQ(committables_.size(), static_cast<size_t>(kTables));
    EXPECT_EQ(states_.size(), static_cast<size_t>(kTables));
    commit();
  }
  for (int table = 0; table < kTables; table += 37) {
    EXPECT_EQ(rowsOf(fmt::format("t{}", table)).size(), 6U) << table;
  }
}

// BQW-103 and the like end the writer with a message that names the table.
TEST_F(ExactlyOnceEndToEnd, AStreamThatIsGoneFailsTheJobAndTheRestartGoesOn) {
  start(builder());
  write(0, 100);
  checkpoint();
  commit();
  FaultRule rule;
  rule.method = "AppendRows";
  rule.code = absl::StatusCode::kNotFound;
  rule.storageError = "STREAM_NOT_FOUND";
  ASSERT_TRUE(emulator_->faults().add(rule).ok());
  write(100, 101);
  const absl::Status failed = writer_->flush(false);
  EXPECT_THAT(base::describe(failed), testing::HasSubstr("p.d.t0"));
  ASSERT_TRUE(emulator_->faults().add(rule).ok());  // and again for the probe
  newWriter(states_);
  write(100, 200);
  checkpoint();
  commit();
  expectExactly(rowsOf("t0"), 0, 200);
}

}  // namespace
}  // namespace penstock
