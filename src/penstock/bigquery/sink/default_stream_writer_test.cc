#include "penstock/bigquery/sink/default_stream_writer.h"

#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class DefaultStreamWriterTest : public WriterTest {};

// --- rows and batches
// ---------------------------------------------------------------------------------

// BQW-040, BQW-052
TEST_F(DefaultStreamWriterTest, OpensTheDefaultStreamWithTheFirstSendableRow) {
  start();
  EXPECT_TRUE(admin_->lookUps.empty());
  write("a");
  ASSERT_EQ(admin_->lookUps.size(), 1U);
  EXPECT_EQ(admin_->lookUps[0].stream, "projects/p/datasets/d/tables/t1/streams/_default");
  EXPECT_FALSE(admin_->lookUps[0].fullView);
  writer_->beginFlush(false);
  EXPECT_TRUE(calls_->calls.empty());
  admin_->answerLocation("europe-west1");
  poll();
  EXPECT_EQ(calls_->last().options.requestParams,
            "write_location=projects/p/locations/europe-west1");
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}));
}

// BQW-040
TEST_F(DefaultStreamWriterTest, RemembersTheLocationOfADatasetForTenMinutes) {
  start();
  sendEach({"a"});
  calls_->last().acknowledge();
  poll();
  answerAll();
  write(add("t2"), "b");
  EXPECT_EQ(admin_->lookUps.size(), 1U);
  clock_.advance(minutes(10));
  write(add("t3"), "c");
  EXPECT_EQ(admin_->lookUps.size(), 2U);
}

// BQW-040
TEST_F(DefaultStreamWriterTest, AConfiguredLocationSavesTheLookUp) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  EXPECT_TRUE(admin_->lookUps.empty());
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}));
}

// BQW-030
TEST_F(DefaultStreamWriterTest, AppendsBeforeABatchWouldPassItsLimit) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = 10;
  start();
  write("1234");
  write("567890");  // exactly full: waits
  EXPECT_TRUE(calls_->calls.empty());
  write("x");
  EXPECT_THAT(written(), ElementsAre(Rows{"1234", "567890"}));
  write("a row of more than ten bytes");  // travels alone
  write("y");
  EXPECT_THAT(written(),
              ElementsAre(Rows{"1234", "567890"}, Rows{"x"}, Rows{"a row of more than ten bytes"}));
}

// BQW-032
TEST_F(DefaultStreamWriterTest, AppendsAtTheRowLimitAndBelowTheRequestLimit) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = int64_t{1} << 40;
  start();
  for (int i = 0; i < 65536; ++i) write("");
  ASSERT_EQ(written().size(), 1U);
  EXPECT_EQ(written()[0].size(), 65536U);
  const std::string half(5'000'000, 'x');
  write(half);
  EXPECT_EQ(written().size(), 1U);
  write(half);  // together over 9.5 MiB
  ASSERT_EQ(written().size(), 2U);
  EXPECT_EQ(written()[1].size(), 1U);
}

// BQW-030, BQW-032: in batches as one by one, whatever the rows' sizes and the batches'.
TEST_F(DefaultStreamWriterTest, MakesTheSameRequestsOfRowsInBatches) {
  const auto random = base::seededRandom(7);
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = 20'000;
  std::vector<std::string> rows(3000);
  for (std::string& row : rows) row.assign(random->below(random->chance(0.01) ? 30'000 : 200), 'x');
  start();
  for (const std::string& row : rows) write(row);
  writer_->beginFlush(false);
  const auto oneByOne = written();
  ASSERT_GT(oneByOne.size(), 10U);

  calls_ = std::make_shared<ScriptedCalls>();
  start();
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  for (size_t at = 0; at < rows.size();) {
    const size_t size = std::min<size_t>(1 + random->below(700), rows.size() - at);
    ASSERT_EQ(writer_->takeRows(first_, std::span(views).subspan(at, size),
                                connector::RowOrigin::kUnknown),
              size);
    at += size;
  }
  writer_->beginFlush(false);
  EXPECT_EQ(written(), oneByOne);
}

// BQW-032
TEST_F(DefaultStreamWriterTest, TakesNoMoreRowsOfABatchThanAnAppendMayHave) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = int64_t{1} << 40;
  start();
  const std::vector<std::string_view> rows(65536 + 10);
  EXPECT_EQ(writer_->takeRows(first_, rows, connector::RowOrigin::kUnknown), rows.size());
  ASSERT_EQ(written().size(), 1U);
  EXPECT_EQ(written()[0].size(), 65536U);
}

// BQW-053
TEST_F(DefaultStreamWriterTest, TakesNoMoreRowsOfABatchThanThereIsRoomFor) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = 100;
  options_.defaultStreamOptions.maxInflightRequests = 2;
  start();
  const std::string row(100, 'x');
  const std::vector<std::string_view> rows(10, row);
  EXPECT_EQ(writer_->takeRows(first_, rows, connector::RowOrigin::kUnknown), 4U)
      << "two in flight, one waiting, one in the open batch";
  written();
  calls_->last().acknowledge();
  poll();
  EXPECT_EQ(writer_->takeRows(first_, rows, connector::RowOrigin::kUnknown), 1U);
}

// BQW-076: the host learns where a row came from that is refused long after it was written.
TEST_F(DefaultStreamWriterTest, ARefusedRowBringsItsOriginBack) {
  options_.location = "us";
  start();
  const std::vector<std::string_view> rows = {"r0", "r1", "r2", "r3"};
  EXPECT_EQ(writer_->takeRows(first_, rows, connector::RowOrigin{17}), 4U);
  writer_->beginFlush(false);
  written();
  refuseRows({1});
  poll();
  EXPECT_EQ(answerAll()[0].rowOrigin, connector::RowOrigin{18});
  written();
  refuseRows({2});  // of the survivors: r3
  poll();
  EXPECT_EQ(answerAll()[0].rowOrigin, connector::RowOrigin{20});
}

// BQW-023
TEST_F(DefaultStreamWriterTest, RoutesARowThatIsTooLargeToSend) {
  options_.location = "us";
  start();
  const std::string largest(9'437'184, 'x');
  write(largest);
  EXPECT_TRUE(writer_->questions().empty());
  write(largest + "y");
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "a question pauses its destination";
  const auto failures = answerAll();
  EXPECT_EQ(failures[0].payload, largest + "y");
  EXPECT_THAT(failures[0].errorMessage, HasSubstr("9437185"));
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U);
  writer_->beginFlush(false);
  ASSERT_EQ(written().size(), 1U);
  EXPECT_EQ(written()[0][0].size(), largest.size());
}

// BQW-021
TEST_F(DefaultStreamWriterTest, ASkipLeavesNoTrace) {
  start();
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  writer_->beginRow(first_).append("partly");
  writer_->discardRow();
  writer_->beginFlush(true);
  poll();
  EXPECT_EQ(counter("recordsSkipped"), 1U);
  EXPECT_TRUE(admin_->lookUps.empty());
  EXPECT_EQ(gauge("openDestinations"), 0);
  EXPECT_EQ(answerAll().size(), 0U);
}

// BQW-022, BASE-034
TEST_F(DefaultStreamWriterTest, ASerializerErrorIsRoutedBeforeAnyStreamExists) {
  start();
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  writer_->beginRow(first_).append("partly");
  connector::FailedRecord failure = writer_->failureFor(first_);
  failure.errorMessage = "serialization failed: no";
  writer_->failRow(std::move(failure));
  EXPECT_EQ(writer_->poll().state, State::kNeedsHost);
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U) << "counted before the handler decides: BASE-017";
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_FALSE(failures[0].payload.has_value());
  EXPECT_EQ(failures[0].connector, "bigquery");
  EXPECT_EQ(failures[0].destination, "p.d.t1");
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U);
  EXPECT_TRUE(admin_->lookUps.empty());
}

// BQW-012, BASE-031
TEST_F(DefaultStreamWriterTest, AnUnroutableRecordPausesNoDestination) {
  start();
  connector::FailedRecord failure;
  failure.destination = "unresolved";
  writer_->failRow(std::move(failure));
  EXPECT_EQ(writer_->questions().front().destination, connector::kNoDestination);
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted);
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U);
}

// --- flush
// --------------------------------------------------------------------------------------------

// BQW-080, BASE-022
TEST_F(DefaultStreamWriterTest, AFlushEndsWhenAllIsAcknowledgedAndTheHandlerFlushed) {
  options_.location = "us";
  start();
  const auto second = add("t2");
  write("a");
  write(second, "b");
  writer_->beginFlush(true);
  EXPECT_EQ(poll().state, State::kPending);
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "an operation is open";
  EXPECT_EQ(written().size(), 2U);
  EXPECT_EQ(gauge("inFlightBatches"), 2);
  calls_->last().acknowledge();
  EXPECT_EQ(poll().state, State::kPending);
  calls_->last().acknowledge();
  EXPECT_EQ(poll().state, State::kNeedsHost);
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(counter("numRecordsSend"), 2U);
  EXPECT_EQ(counter("numBytesSend"), 2U);
  EXPECT_EQ(gauge("inFlightBatches"), 0);
  EXPECT_EQ(gauge("bufferedBytes"), 0);
}

// BASE-022
TEST_F(DefaultStreamWriterTest, AHandlerThatCannotFlushFailsTheFlush) {
  start();
  writer_->beginFlush(false);
  poll();
  answerAll(absl::UnavailableError("dead letters are stuck"));
  const connector::Progress progress = poll();
  EXPECT_EQ(progress.state, State::kFailed);
  EXPECT_THAT(errorText(progress.status), HasSubstr("dead letters are stuck"));
}

// --- outcomes
// -----------------------------------------------------------------------------------------

// BQW-076, BQW-078, BASE-039
TEST_F(DefaultStreamWriterTest, RoutesOnlyTheRejectedRowsAndReappendsTheRest) {
  options_.location = "us";
  start();
  for (const char* row : {"r0", "r1", "r2", "r3", "r4"}) write(row);
  writer_->beginFlush(false);
  written();
  refuseRows({3, 1});
  poll();
  EXPECT_EQ(written().size(), 1U) << "the survivors wait for the host's answer";
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].payload, "r1");
  EXPECT_EQ(failures[0].errorMessage, "bad value 1");
  EXPECT_EQ(failures[1].payload, "r3");
  EXPECT_EQ(*failures[1].descriptor, "descriptor of t1");  // BASE-010
  EXPECT_EQ(failures[1].cause.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(written(), ElementsAre(Rows{"r0", "r1", "r2", "r3", "r4"}, Rows{"r0", "r2", "r4"}));
  EXPECT_EQ(calls_->calls.size(), 1U) << "refused rows need no new appender";
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(counter("numRecordsSend"), 5U);  // counted once, at the first hand-off
  EXPECT_EQ(counter("appendRetries"), 1U);
  EXPECT_EQ(counter("numRecordsSendErrors"), 2U);
}

// BQW-041, BQW-077
TEST_F(DefaultStreamWriterTest, RowErrorsUnderATransientCodeRetryTheWholeBatch) {
  options_.location = "us";
  options_.defaultStreamOptions.retryMaxAttempts = 1;
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  for (int i = 0; i < 2; ++i) {  // the in-stream resend, then the repair
    refuseRows({0}, absl::StatusCode::kUnavailable);
    written();
  }
  EXPECT_TRUE(writer_->questions().empty());
  calls_->last().acknowledge();
  poll();
  EXPECT_EQ(counter("numRecordsSendErrors"), 0U);
  EXPECT_EQ(counter("appendRetries"), 1U);
  EXPECT_EQ(counter("errorClass.UNAVAILABLE.errors"), 1U);
}

// BQW-076
TEST_F(DefaultStreamWriterTest, RowErrorsThatMatchNoRowFailTheJob) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  refuseRows({7});
  EXPECT_EQ(poll().state, State::kFailed);
}

// BQW-078
TEST_F(DefaultStreamWriterTest, AHandlersErrorFailsTheWrite) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  refuseRows({0});
  poll();
  answerAll(absl::InvalidArgumentError("the job's policy is to fail"));
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(writer_->admit(first_), Admission::kFailed);  // BQW-044
  EXPECT_THAT(errorText(poll().status), HasSubstr("policy"));
}

// BQW-043, BQW-044
TEST_F(DefaultStreamWriterTest, TheFirstTerminalErrorIsCapturedAndKept) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(poll().status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(errorText(poll().status), HasSubstr("p.d.t1"));
  EXPECT_EQ(counter("errorClass.INVALID_ARGUMENT.errors"), 1U) << "its status counts once";
}

// BQW-165
TEST_F(DefaultStreamWriterTest, ASchemaMismatchIsTerminalWithAHint) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(absl::StatusCode::kInvalidArgument,
                        StorageErrorCode::kSchemaMismatchExtraFields);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(errorText(poll().status), HasSubstr("add the columns"));
}

// BASE-038
TEST_F(DefaultStreamWriterTest, CancelEndsWhatIsOpenPromptly) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  writer_->cancel();
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(poll().status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(writer_->admit(first_), Admission::kFailed);
}

/// Cancels the writer, as another thread may, in the middle of its work.
class CancellingAdmin final : public TableAdmin {
 public:
  void getWriteStream(const std::string&, bool, base::Duration, bool, StreamCallback) override {
    ++lookUps;
    writer->cancel();
  }
  void getTable(const TableName&, base::Duration, TableCallback) override {}
  void updateSchema(const TableName&, const std::string&, const std::string&,
                    DoneCallback) override {}
  void createTable(const TableName&, const TableSchema&, const TableCreateOptions&,
                   DoneCallback) override {}

  DefaultStreamWriter* writer = nullptr;
  int lookUps = 0;
};

// BASE-038
TEST_F(DefaultStreamWriterTest, ACancelInTheMiddleOfItsWorkIsSeenAtOnce) {
  const auto admin = std::make_shared<CancellingAdmin>();
  pool_ = AppendPool::create(calls_, clock_, base::seededRandom(1));
  DefaultStreamWriter::Dependencies dependencies;
  dependencies.pool = pool_;
  dependencies.admin = admin;
  dependencies.clock = &clock_;
  dependencies.random = base::seededRandom(2);
  dependencies.metrics = metrics_;
  writer_ = *DefaultStreamWriter::create(options_, std::move(dependencies));
  admin->writer = writer_.get();
  pool_->rememberLocation("p.d", "us");
  first_ = add("t1");
  write("a");
  writer_->beginFlush(false);
  written();
  clock_.advance(minutes(10));  // the location is forgotten: the repair looks it up, inside poll
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamNotFound);
  EXPECT_EQ(poll().status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(admin->lookUps, 1);
}

// BQW-004, BASE-024
TEST_F(DefaultStreamWriterTest, CloseSendsNothingAndLeavesNothing) {
  options_.location = "us";
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  writer_->beginClose();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_EQ(pool_->inflightRequests(), 0U);
  EXPECT_TRUE(calls_->last().cancelled);
  for (const char* name : {"inFlightBatches", "openDestinations", "bufferedBytes"}) {
    EXPECT_EQ(gauge(name), 0) << name;
  }
  calls_->last().acknowledge();  // late news find nobody
}

// --- the schema from the table
// ------------------------------------------------------------------------

// BQW-166
TEST_F(DefaultStreamWriterTest, ReadsTheSchemaFromTheTableBeforeTheFirstRow) {
  start();
  const auto id = add("from_table", /*withSchema=*/false);
  EXPECT_EQ(writer_->schemaOf(id), nullptr);
  EXPECT_EQ(writer_->admit(id), Admission::kWouldWait);
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted) << "only its own destination waits";
  ASSERT_TRUE(admin_->lookUps.back().fullView);
  admin_->answerStream(absl::UnavailableError("passing"));
  pass(seconds(1));
  WriteStreamInfo info;
  info.location = "us";
  info.schema = TableSchema{{{"x", ColumnType::kInt64}}};
  admin_->answerStream(info);
  poll();
  ASSERT_NE(writer_->schemaOf(id), nullptr);
  EXPECT_EQ(writer_->schemaOf(id)->columns[0].name, "x");
  EXPECT_EQ(writer_->admit(id), Admission::kAccepted);
}

// BQW-166
TEST_F(DefaultStreamWriterTest, AMissingTableWithoutASchemaIsOneClearError) {
  start();
  add("from_table", /*withSchema=*/false);
  admin_->answerStream(absl::PermissionDeniedError("or it may not exist"));
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(errorText(poll().status), HasSubstr("p.d.from_table"));
  EXPECT_THAT(errorText(poll().status), HasSubstr("schema"));
}

// --- emulators
// ----------------------------------------------------------------------------------------

// BQW-193
TEST_F(DefaultStreamWriterTest, OtherPeoplesEmulatorsArePrimedAndNotPooled) {
  emulator_ = true;
  options_.location = "us";
  start();
  const auto second = add("t2");
  write("a");
  write(second, "b");
  ASSERT_EQ(admin_->lookUps.size(), 2U) << "each default stream is primed";
  admin_->answerStream(WriteStreamInfo{});
  admin_->answerStream(WriteStreamInfo{});
  writer_->beginFlush(false);
  poll();
  ASSERT_EQ(calls_->calls.size(), 2U) << "a connection each";
  EXPECT_EQ(calls_->calls[0]->options.requestParams,
            "write_stream=projects/p/datasets/d/tables/t1/streams/_default");
}

// BQW-193
TEST_F(DefaultStreamWriterTest, OurOwnEmulatorIsPooledLikeTheService) {
  emulator_ = true;
  start();
  const auto second = add("t2");
  write("a");
  write(second, "b");
  WriteStreamInfo info;
  info.location = "us";
  info.announcesPenstock = true;
  admin_->answerStream(info);
  admin_->answerStream(info);
  writer_->beginFlush(false);
  poll();
  EXPECT_EQ(calls_->calls.size(), 1U);
}

// BQW-193
TEST_F(DefaultStreamWriterTest, AnEmulatorsUnknownMeansNotFoundInTheLookUpOnly) {
  emulator_ = true;
  start();
  write("a");
  admin_->answerStream(absl::UnknownError("no such table"));
  poll();
  EXPECT_EQ(admin_->created.size(), 1U);
}

}  // namespace
}  // namespace penstock::bigquery
