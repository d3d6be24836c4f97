#include <gmock/gmock.h>
#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Code = absl::StatusCode;
using Request = google::cloud::bigquery::storage::v1::AppendRowsRequest;

/// What options make of requests, waits and counts.
class DefaultStreamOptionsTest : public WriterTest {
 protected:
  void SetUp() override { options_.location = "us"; }

  /// The request of a write, as the service reads it.
  static Request parse(const ScriptedCalls::Write& write) {
    std::string bytes = write.header;
    for (const std::string& row : write.rows) {
      bytes += '\x0A';
      bytes += static_cast<char>(row.size());
      bytes += row;
    }
    Request request;
    EXPECT_TRUE(request.ParseFromString(bytes));
    return request;
  }
  /// A table whose rows' descriptor is one, so that requests can be parsed.
  connector::DestinationId addParsable() {
    DestinationSetup setup;
    setup.table = {"p", "d", "parsable"};
    setup.schema = TableSchema{{{"a", ColumnType::kString}}};
    return *writer_->registerDestination(std::move(setup));
  }
  void flushOne(connector::DestinationId id, std::string_view row) {
    write(id, row);
    writer_->beginFlush(false);
    written();
  }
};

// --- missing values

// BQW-194
TEST_F(DefaultStreamOptionsTest, MissingValuesAreSaidWithEachRequest) {
  options_.defaultMissingValueInterpretation = MissingValueInterpretation::kDefaultValue;
  options_.missingValueInterpretations = {"a=NULL_VALUE", "b=c=DEFAULT_VALUE"};
  options_.defaultStreamOptions.maxAppendRequestBytes = 1;
  start();
  const auto table = addParsable();
  write(table, "1");
  write(table, "2");
  writer_->beginFlush(false);
  written();
  ASSERT_EQ(calls_->last().writes.size(), 2U);
  for (const auto& write : calls_->last().writes) {
    const Request request = parse(write);
    EXPECT_EQ(request.default_missing_value_interpretation(), Request::DEFAULT_VALUE);
    ASSERT_EQ(request.missing_value_interpretations().size(), 2U);
    EXPECT_EQ(request.missing_value_interpretations().at("a"), Request::NULL_VALUE);
    EXPECT_EQ(request.missing_value_interpretations().at("b=c"), Request::DEFAULT_VALUE);
    EXPECT_EQ(request.proto_rows().rows().serialized_rows_size(), 1);
  }
}

// BQW-194
TEST_F(DefaultStreamOptionsTest, WithoutTheOptionsNothingIsSaidOfMissingValues) {
  start();
  flushOne(addParsable(), "1");
  const Request request = parse(calls_->last().writes[0]);
  EXPECT_EQ(request.default_missing_value_interpretation(),
            Request::MISSING_VALUE_INTERPRETATION_UNSPECIFIED);
  EXPECT_TRUE(request.missing_value_interpretations().empty());
}

// BQW-194: a default stays in force on a connection, which another sink may share.
TEST_F(DefaultStreamOptionsTest, ASinkWithoutADefaultIsNotLeftAnotherSinks) {
  const auto target = [](const char* descriptor, std::string missingValues) {
    auto made = std::make_shared<StreamTarget>();
    made->stream = "projects/p/datasets/d/tables/t/streams/_default";
    made->descriptor = descriptor;
    made->missingValues = std::move(missingValues);
    return made;
  };
  const auto rows = std::make_shared<connector::RowBatch>();
  rows->appendRow("r");
  const auto random = base::seededRandom(1);
  AppendConnection connection({}, /*multiplexed=*/true, "penstock:test", *random);
  const auto header = [&](const std::shared_ptr<const StreamTarget>& to) {
    AppendConnection::Actions actions;
    connection.append({1, AppendToken{1}, to, rows}, {}, actions);
    connection.onWriteDone(true, {}, actions);
    std::string last;
    for (const auto& action : actions) {
      if (action.kind == AppendConnection::Action::Kind::kWrite) last = action.bytes.header;
    }
    return parse({last, {"r"}}).default_missing_value_interpretation();
  };
  const auto plain = target("\x0A\x01p", "");  // message p {}
  const auto defaulting = target("\x0A\x01q", "\x40\x02");
  EXPECT_EQ(header(plain), Request::MISSING_VALUE_INTERPRETATION_UNSPECIFIED);
  EXPECT_EQ(header(defaulting), Request::DEFAULT_VALUE);
  EXPECT_EQ(header(plain), Request::NULL_VALUE) << "what the service does by itself";
}

// --- creating tables

// BQW-180
TEST_F(DefaultStreamOptionsTest, TheHostSaysWhatATableIsCreatedWith) {
  start();
  DestinationSetup setup;
  setup.table = {"p", "d", "asked"};
  setup.schema = TableSchema{{{"c", ColumnType::kString}}};
  setup.askForCreateOptions = true;
  const auto id = *writer_->registerDestination(std::move(setup));
  flushOne(id, "1");
  EXPECT_TRUE(writer_->questions().empty()) << "asked only when a table is created";
  calls_->last().refuse(Code::kNotFound);
  ASSERT_EQ(poll().state, State::kNeedsHost);
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kCreateOptions);
  EXPECT_EQ(writer_->questions()[0].destination, id);
  EXPECT_TRUE(admin_->created.empty());
  writer_->answer(writer_->questions()[0].id,
                  {absl::OkStatus(), R"({"timePartitioning": {"type": "DAY", "field": "ts"},
                                         "clustering": {"fields": ["c"]}})"});
  ASSERT_EQ(admin_->created.size(), 1U);
  admin_->answerCreation({absl::UnavailableError("passing"), 503, ""});
  poll();
  pass(seconds(1));
  ASSERT_EQ(admin_->createdWith.size(), 2U);
  for (const TableCreateOptions& with : admin_->createdWith) {
    EXPECT_EQ(with.timePartitioningType, "DAY");
    EXPECT_EQ(with.timePartitioningField, "ts");
    EXPECT_THAT(with.clusteredFields, ElementsAre("c"));
  }
  EXPECT_TRUE(writer_->questions().empty()) << "asked once";
}

TEST_F(DefaultStreamOptionsTest, CreationOptionsThatCannotBeReadFailNamingTheTable) {
  for (const char* document :
       {"{", R"({"timePartitioning": {"field": "ts"}})", R"({"labels": {}})"}) {
    calls_ = std::make_shared<ScriptedCalls>();
    start();
    DestinationSetup setup;
    setup.table = {"p", "d", "asked"};
    setup.schema = TableSchema{{{"c", ColumnType::kString}}};
    setup.askForCreateOptions = true;
    flushOne(*writer_->registerDestination(std::move(setup)), "1");
    calls_->last().refuse(Code::kNotFound);
    poll();
    writer_->answer(writer_->questions()[0].id, {absl::OkStatus(), document});
    EXPECT_EQ(poll().state, State::kFailed) << document;
    EXPECT_THAT(std::string(base::messageOf(poll().status)), HasSubstr("p.d.asked"));
  }
  EXPECT_TRUE(admin_->created.empty());
}

// --- schedules

// BQW-072, BASE-036: the recovery options are the repair's schedule.
TEST_F(DefaultStreamOptionsTest, RecoveryFollowsItsOptions) {
  options_.defaultStreamOptions.recoveryInitialBackoff = milliseconds(100);
  options_.defaultStreamOptions.recoveryMaxBackoff = milliseconds(300);
  options_.defaultStreamOptions.recoveryMaxAttempts = 5;
  start();
  flushOne(first_, "1");
  std::vector<base::Duration> waits;
  calls_->last().refuse(Code::kInvalidArgument, StorageErrorCode::kStreamFinalized);
  for (;;) {
    written();
    calls_->last().refuse(Code::kInvalidArgument, StorageErrorCode::kStreamFinalized);
    const connector::Progress progress = poll();
    if (progress.state == State::kFailed) break;
    waits.push_back(progress.wakeAt - clock_.now());
    clock_.advanceTo(progress.wakeAt);
    poll();
  }
  const std::vector<int> expected = {100, 200, 300, 300};  // N attempts give N-1 sleeps
  ASSERT_EQ(waits.size(), expected.size());
  for (size_t i = 0; i < waits.size(); ++i) {
    EXPECT_GE(waits[i], milliseconds(expected[i]) * 3 / 4) << i;
    EXPECT_LE(waits[i], milliseconds(expected[i]) * 5 / 4) << i;
  }
}

// BQW-054: retryMaxAttempts resends in the stream before the repair sees it.
TEST_F(DefaultStreamOptionsTest, InStreamRetriesFollowTheirOptions) {
  options_.defaultStreamOptions.retryMaxAttempts = 3;
  options_.defaultStreamOptions.retryInitialDelay = milliseconds(100);
  options_.defaultStreamOptions.retryDelayMultiplier = 10;
  options_.defaultStreamOptions.retryMaxDelay = milliseconds(500);
  start();
  flushOne(first_, "1");
  const int longest[] = {100, 500, 500};
  for (const int most : longest) {
    calls_->last().refuse(Code::kResourceExhausted);
    const base::MonotonicTime before = clock_.now();
    const size_t writes = calls_->last().writes.size();
    while (calls_->last().writes.size() == writes) {
      ASSERT_LE(clock_.now() - before, milliseconds(most));
      clock_.advance(milliseconds(1));
      written();
    }
  }
  EXPECT_EQ(calls_->calls.size(), 1U);
  EXPECT_EQ(counter("errorClass.RESOURCE_EXHAUSTED.errors"), 0U) << "not seen above the stream";
  calls_->last().refuse(Code::kResourceExhausted);
  poll();
  EXPECT_EQ(calls_->calls.size(), 2U) << "the repair";
  EXPECT_EQ(counter("errorClass.RESOURCE_EXHAUSTED.errors"), 1U);
}

// BQW-055: maxRetryDuration bounds reconnecting without an answer.
TEST_F(DefaultStreamOptionsTest, ReconnectingEndsAfterItsOption) {
  options_.defaultStreamOptions.maxRetryDuration = seconds(2);
  options_.defaultStreamOptions.recoveryMaxAttempts = 1;
  start();
  flushOne(first_, "1");
  const base::MonotonicTime begin = clock_.now();
  while (poll().state != State::kFailed) {
    ASSERT_LT(clock_.now() - begin, minutes(1));
    if (!calls_->last().destroyed) calls_->last().end(Code::kUnavailable);
    clock_.advance(milliseconds(10));
    written();
  }
  EXPECT_GE(clock_.now() - begin, seconds(2));
}

// --- metrics

// BASE-041
TEST_F(DefaultStreamOptionsTest, TablesAreCountedApartWhenAskedFor) {
  options_.defaultStreamOptions.perDestinationMetrics = true;
  options_.defaultStreamOptions.destinationIdleTimeout = seconds(1);
  start();
  const auto snapshot = [this] { return metrics_->snapshot().counters; };
  EXPECT_FALSE(snapshot().contains("destination.p.d.t1.recordsSend")) << "from its first use";
  write("1");
  write("2");
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  writer_->beginRow(first_);
  writer_->discardRow();  // a skip counts nowhere
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  writer_->beginRow(first_);
  writer_->failRow(writer_->failureFor(first_));          // does not serialize
  writer_->failRow(first_, writer_->failureFor(first_));  // not even begun
  writer_->failRow({});                                   // unroutable
  answerAll();
  writer_->beginFlush(false);
  written();
  refuseRows({1});
  poll();
  answerAll();
  written();
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(counter("destination.p.d.t1.recordsSend"), 2U);
  EXPECT_EQ(counter("destination.p.d.t1.sendErrors"), 3U);
  EXPECT_EQ(counter("numRecordsSendErrors"), 4U);

  clock_.advance(minutes(1));
  writer_->beginFlush(false);
  poll();
  answerAll();
  ASSERT_EQ(gauge("openDestinations"), 0);
  EXPECT_EQ(counter("destination.p.d.t1.recordsSend"), 2U) << "survives the eviction";
  flushOne(first_, "3");
  EXPECT_EQ(counter("destination.p.d.t1.recordsSend"), 3U);
}

// BASE-041
TEST_F(DefaultStreamOptionsTest, TablesAreNotCountedApartUnasked) {
  start();
  flushOne(first_, "1");
  for (const auto& [name, value] : metrics_->snapshot().counters) {
    EXPECT_FALSE(name.starts_with("destination.")) << name;
  }
}

// BASE-040, BASE-044: every metric of section 7, named as the specification does; no others.
TEST_F(DefaultStreamOptionsTest, HasTheMetricsOfTheSpecificationAndNoOthers) {
  start();
  flushOne(first_, "1");
  calls_->last().refuse(Code::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  written();
  const auto snapshot = metrics_->snapshot();
  std::vector<std::string> counters;
  for (const auto& [name, value] : snapshot.counters) counters.push_back(name);
  EXPECT_THAT(counters, testing::UnorderedElementsAre(
                            "numRecordsSend", "numBytesSend", "numRecordsSendErrors",
                            "recordsSkipped", "appendRetries", "tablesCreated",
                            "schemaReconciliations", "errorClass.FAILED_PRECONDITION.errors"));
  std::vector<std::string> gauges;
  for (const auto& [name, value] : snapshot.gauges) gauges.push_back(name);
  EXPECT_THAT(gauges, testing::UnorderedElementsAre("inFlightBatches", "openDestinations",
                                                    "bufferedBytes"));
}

// BASE-039: counted at the first hand-off to a connection, not when written and not again.
TEST_F(DefaultStreamOptionsTest, RowsAreCountedWhenTheyAreHandedOver) {
  options_.defaultStreamOptions.maxInflightRequests = 1;
  options_.defaultStreamOptions.maxConnectionsPerRegion = 1;
  options_.defaultStreamOptions.minConnectionsPerRegion = 1;
  options_.defaultStreamOptions.maxAppendRequestBytes = 3;
  start();
  write("abc");
  EXPECT_EQ(counter("numRecordsSend"), 0U);
  write("def");  // sends the first
  EXPECT_EQ(counter("numRecordsSend"), 1U);
  EXPECT_EQ(counter("numBytesSend"), 3U);
  writer_->beginFlush(false);
  written();
  EXPECT_EQ(counter("numRecordsSend"), 1U) << "no room for the second yet";
  calls_->last().acknowledge();
  written();
  EXPECT_EQ(counter("numRecordsSend"), 2U);
  EXPECT_EQ(counter("numBytesSend"), 6U);
}

}  // namespace
}  // namespace penstock::bigquery
