#include "penstock/connector/blocking_driver.h"

#include <exception>
#include <utility>
#include <vector>

namespace penstock::connector {
namespace {

// What the caller's code throws must not cross our functions.
template <typename Call>
absl::Status guarded(const char* what, Call call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return base::makeStatus(absl::StatusCode::kUnknown, "{} threw: {}", what, error.what());
  } catch (...) {
    return base::makeStatus(absl::StatusCode::kUnknown, "{} threw", what);
  }
}

}  // namespace

void BlockingDriver::answerQuestions() {
  while (!core_.questions().empty()) {
    // Copied: the span is valid only until the next call of the core.
    const Question question = core_.questions().front();
    Answer answer;
    switch (question.kind) {
      case Question::Kind::kFailedRecords:
        for (const FailedRecord& failure : question.failures) {
          const absl::Status status =
              guarded("the failure handler's handle", [&] { return handler_.handle(failure); });
          if (answer.status.ok()) answer.status = status;
        }
        break;
      case Question::Kind::kFlushHandler:
        answer.status = guarded("the failure handler's flush", [&] { return handler_.flush(); });
        break;
      case Question::Kind::kCreateOptions:
      case Question::Kind::kNewSchema:
        if (!decide_) break;
        const absl::Status status = guarded("a provider", [&] {
          answer = decide_(question);
          return absl::OkStatus();
        });
        if (!status.ok()) answer.status = status;
        break;
    }
    core_.answer(question.id, std::move(answer));
  }
}

absl::Status BlockingDriver::step(Progress::State* state) {
  const Progress progress = core_.poll();
  *state = progress.state;
  if (progress.state == Progress::State::kFailed) {
    // A confirmed per-record failure is handed over even then (BASE-019).
    answerQuestions();
    return progress.status;
  }
  if (!core_.questions().empty()) {
    answerQuestions();
    return absl::OkStatus();
  }
  if (progress.state == Progress::State::kPending) core_.waitForEvent(progress.wakeAt);
  return absl::OkStatus();
}

absl::Status BlockingDriver::waitForAdmission(DestinationId destination) {
  for (;;) {
    const Progress progress = core_.poll();
    if (progress.state == Progress::State::kFailed) {
      answerQuestions();
      return progress.status;
    }
    if (!core_.questions().empty()) {
      answerQuestions();
    } else if (core_.admit(destination) == Admission::kAccepted) {
      return absl::OkStatus();
    } else {
      core_.waitForEvent(progress.wakeAt);
    }
  }
}

absl::Status BlockingDriver::finishOperation() {
  Progress::State state = Progress::State::kPending;
  while (state != Progress::State::kDone) PENSTOCK_RETURN_IF_ERROR(step(&state));
  return absl::OkStatus();
}

absl::Status BlockingDriver::flush(bool endOfInput) {
  core_.beginFlush(endOfInput);
  return finishOperation();
}

absl::Status BlockingDriver::prepareCommit() {
  core_.beginPrepareCommit();
  return finishOperation();
}

absl::Status BlockingDriver::close() {
  core_.beginClose();
  absl::Status first = finishOperation();
  const absl::Status handler =
      guarded("the failure handler's close", [&] { return handler_.close(); });
  return first.ok() ? handler : first;
}

}  // namespace penstock::connector
