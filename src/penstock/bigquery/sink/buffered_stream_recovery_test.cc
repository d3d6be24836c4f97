#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/buffered_writer_fixture.h"

namespace penstock::bigquery {
namespace {

using absl::StatusCode;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What becomes of appends that fail, under the exactly-once rows of the error table.
class BufferedStreamRecoveryTest : public BufferedWriterTest {
 protected:
  const std::string stream_ = streamOf("t1", 1);
  /// Everything has landed and the flush is done.
  void expectDone() {
    answerAll();
    EXPECT_EQ(poll().state, State::kDone);
    EXPECT_EQ(gauge("inFlightAppends"), 0);
  }
  /// The connection breaks; on another one what was not answered is sent again.
  void loseTheAnswer() {
    call().end(StatusCode::kUnavailable);
    passToTimer();
    writesLeave();
  }
  /// UNAVAILABLE, until the connection no longer sends the request again by itself.
  void refuseForGood(size_t behind) {
    for (int time = 0; time <= options_.bufferedStreamOptions->retryMaxAttempts; ++time) {
      refuse(StatusCode::kUnavailable);
      for (size_t i = 0; i < behind; ++i) refuseAsBeyond();
      writesLeave();
    }
  }
};

// BQW-104, BQW-105: resent one after another, at the same offsets.
TEST_F(BufferedStreamRecoveryTest, AFailedAppendAndThoseBehindItGoAgainInOrder) {
  start();
  sendEach({"a", "b", "c"});
  acknowledge(0);
  refuseForGood(1);
  EXPECT_EQ(requests().back(), (Request{stream_, 1, {"b"}}));
  EXPECT_EQ(poll().state, State::kPending);
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  acknowledge(1);
  EXPECT_EQ(requests().back(), (Request{stream_, 2, {"c"}}));
  acknowledge(2);
  expectDone();
  EXPECT_EQ(counter("appendRetries"), 2U);
  EXPECT_EQ(counter("numRecordsSend"), 3U) << "never again on a re-append";
  EXPECT_EQ(counter("errorClass.UNAVAILABLE.errors"), 1U);
  EXPECT_EQ(calls_->calls.size(), 1U);
  sendEach({"d"});
  EXPECT_EQ(requests().back(), (Request{stream_, 3, {"d"}}));
}

// BQW-102: its first transmission had landed.
TEST_F(BufferedStreamRecoveryTest, BeingThereAlreadyIsLandedForWhatWasSentTwice) {
  start();
  sendEach({"a", "b"});
  refuse(StatusCode::kUnavailable);  // the answer of a front end that had passed it on
  refuseAsBeyond();
  writesLeave();
  refuseAsThere();
  acknowledge(1);
  expectDone();
  EXPECT_EQ(counter("errorClass.ALREADY_EXISTS.errors"), 0U);
  EXPECT_EQ(prepare(), (std::vector<StreamCommittable>{{stream_, 1, 3}}));
}

// BQW-102, scenario 51: of a batch that was sent once, someone else has the offset.
TEST_F(BufferedStreamRecoveryTest, BeingThereAlreadyFailsTheJobForWhatWasSentOnce) {
  start();
  sendEach({"a"});
  refuseAsThere();
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("ALREADY_EXISTS"));
  EXPECT_THAT(failure(), HasSubstr("offset 0"));
}

// BQW-104: the connection is given up; a new one on the same stream.
TEST_F(BufferedStreamRecoveryTest, AConnectionThatIsGivenUpIsOpenedAnewOnTheSameStream) {
  start();
  sendEach({"a", "b"});
  clock_.advance(minutes(5));
  poll();
  EXPECT_TRUE(calls_->calls[0]->cancelled);
  ASSERT_EQ(calls_->calls.size(), 2U);
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}));
  refuseAsThere();  // it had landed; only the answer was lost
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}, Request{stream_, 1, {"b"}}));
  acknowledge(1);
  expectDone();
  EXPECT_EQ(streams_->created.size(), 1U);
}

// BQW-055: the connection heals by itself, and nobody notices.
TEST_F(BufferedStreamRecoveryTest, AReconnectionResendsAtTheSameOffsets) {
  start();
  sendEach({"a", "b"});
  call().end(StatusCode::kUnavailable);
  passToTimer();
  ASSERT_EQ(calls_->calls.size(), 2U);
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}, Request{stream_, 1, {"b"}}));
  refuseAsThere();
  acknowledge(1);
  expectDone();
  EXPECT_EQ(counter("appendRetries"), 0U);
}

// BQW-105, section 6: rows before the offset have gone missing for a while.
TEST_F(BufferedStreamRecoveryTest, AnOffsetBeyondTheEndIsTriedAgain) {
  start();
  sendEach({"a"});
  refuseAsBeyond();
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}, Request{stream_, 0, {"a"}}));
  refuseAsBeyond();
  passToTimer();
  EXPECT_EQ(requests().size(), 3U);
  acknowledge(0);
  expectDone();
}

// BQW-104: the recovery schedule, with the story told.
TEST_F(BufferedStreamRecoveryTest, GivesUpAfterTheLastAttempt) {
  start();
  sendEach({"a"});
  const base::MonotonicTime begin = clock_.now();
  for (int attempt = 0; attempt < 200 && poll().state != State::kFailed; ++attempt) {
    if (gauge("inFlightAppends") > 0) {
      refuse(StatusCode::kUnavailable);
      writesLeave();
    } else {
      passToTimer();
    }
  }
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_GT(clock_.now() - begin, seconds(40));
  EXPECT_THAT(failure(), HasSubstr("after 10 of 10 attempts"));
  EXPECT_EQ(counter("appendRetries"), 10U);
}

// Section 6: what fails the job at once.
TEST_F(BufferedStreamRecoveryTest, OtherErrorsFailTheJobAtOnce) {
  const std::pair<StatusCode, StorageErrorCode> errors[] = {
      {StatusCode::kInvalidArgument, StorageErrorCode::kStreamFinalized},
      {StatusCode::kNotFound, StorageErrorCode::kStreamNotFound},
      {StatusCode::kInvalidArgument, StorageErrorCode::kInvalidStreamState},
      {StatusCode::kPermissionDenied, StorageErrorCode::kNone},
      {StatusCode::kNotFound, StorageErrorCode::kNone},
      {StatusCode::kInvalidArgument, StorageErrorCode::kNone},
      {StatusCode::kInvalidArgument, StorageErrorCode::kSchemaMismatchExtraFields},
      {StatusCode::kUnauthenticated, StorageErrorCode::kNone}};
  for (const auto& [code, storage] : errors) {
    start();
    sendEach({"a"});
    refuse(code, storage);
    EXPECT_EQ(poll().state, State::kFailed) << base::codeName(code);
    EXPECT_THAT(failure(), HasSubstr("p.d.t1")) << base::codeName(code);
    EXPECT_THAT(admin_->created, IsEmpty());
  }
}

// BQW-106, BQW-107, scenario 44
TEST_F(BufferedStreamRecoveryTest, ARefusedRowShiftsTheOffsetsOfAllBehindIt) {
  options_.bufferedStreamOptions->maxAppendRequestBytes = 3;
  start();
  sendEach({"a", "X", "b", "c", "d", "e", "f"});  // abX | cde | f
  ASSERT_THAT(requests(),
              ElementsAre(Request{stream_, 0, {"a", "X", "b"}},
                          Request{stream_, 3, {"c", "d", "e"}}, Request{stream_, 6, {"f"}}));
  refuseRows({1});
  EXPECT_THAT(writer_->questions(), IsEmpty()) << "those behind are awaited first";
  refuseAsBeyond();
  refuseAsBeyond();
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].payload, "X");
  EXPECT_EQ(failures[0].errorMessage, "bad value 1");
  EXPECT_EQ(requests().back(), (Request{stream_, 0, {"a", "b"}}));
  acknowledge(0);
  EXPECT_EQ(requests().back(), (Request{stream_, 2, {"c", "d", "e"}}));
  acknowledge(2);
  EXPECT_EQ(requests().back(), (Request{stream_, 5, {"f"}}));
  acknowledge(5);
  expectDone();
  EXPECT_EQ(prepare(), (std::vector<StreamCommittable>{{stream_, 5, 3}}));
  EXPECT_EQ(counter("numRecordsSend"), 7U);
  EXPECT_EQ(counter("numRecordsSendErrors"), 1U);
  EXPECT_EQ(counter("errorClass.INVALID_ARGUMENT.errors"), 1U);
  EXPECT_EQ(counter("errorClass.OUT_OF_RANGE.errors"), 0U) << "cascades are not counted";
}

// BQW-106: a batch of which nothing is left.
TEST_F(BufferedStreamRecoveryTest, ABatchThatIsRefusedWholeLeavesNoGap) {
  start();
  sendEach({"X", "b"});
  refuseRows({0});
  refuseAsBeyond();
  EXPECT_EQ(answerAll().size(), 1U);
  EXPECT_EQ(requests().back(), (Request{stream_, 0, {"b"}}));
  acknowledge(0);
  expectDone();
  sendEach({"c"});
  EXPECT_EQ(requests().back(), (Request{stream_, 1, {"c"}}));
}

// BQW-106: the only row, refused; the stream stays empty and nothing is to be committed.
TEST_F(BufferedStreamRecoveryTest, AStreamOfWhichEverythingWasRefusedHasNothingToCommit) {
  start();
  sendEach({"X"});
  refuseRows({0});
  EXPECT_EQ(answerAll().size(), 1U);
  expectDone();
  EXPECT_THAT(prepare(), IsEmpty());
  EXPECT_EQ(snapshot(1)[0].nextOffset, 0);
}

// BQW-106: refused again during the replay, with further rows.
TEST_F(BufferedStreamRecoveryTest, MoreRowsMayBeRefusedDuringTheReplay) {
  options_.bufferedStreamOptions->maxAppendRequestBytes = 2;
  start();
  sendEach({"a", "X", "Y", "b"});
  refuseRows({1});
  refuseAsBeyond();
  EXPECT_EQ(answerAll().size(), 1U);
  acknowledge(0);
  EXPECT_EQ(requests().back(), (Request{stream_, 1, {"Y", "b"}}));
  refuseRows({0});
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].payload, "Y");
  EXPECT_EQ(requests().back(), (Request{stream_, 1, {"b"}}));
  acknowledge(1);
  expectDone();
  EXPECT_EQ(snapshot(1)[0].nextOffset, 2);
}

// BQW-106, scenario 45
TEST_F(BufferedStreamRecoveryTest, RowsTakenBehindRefusedOnesFailTheJob) {
  for (const bool there : {false, true}) {
    start();
    sendEach({"X", "b"});
    refuseRows({0});
    if (there) {
      refuseAsThere();
    } else {
      acknowledge(1);
    }
    EXPECT_EQ(poll().state, State::kFailed);
    EXPECT_THAT(failure(), HasSubstr("behind refused ones"));
  }
}

// BQW-107: the answer to what the replay sent was lost.
TEST_F(BufferedStreamRecoveryTest, WhatTheReplayItselfHasSentMayBeThereAlready) {
  start();
  sendEach({"X", "b", "c"});
  refuseRows({0});
  refuseAsBeyond();
  refuseAsBeyond();
  answerAll();
  EXPECT_EQ(requests().back(), (Request{stream_, 0, {"b"}}));
  loseTheAnswer();
  EXPECT_EQ(requests().back(), (Request{stream_, 0, {"b"}}));
  refuseAsThere();
  EXPECT_EQ(requests().back(), (Request{stream_, 1, {"c"}}));
  acknowledge(1);
  expectDone();
  EXPECT_EQ(counter("errorClass.ALREADY_EXISTS.errors"), 0U);
  EXPECT_EQ(snapshot(1)[0].nextOffset, 2);
}

// BQW-107: a copy of "c", at the offset that it had before, may have been taken instead of "b".
TEST_F(BufferedStreamRecoveryTest, NotIfSomethingElseMayHaveLandedThere) {
  start();
  sendEach({"X", "b", "c"});
  refuseRows({0});
  refuseAsBeyond();
  loseTheAnswer();  // nobody knows what becomes of "c"
  refuseAsBeyond();
  answerAll();
  EXPECT_EQ(requests().back(), (Request{stream_, 0, {"b"}}));
  loseTheAnswer();
  refuseAsThere();
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("behind refused rows"));
}

// BQW-107, scenario 45: behind a refused row nothing else can be there already.
TEST_F(BufferedStreamRecoveryTest, OffsetErrorsDuringTheReplayFailTheJob) {
  for (const bool there : {false, true}) {
    start();
    sendEach({"X", "b"});
    refuseRows({0});
    refuseAsBeyond();
    answerAll();
    const auto before = counter("errorClass.ALREADY_EXISTS.errors");
    if (there) {
      refuseAsThere();
      EXPECT_EQ(counter("errorClass.ALREADY_EXISTS.errors"), before + 1);
    } else {
      refuseAsBeyond();
    }
    EXPECT_EQ(poll().state, State::kFailed);
    EXPECT_THAT(failure(), HasSubstr("behind refused rows"));
  }
}

// BQW-107: attempts count from anew with each batch that lands.
TEST_F(BufferedStreamRecoveryTest, TheReplayTriesAgainWhatPasses) {
  start();
  sendEach({"X", "b", "c"});
  refuseRows({0});
  refuseAsBeyond();
  refuseAsBeyond();
  answerAll();
  for (int64_t offset = 0; offset < 2; ++offset) {
    for (int attempt = 1; attempt < 10; ++attempt) {
      refuseForGood(0);
      passToTimer();
      writesLeave();
    }
    EXPECT_EQ(requests().back().offset, offset);
    acknowledge(offset);
  }
  expectDone();
}

// BQW-107, BQW-076: no row that is there is named.
TEST_F(BufferedStreamRecoveryTest, ARefusalThatNamesNoRowFailsTheJob) {
  start();
  sendEach({"a"});
  refuseRows({7});
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(counter("numRecordsSendErrors"), 0U);
}

// BQW-077: row details under a passing code are no verdict on the rows.
TEST_F(BufferedStreamRecoveryTest, RowErrorsUnderAPassingCodeAreTriedAgain) {
  start();
  sendEach({"a"});
  for (int time = 0; time < 2; ++time) {
    AppendResponse response;
    response.status = absl::UnavailableError("scripted");
    response.rowErrors.push_back({0, "never mind"});
    call().answer(std::move(response));
    writesLeave();
  }
  EXPECT_EQ(requests().back().offset, 0);
  acknowledge(0);
  expectDone();
  EXPECT_EQ(counter("numRecordsSendErrors"), 0U);
}

// BASE-011: the handler's refusal fails the job.
TEST_F(BufferedStreamRecoveryTest, TheHandlersErrorFailsTheJob) {
  start();
  sendEach({"X"});
  refuseRows({0});
  answerAll(absl::FailedPreconditionError("the handler says no"));
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("the handler says no"));
}

// BQW-104: other destinations go on meanwhile.
TEST_F(BufferedStreamRecoveryTest, ARecoveryPausesOnlyItsDestination) {
  start();
  const auto other = add("t2");
  write(first_, "a");
  write(first_, "b");
  streams_->answerCreation();
  poll();
  writesLeave();
  refuseForGood(0);
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  EXPECT_EQ(writer_->admit(other), Admission::kAccepted);
}

// BQW-104, BQW-105, BQW-160: columns that the table lacks are added, then waited for.
TEST_F(BufferedStreamRecoveryTest, ColumnsAreAddedOnceAndThenWaitedFor) {
  options_.schemaUpdateOptions.allowNewFields = true;
  start();
  sendEach({"a"});
  const auto mismatch = StorageErrorCode::kSchemaMismatchExtraFields;
  refuse(StatusCode::kInvalidArgument, mismatch);
  ASSERT_EQ(admin_->reads.size(), 1U);
  admin_->answerTable(TableSchema{{{"other", ColumnType::kString}}}, "etag");
  poll();
  admin_->answerUpdate({});
  poll();
  ASSERT_EQ(calls_->calls.size(), 2U) << "a connection that goes by the new columns";
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}));
  const base::MonotonicTime begin = clock_.now();
  refuse(StatusCode::kInvalidArgument, mismatch);
  passToTimer();
  EXPECT_GE(clock_.now() - begin, seconds(30) * 3 / 4);
  EXPECT_THAT(requests(), ElementsAre(Request{stream_, 0, {"a"}}));
  acknowledge(0);
  expectDone();
}

}  // namespace
}  // namespace penstock::bigquery
