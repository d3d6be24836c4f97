#include "penstock/bigquery/sink/buffered_stream_writer.h"

#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/buffered_writer_fixture.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"

namespace penstock::bigquery {
namespace {

using absl::StatusCode;
using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Rows to appends to checkpoints, when nothing goes wrong.
class BufferedStreamWriterTest : public BufferedWriterTest {};

// BQW-101: the stream is made for the first append, and appends are pipelined at offsets.
TEST_F(BufferedStreamWriterTest, AppendsToAStreamOfItsOwnAtOffsets) {
  start();
  write(first_, "a");
  EXPECT_THAT(streams_->created, IsEmpty()) << "nothing is sent yet";
  write(first_, "b");  // sends "a"
  ASSERT_THAT(streams_->created, ElementsAre(tableNamed("t1")));
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  streams_->answerCreation();
  poll();
  write(first_, "c");
  writer_->beginFlush(false);
  const std::string stream = streamOf("t1", 1);
  EXPECT_THAT(requests(), ElementsAre(Request{stream, 0, {"a"}}, Request{stream, 1, {"b"}},
                                      Request{stream, 2, {"c"}}));
  EXPECT_EQ(gauge("inFlightAppends"), 3);
  EXPECT_EQ(poll().state, State::kPending);
  for (int64_t offset = 0; offset < 3; ++offset) acknowledge(offset);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(gauge("inFlightAppends"), 0);
  EXPECT_EQ(counter("numRecordsSend"), 3U);
  EXPECT_EQ(counter("numBytesSend"), 3U);
  EXPECT_EQ(streams_->created.size(), 1U);
}

// BQW-108, BASE-022
TEST_F(BufferedStreamWriterTest, TheHandlerIsFlushedWhenAllHasLanded) {
  start();
  sendEach({"a"});
  EXPECT_THAT(writer_->questions(), IsEmpty());
  acknowledge(0);
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
}

// BQW-109, BQW-110: what a checkpoint of rows says.
TEST_F(BufferedStreamWriterTest, ACheckpointNamesTheLastRowAndTheNextOffset) {
  start();
  sendEach({"a", "b"});
  acknowledge(0);
  acknowledge(1);
  flush();
  EXPECT_THAT(prepare(), ElementsAre(StreamCommittable{streamOf("t1", 1), 1, 3}));
  EXPECT_THAT(snapshot(7), ElementsAre(BufferedStreamState{tableNamed("t1"), streamOf("t1", 1), 2,
                                                           7, /*preparedOffset=*/2}));
  // The next one finds no change, but the stream is still the writer's.
  flush();
  EXPECT_THAT(prepare(), IsEmpty());
  EXPECT_EQ(snapshot(8).size(), 1U);
  sendEach({"c"});
  EXPECT_EQ(requests().back(), (Request{streamOf("t1", 1), 2, {"c"}}));
  acknowledge(2);
  flush();
  EXPECT_THAT(prepare(), ElementsAre(StreamCommittable{streamOf("t1", 1), 2, 3}));
  EXPECT_EQ(streams_->created.size(), 1U) << "reused across checkpoints";
}

// BQW-110: prepare alone, twice, and a snapshot alone.
TEST_F(BufferedStreamWriterTest, PrepareAndSnapshotMayComeOutOfPairs) {
  start();
  sendEach({"a"});
  acknowledge(0);
  flush();
  const auto states = snapshot(1);  // alone: the row has no committable yet
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].preparedOffset, 0);
  const StreamCommittable due{streamOf("t1", 1), 0, 3};
  EXPECT_THAT(prepare(), ElementsAre(due)) << "and so it is not lost";
  EXPECT_THAT(prepare(), ElementsAre(due)) << "the same twice is legal";
  EXPECT_EQ(snapshot(2)[0].preparedOffset, 1);
  EXPECT_THAT(prepare(), IsEmpty());
  EXPECT_THAT(writer_->takeCommittables(), IsEmpty()) << "of no prepare";
}

// docs/decisions/0017: a host that prepares with rows on their way commits those that have landed.
TEST_F(BufferedStreamWriterTest, OnlyLandedRowsAreSpokenOf) {
  start();
  sendEach({"a", "b", "c"});
  acknowledge(0);
  writer_->beginPrepareCommit();
  const auto committables = writer_->takeCommittables();
  ASSERT_EQ(committables.size(), 1U);
  EXPECT_EQ(decodeCommittable(committables[0])->flushOffset, 0);
  EXPECT_EQ(snapshot(1)[0].nextOffset, 1);
  acknowledge(1);
  EXPECT_EQ(snapshot(2)[0].nextOffset, 2);
}

TEST_F(BufferedStreamWriterTest, NothingWrittenIsNothingToCommitAndNoState) {
  start();
  flush();
  EXPECT_THAT(prepare(), IsEmpty());
  EXPECT_THAT(snapshot(1), IsEmpty());
  EXPECT_THAT(streams_->created, IsEmpty());
}

// Scenario 3, BQW-021
TEST_F(BufferedStreamWriterTest, SkippedRecordsMakeNoStream) {
  start();
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  writer_->beginRow(first_);
  writer_->discardRow();
  flush();
  EXPECT_THAT(streams_->created, IsEmpty());
  EXPECT_EQ(counter("recordsSkipped"), 1U);
}

// BQW-100: each destination has a stream and a connection of its own.
TEST_F(BufferedStreamWriterTest, EachDestinationHasItsOwnStreamAndConnection) {
  start();
  const auto second = add("t2");
  write(first_, "a");
  write(second, "b");
  writer_->beginFlush(false);
  streams_->answerCreation();
  streams_->answerCreation();
  poll();
  ASSERT_EQ(calls_->calls.size(), 2U);
  EXPECT_THAT(requestsOf(0), ElementsAre(Request{streamOf("t1", 1), 0, {"a"}}));
  EXPECT_THAT(requestsOf(1), ElementsAre(Request{streamOf("t2", 2), 0, {"b"}}));
  EXPECT_EQ(pool_->connectionCount(), 2U);
}

// BQW-023
TEST_F(BufferedStreamWriterTest, ARowThatNoRequestCanHoldIsRoutedUnsent) {
  start();
  const std::string huge((size_t{9} << 20) + 1, 'x');
  write(first_, huge);
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].payload, huge);
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U);
  EXPECT_THAT(streams_->created, IsEmpty());
}

// BQW-103
TEST_F(BufferedStreamWriterTest, AnAnswerForAnotherOffsetFailsTheJob) {
  start();
  sendEach({"a"});
  acknowledge(5);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("offset 5"));
  EXPECT_THAT(failure(), HasSubstr("p.d.t1"));
}

// BQW-090, BQW-091: only what the last checkpoint speaks of as it is.
TEST_F(BufferedStreamWriterTest, AnIdleStreamIsForgottenOnlyWhenItIsClean) {
  start();
  sendEach({"a"});
  acknowledge(0);
  flush();
  clock_.advance(hours(2));
  flush();
  EXPECT_EQ(pool_->connectionCount(), 1U) << "no checkpoint has covered the row";
  prepare();
  snapshot(1);
  clock_.advance(hours(2));
  flush();
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_THAT(snapshot(2), IsEmpty());
  EXPECT_THAT(prepare(), IsEmpty());
  sendEach({"b"});
  EXPECT_EQ(streams_->created.size(), 2U) << "a later row makes a new stream";
  EXPECT_THAT(requests(), ElementsAre(Request{streamOf("t1", 2), 0, {"b"}}));
}

// BQW-090: at the end of the input nothing is forgotten.
TEST_F(BufferedStreamWriterTest, TheEndOfTheInputForgetsNothing) {
  start();
  sendEach({"a"});
  acknowledge(0);
  flush();
  prepare();
  snapshot(1);
  clock_.advance(hours(2));
  writer_->beginFlush(true);
  answerAll();
  EXPECT_EQ(snapshot(2).size(), 1U);
}

// BQW-163: the same stream, at the same offset, with the new columns.
TEST_F(BufferedStreamWriterTest, OtherColumnsGoOnAtTheSameOffset) {
  start();
  sendEach({"a"});
  writer_->changeSchema(first_,
                        TableSchema{{{"c", ColumnType::kString}, {"n", ColumnType::kInt64}}}, {});
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "the old row is awaited";
  acknowledge(0);
  poll();
  answerAll();
  sendEach({"b"});
  ASSERT_EQ(calls_->calls.size(), 2U) << "a connection that says the new columns";
  EXPECT_TRUE(calls_->calls[0]->cancelled);
  EXPECT_THAT(requests(), ElementsAre(Request{streamOf("t1", 1), 1, {"b"}}));
  EXPECT_EQ(streams_->created.size(), 1U);
}

// BQW-160, BQW-161: no answer says that rows leave out a REQUIRED column.
TEST_F(BufferedStreamWriterTest, ATableWhoseModesMayBeRelaxedIsLookedAtFirst) {
  options_.schemaUpdateOptions.allowFieldRelaxation = true;
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  ASSERT_EQ(admin_->reads.size(), 1U);
  EXPECT_THAT(streams_->created, IsEmpty());
  TableSchema strict{{{"c", ColumnType::kString}}};
  strict.columns[0].mode = ColumnMode::kRequired;
  admin_->answerTable(strict, "etag");
  poll();
  ASSERT_EQ(admin_->updates.size(), 1U);
  admin_->answerUpdate({});
  poll();
  ASSERT_EQ(streams_->creations.size(), 1U);
  streams_->answerCreation();
  poll();
  EXPECT_EQ(requests().size(), 1U);
  EXPECT_EQ(admin_->read.size(), 1U) << "once";
}

// The same of a table that is not there: it is created with its stream.
TEST_F(BufferedStreamWriterTest, AMissingTableNeedsNoRelaxing) {
  options_.schemaUpdateOptions.allowFieldRelaxation = true;
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  admin_->refuseTable({absl::NotFoundError("no table"), 404, "notFound"});
  poll();
  EXPECT_EQ(streams_->creations.size(), 1U);
}

// BQW-151: the table is created when the stream cannot be made, once, and waited for.
TEST_F(BufferedStreamWriterTest, AMissingTableIsCreatedAndThenWaitedFor) {
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  streams_->refuseCreation(StatusCode::kPermissionDenied);
  poll();
  ASSERT_EQ(admin_->created.size(), 1U);
  EXPECT_EQ(admin_->created[0].first, tableNamed("t1"));
  admin_->answerCreation({});
  poll();
  ASSERT_EQ(streams_->created.size(), 2U);
  streams_->refuseCreation(StatusCode::kNotFound);  // not everywhere known yet
  passToTimer();
  streams_->refuseCreation(StatusCode::kUnavailable);
  passToTimer();
  ASSERT_EQ(streams_->creations.size(), 1U);
  EXPECT_EQ(admin_->created.size(), 1U) << "once";
  streams_->answerCreation();
  poll();
  EXPECT_EQ(requests().size(), 1U);
}

// BQW-152: passing refusals of the creation are tried again, and someone else's creation is as
// good.
TEST_F(BufferedStreamWriterTest, TheCreationIsTriedAgainWhileItPasses) {
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  streams_->refuseCreation(StatusCode::kNotFound);
  poll();
  admin_->answerCreation({absl::PermissionDeniedError("slow down"), 403, "rateLimitExceeded"});
  passToTimer();
  ASSERT_EQ(admin_->created.size(), 2U);
  admin_->answerCreation({absl::AlreadyExistsError("there"), 409, "duplicate"});
  poll();
  EXPECT_EQ(streams_->created.size(), 2U);
}

// BQW-152, BQW-153: anything else fails at once, with what began it.
TEST_F(BufferedStreamWriterTest, ACreationThatIsDeniedFailsWithBothVerdicts) {
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  streams_->refuseCreation(StatusCode::kNotFound);
  poll();
  admin_->answerCreation({absl::PermissionDeniedError("no"), 403, "accessDenied"});
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("tables.insert"));
  EXPECT_THAT(failure(), HasSubstr("NOT_FOUND"));
}

// BQW-154
TEST_F(BufferedStreamWriterTest, CreateNeverFailsAtOnce) {
  options_.createDisposition = CreateDisposition::kCreateNever;
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  streams_->refuseCreation(StatusCode::kNotFound);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("CREATE_NEVER"));
  EXPECT_THAT(failure(), HasSubstr("CreateWriteStream"));
  EXPECT_THAT(admin_->created, IsEmpty());
}

// Section 6: what passes at CreateWriteStream is tried again, within the recovery schedule.
TEST_F(BufferedStreamWriterTest, AStreamThatCannotBeMadeForLongFailsTheJob) {
  start();
  write(first_, "a");
  writer_->beginFlush(false);
  const base::MonotonicTime begin = clock_.now();
  for (int attempt = 1; attempt < 10; ++attempt) {
    streams_->refuseCreation(StatusCode::kUnavailable);
    passToTimer();
  }
  streams_->refuseCreation(StatusCode::kUnavailable);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_GT(clock_.now() - begin, seconds(40));
  EXPECT_THAT(failure(), HasSubstr("attempt 10"));
}

// BQW-060: streams are made sixteen at a time, so that a thousand tables do not wait for each
// other.
TEST_F(BufferedStreamWriterTest, ManyStreamsAreMadeAFewAtATime) {
  start();
  std::vector<connector::DestinationId> ids = {first_};
  for (int table = 2; table <= 100; ++table) ids.push_back(add("t" + std::to_string(table)));
  for (const auto id : ids) write(id, "row");
  writer_->beginFlush(false);
  for (int table = 0; table < 100; ++table) {
    EXPECT_LE(streams_->creations.size(), BufferedStreamWriter::kMostCreations);
    streams_->answerCreation();
    poll();
  }
  EXPECT_EQ(streams_->created.size(), 100U);
  EXPECT_EQ(calls_->calls.size(), 100U);
}

TEST_F(BufferedStreamWriterTest, CancellingEndsAFlushPromptly) {
  start();
  sendEach({"a"});
  writer_->cancel();
  writer_->waitForEvent(base::kNever);
  EXPECT_EQ(poll().status.code(), StatusCode::kCancelled);
}

// BQW-004: nothing is sent, no stream is finalized (StreamAdmin cannot), gauges read 0.
TEST_F(BufferedStreamWriterTest, ClosingLetsGoOfEverything) {
  start();
  sendEach({"a", "b"});
  writer_->beginClose();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(gauge("inFlightAppends"), 0);
  EXPECT_EQ(gauge("bufferedBytes"), 0);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_THAT(snapshot(1).size(), 1U);
}

}  // namespace
}  // namespace penstock::bigquery
