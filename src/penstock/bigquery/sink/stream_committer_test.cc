#include "penstock/bigquery/sink/stream_committer.h"

#include <gmock/gmock.h>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/sink/exactly_once_state.h"
#include "penstock/bigquery/sink/testing/scripted_streams.h"

namespace penstock::bigquery {
namespace {

using absl::StatusCode;
using connector::Committable;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using ProgressState = connector::Progress::State;

std::string streamOf(int table) {
  return TableName{"p", "d", "t" + std::to_string(table)}.resource() + "/streams/s";
}

class StreamCommitterTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.writeMethod = WriteMethod::kStorageApiExactlyOnce;
    options_.bufferedStreamOptions.emplace();
    start();
  }
  void start() {
    auto committer = StreamCommitter::create(
        options_, {.streams = streams_, .clock = &clock_, .random = base::seededRandom(1)});
    ASSERT_TRUE(committer.ok()) << base::describe(committer.status());
    committer_ = *std::move(committer);
  }
  void commit(const std::vector<StreamCommittable>& committables) {
    std::vector<Committable> bytes;
    for (const StreamCommittable& one : committables) bytes.push_back(encodeCommittable(one));
    committer_->beginCommit(bytes);
  }
  ProgressState poll() { return committer_->poll().state; }
  std::string failure() { return base::describe(committer_->poll().status); }
  /// Until the next timer.
  void passBackoff() {
    clock_.advanceTo(committer_->poll().wakeAt);
    committer_->poll();
  }

  base::ManualClock clock_;
  SinkOptions options_;
  std::shared_ptr<ScriptedStreams> streams_ = std::make_shared<ScriptedStreams>();
  std::unique_ptr<StreamCommitter> committer_;
};

// BQW-120
TEST_F(StreamCommitterTest, FlushesToTheInclusiveOffset) {
  commit({{streamOf(1), 41, 0}});
  ASSERT_EQ(streams_->flushes.size(), 1U);
  EXPECT_EQ(streams_->flushes[0].stream, streamOf(1));
  EXPECT_EQ(streams_->flushes[0].offset, 41);
  EXPECT_EQ(poll(), ProgressState::kPending);
  streams_->answerFlush(0);
  EXPECT_EQ(poll(), ProgressState::kDone);
  EXPECT_EQ(streams_->flushes.size(), 1U);
}

TEST_F(StreamCommitterTest, NothingToCommitIsDoneAtOnce) {
  commit({});
  EXPECT_EQ(poll(), ProgressState::kDone);
  commit({{streamOf(1), 0, 0}});
  EXPECT_EQ(poll(), ProgressState::kPending) << "and the next commit begins as the first";
}

// BQW-120: the same committable twice, and those of a checkpoint that was given up (BQW-110).
TEST_F(StreamCommitterTest, SeveralOfOneStreamAreOneRequestForTheHighest) {
  commit({{streamOf(1), 9, 0}, {streamOf(2), 5, 0}, {streamOf(1), 20, 1}, {streamOf(1), 9, 0}});
  ASSERT_EQ(streams_->flushes.size(), 2U);
  EXPECT_EQ(streams_->flushes[0].offset, 20);
  EXPECT_EQ(streams_->flushes[1].offset, 5);
}

// BQW-120
TEST_F(StreamCommitterTest, ThirtyTwoStreamsAreFlushedAtATime) {
  std::vector<StreamCommittable> committables;
  for (int table = 0; table < 100; ++table) committables.push_back({streamOf(table), 1, 0});
  commit(committables);
  EXPECT_EQ(streams_->openFlushes(), 32U);
  for (size_t index = 0; index < 100; ++index) {
    ASSERT_LT(index, streams_->flushes.size());
    EXPECT_LE(streams_->openFlushes(), 32U);
    EXPECT_EQ(poll(), ProgressState::kPending);
    streams_->answerFlush(index);
    EXPECT_EQ(poll(), index == 99 ? ProgressState::kDone : ProgressState::kPending);
  }
  EXPECT_EQ(streams_->flushes.size(), 100U);
}

// BQW-121: as a storage error or as a bare code.
TEST_F(StreamCommitterTest, FlushedBeforeIsASuccess) {
  commit({{streamOf(1), 1, 0}, {streamOf(2), 1, 0}});
  streams_->refuseFlush(0, StatusCode::kAlreadyExists);
  streams_->refuseFlush(1, StatusCode::kAlreadyExists, StorageErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(poll(), ProgressState::kDone);
}

// BQW-122: the recovery schedule, of each committable by itself.
TEST_F(StreamCommitterTest, TriesAgainWhatPasses) {
  commit({{streamOf(1), 1, 0}, {streamOf(2), 1, 0}});
  streams_->refuseFlush(0, StatusCode::kUnavailable);
  const auto progress = committer_->poll();
  EXPECT_EQ(progress.state, ProgressState::kPending);
  EXPECT_GE(progress.wakeAt - clock_.now(), milliseconds(375));
  EXPECT_LE(progress.wakeAt - clock_.now(), milliseconds(625));
  streams_->answerFlush(1);
  passBackoff();
  ASSERT_EQ(streams_->flushes.size(), 3U);
  EXPECT_EQ(streams_->flushes[2].stream, streamOf(1));
  // The answer to the first try was lost, its flush was not.
  streams_->refuseFlush(2, StatusCode::kAlreadyExists);
  EXPECT_EQ(poll(), ProgressState::kDone);
}

// BQW-122
TEST_F(StreamCommitterTest, EveryPassingCodeIsTriedAgain) {
  for (const StatusCode code :
       {StatusCode::kUnavailable, StatusCode::kAborted, StatusCode::kInternal,
        StatusCode::kCancelled, StatusCode::kDeadlineExceeded, StatusCode::kResourceExhausted,
        StatusCode::kUnknown}) {
    start();
    streams_->flushes.clear();
    commit({{streamOf(1), 1, 0}});
    streams_->refuseFlush(0, code);
    passBackoff();
    EXPECT_EQ(streams_->flushes.size(), 2U) << base::codeName(code);
  }
}

// BQW-122
TEST_F(StreamCommitterTest, GivesUpAfterTheLastAttemptAndSaysSo) {
  const base::MonotonicTime begin = clock_.now();
  commit({{streamOf(1), 7, 0}});
  for (size_t attempt = 0; attempt < 9; ++attempt) {
    streams_->refuseFlush(attempt, StatusCode::kUnavailable);
    passBackoff();
  }
  ASSERT_EQ(streams_->flushes.size(), 10U);
  streams_->refuseFlush(9, StatusCode::kUnavailable);
  EXPECT_EQ(poll(), ProgressState::kFailed);
  EXPECT_GT(clock_.now() - begin, seconds(55) * 3 / 4);
  EXPECT_THAT(failure(), HasSubstr("UNAVAILABLE"));
  EXPECT_THAT(failure(), HasSubstr("up to offset 7 of " + streamOf(1)));
  EXPECT_THAT(failure(), HasSubstr("attempt 10 of 10"));
}

// BQW-122: only the masked denial of a table that may just have been created is waited out.
TEST_F(StreamCommitterTest, ADenialIsWaitedOutOnlyIfTablesAreCreated) {
  commit({{streamOf(1), 1, 0}});
  streams_->refuseFlush(0, StatusCode::kPermissionDenied);
  passBackoff();
  ASSERT_EQ(streams_->flushes.size(), 2U);
  streams_->answerFlush(1);
  EXPECT_EQ(poll(), ProgressState::kDone);

  options_.createDisposition = CreateDisposition::kCreateNever;
  start();
  commit({{streamOf(1), 1, 0}});
  streams_->refuseFlush(2, StatusCode::kPermissionDenied);
  EXPECT_EQ(poll(), ProgressState::kFailed);
}

// BQW-122, section 6 of the specification: what fails the job at once.
TEST_F(StreamCommitterTest, OtherErrorsAreFinalAtOnce) {
  const std::pair<StatusCode, StorageErrorCode> errors[] = {
      {StatusCode::kNotFound, StorageErrorCode::kNone},
      {StatusCode::kNotFound, StorageErrorCode::kStreamNotFound},
      {StatusCode::kInvalidArgument, StorageErrorCode::kStreamFinalized},
      {StatusCode::kOutOfRange, StorageErrorCode::kOffsetOutOfRange},
      {StatusCode::kInvalidArgument, StorageErrorCode::kNone},
      {StatusCode::kUnauthenticated, StorageErrorCode::kNone}};
  for (const auto& [code, storage] : errors) {
    start();
    streams_->flushes.clear();
    commit({{streamOf(1), 1, 0}});
    streams_->refuseFlush(0, code, storage);
    EXPECT_EQ(poll(), ProgressState::kFailed) << base::codeName(code);
    EXPECT_EQ(streams_->flushes.size(), 1U);
  }
}

// BQW-123
TEST_F(StreamCommitterTest, AnAnswerForAnotherOffsetFails) {
  commit({{streamOf(1), 5, 0}});
  streams_->answerFlush(0, 4);
  EXPECT_EQ(poll(), ProgressState::kFailed);
  EXPECT_THAT(failure(), HasSubstr("flushed up to 4"));
}

// BQW-120: as much as possible becomes visible before the job fails, and the first error is told.
TEST_F(StreamCommitterTest, WaitsForTheOthersBeforeItFails) {
  commit({{streamOf(1), 1, 0}, {streamOf(2), 1, 0}, {streamOf(3), 1, 0}});
  streams_->refuseFlush(1, StatusCode::kNotFound);
  EXPECT_EQ(poll(), ProgressState::kPending);
  streams_->refuseFlush(2, StatusCode::kUnavailable);
  EXPECT_EQ(poll(), ProgressState::kPending);
  streams_->answerFlush(0);
  passBackoff();
  streams_->answerFlush(3);
  EXPECT_EQ(poll(), ProgressState::kFailed);
  EXPECT_THAT(failure(), HasSubstr(streamOf(2)));
  EXPECT_THAT(failure(), HasSubstr("NOT_FOUND"));
  // And takes nothing more.
  commit({{streamOf(1), 2, 0}});
  EXPECT_EQ(streams_->flushes.size(), 4U);
  EXPECT_EQ(poll(), ProgressState::kFailed);
}

TEST_F(StreamCommitterTest, BytesThatAreNoCommittableFailBeforeAnythingIsSent) {
  const std::vector<Committable> bytes = {encodeCommittable({streamOf(1), 1, 0}), {"garbage"}};
  committer_->beginCommit(bytes);
  EXPECT_EQ(poll(), ProgressState::kFailed);
  EXPECT_TRUE(streams_->flushes.empty());
}

TEST_F(StreamCommitterTest, CancellingEndsItPromptly) {
  commit({{streamOf(1), 1, 0}});
  committer_->cancel();
  committer_->waitForEvent(base::kNever);
  EXPECT_EQ(poll(), ProgressState::kFailed);
  EXPECT_EQ(committer_->poll().status.code(), StatusCode::kCancelled);
}

TEST_F(StreamCommitterTest, AnswersAfterItsEndFindNobody) {
  commit({{streamOf(1), 1, 0}});
  committer_->beginClose();
  EXPECT_EQ(poll(), ProgressState::kDone);
  committer_.reset();
  streams_->answerFlush(0);
}

}  // namespace
}  // namespace penstock::bigquery
