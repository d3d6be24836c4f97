#include "penstock/connector/blocking_driver.h"

#include <gmock/gmock.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace penstock::connector {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using State = Progress::State;

/// A core that answers poll from a script and notes what it is told.
class ScriptedCore final : public WriterCore {
 public:
  Admission admit(DestinationId) override {
    if (admissions.empty()) return Admission::kAccepted;
    const Admission next = admissions.front();
    admissions.pop_front();
    return next;
  }
  RowEncoder& beginRow(DestinationId) override { return batch.beginRow(); }
  void commitRow(RowOrigin origin) override { batch.commitRow(origin); }
  void discardRow() override { batch.discardRow(); }
  void failRow(FailedRecord) override {}
  void beginFlush(bool endOfInput) override { log.push_back(endOfInput ? "flush end" : "flush"); }
  void beginPrepareCommit() override { log.push_back("prepare"); }
  std::vector<Committable> takeCommittables() override { return {}; }
  std::vector<WriterState> snapshotState(CheckpointId) override { return {}; }
  void beginClose() override { log.push_back("close"); }
  Progress poll() override {
    Progress progress;
    if (polls.empty()) return progress;
    progress = polls.front();
    polls.pop_front();
    return progress;
  }
  std::span<const Question> questions() override { return open; }
  void answer(QuestionId, Answer answer) override {
    answers.push_back(answer.status);
    open.erase(open.begin());
  }
  void cancel() override {}
  void waitForEvent(base::MonotonicTime) override { log.push_back("wait"); }

  void will(State state, absl::Status status = absl::OkStatus()) {
    Progress progress;
    progress.state = state;
    progress.status = std::move(status);
    polls.push_back(progress);
  }
  void ask(Question::Kind kind, int failures) {
    Question question;
    question.kind = kind;
    question.failures.resize(static_cast<size_t>(failures));
    open.push_back(std::move(question));
  }

  RowBatch batch;
  std::deque<Admission> admissions;
  std::deque<Progress> polls;
  std::vector<Question> open;
  std::vector<absl::Status> answers;
  std::vector<std::string> log;
};

class Handler final : public FailureHandler {
 public:
  absl::Status handle(const FailedRecord&) override {
    ++handled;
    if (throwing) throw std::runtime_error("boom");
    return verdict;
  }
  absl::Status flush() override {
    ++flushed;
    return verdict;
  }
  absl::Status close() override { return closing; }

  int handled = 0;
  int flushed = 0;
  bool throwing = false;
  absl::Status verdict;
  absl::Status closing;
};

class BlockingDriverTest : public testing::Test {
 protected:
  ScriptedCore core_;
  Handler handler_;
  BlockingDriver driver_{core_, handler_};
};

TEST_F(BlockingDriverTest, AFlushWaitsOnlyWhileThereIsNothingToDo) {
  core_.ask(Question::Kind::kFailedRecords, 2);
  core_.will(State::kNeedsHost);
  core_.will(State::kPending);
  core_.will(State::kDone);
  EXPECT_TRUE(driver_.flush(true).ok());
  EXPECT_THAT(core_.log, ElementsAre("flush end", "wait"));
  EXPECT_EQ(handler_.handled, 2);
}

// BASE-011
TEST_F(BlockingDriverTest, TheHandlersVerdictIsTheAnswer) {
  core_.ask(Question::Kind::kFailedRecords, 1);
  core_.ask(Question::Kind::kFlushHandler, 0);
  handler_.verdict = absl::DataLossError("no");
  driver_.answerQuestions();
  ASSERT_EQ(core_.answers.size(), 2U);
  EXPECT_EQ(core_.answers[0].code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(handler_.flushed, 1);
}

// BASE-018
TEST_F(BlockingDriverTest, WhatAHandlerThrowsBecomesAnError) {
  core_.ask(Question::Kind::kFailedRecords, 1);
  handler_.throwing = true;
  driver_.answerQuestions();
  ASSERT_EQ(core_.answers.size(), 1U);
  EXPECT_THAT(std::string(base::messageOf(core_.answers[0])), HasSubstr("boom"));
}

// BASE-019
TEST_F(BlockingDriverTest, ConfirmedFailuresAreHandedOverEvenWhenTheWriterHasFailed) {
  core_.ask(Question::Kind::kFailedRecords, 1);
  core_.will(State::kFailed, absl::UnavailableError("down"));
  EXPECT_EQ(driver_.flush(false).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(handler_.handled, 1);
}

TEST_F(BlockingDriverTest, AdmissionWaitsUntilThereIsRoomOrAnError) {
  core_.admissions = {Admission::kWouldWait, Admission::kWouldWait, Admission::kAccepted};
  EXPECT_TRUE(driver_.admit(DestinationId{0}).ok());
  EXPECT_THAT(core_.log, ElementsAre("wait"));

  core_.admissions = {Admission::kFailed};
  core_.will(State::kFailed, absl::AbortedError("captured"));
  EXPECT_EQ(driver_.admit(DestinationId{0}).code(), absl::StatusCode::kAborted);
}

// BASE-025
TEST_F(BlockingDriverTest, CloseClosesTheHandlerWhateverTheCoreSays) {
  core_.will(State::kFailed, absl::InternalError("first"));
  handler_.closing = absl::UnknownError("second");
  EXPECT_EQ(driver_.close().code(), absl::StatusCode::kInternal);
  core_.polls.clear();
  EXPECT_EQ(driver_.close().code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace penstock::connector
