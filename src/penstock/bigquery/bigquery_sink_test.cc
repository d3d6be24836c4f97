#include "penstock/bigquery/bigquery_sink.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/serializers/pre_serialized_rows.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/scripted_service.h"

namespace penstock::bigquery {
namespace {

using testing::HasSubstr;
using Sink = BigQuerySink<std::string_view>;

/// Rows of one STRING column; what it does to a record is the record's own text.
class TextSerializer : public BigQueryProtoSerializationSchema<std::string_view> {
 public:
  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) override {
    TableSchema schema;
    schema.columns.resize(1);
    schema.columns[0].name = "c";
    schema.columns[0].type = ColumnType::kString;
    return schema;
  }
  absl::Status prepare(connector::DestinationId, const TableName&, const TableSchema*) override {
    return absl::OkStatus();
  }
  std::optional<uint64_t> schemaFingerprint(const TableName&) override { return fingerprint; }
  absl::StatusOr<Serialized> serialize(const std::string_view& record, connector::DestinationId,
                                       connector::RowEncoder& row) override {
    if (record == "throw") throw std::runtime_error("boom");
    if (record == "skip") return Serialized::kSkip;
    if (record == "bad") return absl::InvalidArgumentError("cannot be serialized");
    row.append(record);
    return Serialized::kRow;
  }

  static inline std::optional<uint64_t> fingerprint;
};

/// A table, nothing, a verdict or an exception, as the record says.
class TextResolver final : public Sink::Resolver {
 public:
  absl::StatusOr<connector::Resolution<TableName>> resolve(
      const std::string_view& record, const connector::WriteContext&) override {
    if (record == "nowhere") return nullptr;
    if (record == "resolver throws") throw std::runtime_error("no route");
    if (record == "resolver fails") return absl::NotFoundError("no route");
    if (record == "unroutable") return connector::Unroutable{std::string(record), "no such tenant"};
    table_ = {"p", "d", "t"};
    return &table_;
  }

 private:
  TableName table_;
};

struct Seen {
  std::vector<connector::FailedRecord> failures;
  int opened = 0;
  int closed = 0;
  absl::Status opening;
};

class SeeingHandler final : public connector::FailureHandler {
 public:
  explicit SeeingHandler(Seen& seen) : seen_(seen) {}
  absl::Status open(const connector::FailureHandlerContext& context) override {
    ++seen_.opened;
    EXPECT_EQ(context.subtaskIndex, 3);
    EXPECT_NE(context.metrics, nullptr);
    return seen_.opening;
  }
  absl::Status handle(const connector::FailedRecord& failure) override {
    seen_.failures.push_back(failure);
    return absl::OkStatus();
  }
  absl::Status close() override {
    ++seen_.closed;
    return absl::OkStatus();
  }

 private:
  Seen& seen_;
};

class BigQuerySinkTest : public testing::Test {
 protected:
  void SetUp() override { TextSerializer::fingerprint.reset(); }

  Sink::Builder builder() {
    SinkConnections connections;
    connections.pool = AppendPool::create(calls_, clock_, base::seededRandom(1));
    connections.admin = admin_;
    connections.clock = &clock_;
    return Sink::builder()
        .connections(connections)
        .location("us")
        .table("p.d.t")
        .failureHandler([this] { return std::make_unique<SeeingHandler>(seen_); })
        .serializer([] { return std::make_unique<TextSerializer>(); });
  }

  std::unique_ptr<connector::SinkWriter<std::string_view>> open(Sink::Builder& from) {
    auto sink = from.build();
    EXPECT_TRUE(sink.ok()) << errorText(sink.status());
    connector::WriterInit init;
    init.subtaskIndex = 3;
    init.metrics = metrics_;
    auto writer = (*sink)->createWriter(init);
    EXPECT_TRUE(writer.ok()) << errorText(writer.status());
    return *std::move(writer);
  }

  base::ManualClock clock_;
  std::shared_ptr<ScriptedCalls> calls_ = std::make_shared<ScriptedCalls>();
  std::shared_ptr<ScriptedAdmin> admin_ = std::make_shared<ScriptedAdmin>();
  std::shared_ptr<base::MetricGroup> metrics_ = std::make_shared<base::MetricGroup>();
  Seen seen_;
};

TEST_F(BigQuerySinkTest, ABatchIsWhatItsRecordsAreOneByOne) {
  Sink::Builder from = builder();
  const auto writer = open(from);
  const std::vector<std::string_view> records = {"a", "skip", "bad", "throw", "b"};
  ASSERT_TRUE(writer->writeBatch(records, {}).ok());
  ASSERT_TRUE(writer->writeBatch(records, {}).ok()) << "the table is open now";
  EXPECT_EQ(seen_.failures.size(), 4U);
  EXPECT_EQ(metrics_->snapshot().counters.at("recordsSkipped"), 2U);
}

TEST_F(BigQuerySinkTest, RowsThatAreBytesAlreadyAreCopied) {
  DefaultStreamOptions small;
  small.maxAppendRequestBytes = 5;
  small.minConnectionsPerRegion = small.maxConnectionsPerRegion = 1;
  Sink::Builder from = builder().defaultStreamOptions(small).serializer([] {
    return std::make_unique<PreSerializedRows>(TableSchema{{{"c", ColumnType::kString}}});
  });
  const auto writer = open(from);
  const std::vector<std::string_view> records = {"a", "skip", "bad"};
  ASSERT_TRUE(writer->writeBatch(records, {}).ok());
  ASSERT_TRUE(writer->writeBatch(records, {}).ok()) << "the table is open now";
  EXPECT_TRUE(seen_.failures.empty());
  ScriptedCalls::Call& call = calls_->last();
  for (int write = 0; write < 2; ++write) call.events->onWriteDone(true);
  ASSERT_EQ(call.writes.size(), 3U);
  EXPECT_EQ(call.writes[0].rows, (std::vector<std::string>{"a", "skip"}));
  EXPECT_EQ(call.writes[1].rows, (std::vector<std::string>{"bad", "a"}));
  EXPECT_EQ(call.writes[2].rows, (std::vector<std::string>{"skip"}));
}

// BASE-002
TEST_F(BigQuerySinkTest, TheBuilderNamesTheSetterAndTheValue) {
  EXPECT_THAT(errorText(Sink::builder().build().status()),
              HasSubstr("table or destinationResolver"));
  EXPECT_THAT(errorText(Sink::builder().table("p.d.t").build().status()), HasSubstr("serializer"));
  EXPECT_THAT(errorText(builder().table("no table").build().status()), HasSubstr("'no table'"));
  EXPECT_THAT(errorText(builder().table(TableName{"p", "d/x", "t"}).build().status()),
              HasSubstr("d/x"));
  EXPECT_THAT(errorText(builder().emulatorEndpoint("h:0").build().status()),
              HasSubstr("emulatorEndpoint"));  // BQW-191
  EXPECT_THAT(errorText(builder().emulatorRestEndpoint("h").build().status()),
              HasSubstr("emulatorRestEndpoint"));
  EXPECT_THAT(errorText(builder().serializer(nullptr).build().status()), HasSubstr("serializer"));
  EXPECT_THAT(errorText(builder().failureHandler(nullptr).build().status()),
              HasSubstr("failureHandler"));
  DefaultStreamOptions options;
  options.maxAppendRequestBytes = 0;
  EXPECT_THAT(errorText(builder().defaultStreamOptions(options).build().status()),
              HasSubstr("maxAppendRequestBytes"));
}

// BQW-190
TEST_F(BigQuerySinkTest, AKeyFileAndAnEmulatorExcludeEachOtherInEitherOrder) {
  for (const bool keyFirst : {true, false}) {
    Sink::Builder sink = builder();
    if (keyFirst) sink.serviceAccountKeyFile("key.json");
    sink.emulatorEndpoint("127.0.0.1:9060");
    if (!keyFirst) sink.serviceAccountKeyFile("key.json");
    const std::string why = errorText(sink.build().status());
    EXPECT_THAT(why, HasSubstr("serviceAccountKeyFile"));
    EXPECT_THAT(why, HasSubstr("emulatorEndpoint"));
  }
}

// BQW-002, BQW-004
TEST_F(BigQuerySinkTest, TheHandlerIsOpenedFirstAndClosedWithTheWriter) {
  Sink::Builder sink = builder();
  auto writer = open(sink);
  EXPECT_EQ(seen_.opened, 1);
  EXPECT_TRUE(writer->close().ok());
  EXPECT_TRUE(writer->close().ok());
  EXPECT_EQ(seen_.closed, 1);
}

// BQW-002
TEST_F(BigQuerySinkTest, AHandlerThatCannotOpenFailsTheWriter) {
  seen_.opening = absl::UnavailableError("dead letters are away");
  auto sink = builder().build();
  connector::WriterInit init;
  init.subtaskIndex = 3;
  EXPECT_THAT(errorText((*sink)->createWriter(init).status()), HasSubstr("dead letters are away"));
}

// A writer that cannot be made closes the handler it has opened; the original error stays.
// BASE-020, BASE-005
TEST_F(BigQuerySinkTest, AWriterThatCannotBeMadeClosesItsHandler) {
  SinkConnections connections;
  connections.pool = AppendPool::create(calls_, clock_, base::seededRandom(1));
  connections.admin = admin_;
  connections.clock = &clock_;
  SinkOptions options;
  options.defaultStreamOptions.maxInflightRequests = 0;  // as if it had not come through a builder
  connector::WriterInit init;
  init.subtaskIndex = 3;
  const auto writer =
      BlockingWriter::create(options, connections, init, std::make_unique<SeeingHandler>(seen_));
  EXPECT_THAT(errorText(writer.status()), HasSubstr("maxInflightRequests"));
  EXPECT_EQ(seen_.opened, 1);
  EXPECT_EQ(seen_.closed, 1);
}

// BQW-011, BASE-030
TEST_F(BigQuerySinkTest, ResolverProblemsFailTheWriteAndAreNotRouted) {
  for (const char* record : {"nowhere", "resolver throws", "resolver fails"}) {
    Sink::Builder sink =
        builder().destinationResolver([] { return std::make_unique<TextResolver>(); });
    auto writer = open(sink);
    EXPECT_FALSE(writer->write(record, {}).ok()) << record;
    EXPECT_TRUE(seen_.failures.empty());
    EXPECT_EQ(metrics_->counter("numRecordsSendErrors").value(), 0U);
  }
}

// BQW-010, BQW-012, BASE-029
TEST_F(BigQuerySinkTest, UnroutableGoesToTheHandlerBeforeAnythingElse) {
  Sink::Builder sink =
      builder().destinationResolver([] { return std::make_unique<TextResolver>(); });
  auto writer = open(sink);
  connector::WriteContext context;
  context.origin = "input line 4";
  EXPECT_TRUE(writer->write("unroutable", context).ok());
  ASSERT_EQ(seen_.failures.size(), 1U);
  EXPECT_EQ(seen_.failures[0].destination, "unresolved");
  EXPECT_EQ(seen_.failures[0].payload, "unroutable");
  EXPECT_EQ(seen_.failures[0].errorMessage, "no such tenant");
  EXPECT_TRUE(seen_.failures[0].cause.ok());
  EXPECT_EQ(seen_.failures[0].origin, "input line 4");
  EXPECT_EQ(metrics_->counter("numRecordsSendErrors").value(), 1U);
}

// BQW-022, BASE-034
TEST_F(BigQuerySinkTest, SerializerErrorsAndExceptionsAreRouted) {
  Sink::Builder sink = builder();
  auto writer = open(sink);
  EXPECT_TRUE(writer->write("bad", {}).ok());
  EXPECT_TRUE(writer->write("throw", {}).ok());
  ASSERT_EQ(seen_.failures.size(), 2U);
  EXPECT_THAT(seen_.failures[0].errorMessage, HasSubstr("serialization failed"));
  EXPECT_THAT(seen_.failures[1].errorMessage, HasSubstr("boom"));
  EXPECT_FALSE(seen_.failures[0].payload.has_value());
  EXPECT_TRUE(calls_->calls.empty());
}

// BASE-012
TEST_F(BigQuerySinkTest, TheDefaultHandlerFailsTheJob) {
  Sink::Builder sink = builder().failureHandler([] { return connector::failJob(); });
  auto writer = open(sink);
  const absl::Status status = writer->write("bad", {});
  EXPECT_THAT(errorText(status), HasSubstr("p.d.t"));
  EXPECT_THAT(errorText(status), HasSubstr("cannot be serialized"));
  EXPECT_FALSE(writer->write("good", {}).ok()) << "the captured error stays";
}

// BQW-021, BASE-032
TEST_F(BigQuerySinkTest, SkippedRecordsAreCountedAndNothingElse) {
  Sink::Builder sink = builder();
  auto writer = open(sink);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(writer->write("skip", {}).ok());
  EXPECT_TRUE(writer->flush(true).ok());
  EXPECT_EQ(metrics_->counter("recordsSkipped").value(), 5U);
  EXPECT_TRUE(calls_->calls.empty());
  EXPECT_TRUE(admin_->lookUps.empty());
}

// BASE-021, BQW-020: a captured error comes before anything of the next record's is asked.
TEST_F(BigQuerySinkTest, ACapturedErrorIsThrownBeforeTheResolverIsAsked) {
  int resolved = 0;
  class CountingResolver final : public Sink::Resolver {
   public:
    explicit CountingResolver(int& count) : count_(count) {}
    absl::StatusOr<connector::Resolution<TableName>> resolve(
        const std::string_view& record, const connector::WriteContext&) override {
      ++count_;
      return connector::Unroutable{std::string(record), "nowhere"};
    }

   private:
    int& count_;
  };
  Sink::Builder sink = builder().destinationResolver(
      [&resolved] { return std::make_unique<CountingResolver>(resolved); });
  auto writer = open(sink);
  EXPECT_TRUE(writer->write("a", {}).ok());
  EXPECT_EQ(resolved, 1);
  writer->cancel();
  EXPECT_EQ(writer->write("b", {}).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(resolved, 1);
  EXPECT_EQ(seen_.failures.size(), 1U);
}

// BASE-023: nothing is kept for a checkpoint, nothing is committed after it.
TEST_F(BigQuerySinkTest, TheWriterHasNoState) {
  Sink::Builder sink = builder();
  auto writer = open(sink);
  EXPECT_TRUE(writer->write("a", {}).ok());
  EXPECT_TRUE(writer->snapshotState(1)->empty());
  EXPECT_TRUE(writer->prepareCommit()->empty());
  EXPECT_TRUE(calls_->calls.empty()) << "and neither sends anything";
}

// BASE-024, BASE-027: an error that the caller has seen is not reported again by close.
TEST_F(BigQuerySinkTest, CloseDoesNotRepeatAnErrorThatWasHandedOver) {
  Sink::Builder sink = builder().failureHandler([] { return connector::failJob(); });
  auto writer = open(sink);
  EXPECT_FALSE(writer->write("bad", {}).ok());
  EXPECT_TRUE(writer->close().ok());
}

TEST_F(BigQuerySinkTest, CancelEndsAWaitFromAnotherThread) {
  Sink::Builder sink = builder();
  auto writer = open(sink);
  EXPECT_TRUE(writer->write("a", {}).ok());
  writer->cancel();
  EXPECT_EQ(writer->flush(true).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace penstock::bigquery
