#pragma once

#include <functional>
#include <utility>

#include "penstock/connector/failure.h"
#include "penstock/connector/writer_core.h"

namespace penstock::connector {

/// Drives a WriterCore for callers that may wait, and answers its questions: those about failed
/// records with a FailureHandler, the others with a function of the caller's.
/// Task thread only; `core` and `handler` outlive it.
class BlockingDriver {
 public:
  BlockingDriver(WriterCore& core, FailureHandler& handler) : core_(core), handler_(handler) {}

  /// Answers questions that are not about failed records; the default is an empty answer. May
  /// throw.
  void decideWith(std::function<Answer(const Question&)> decide) { decide_ = std::move(decide); }

  /// Waits until the destination takes a row. An error is the writer's captured one.
  absl::Status admit(DestinationId destination) {
    const Admission admission = core_.admit(destination);
    if (admission == Admission::kAccepted) return absl::OkStatus();
    return waitForAdmission(destination);
  }

  /// Answers whatever is open, at once.
  void answerQuestions();

  absl::Status flush(bool endOfInput);
  absl::Status prepareCommit();
  /// Closes the core, then the handler; both are attempted, the first error is returned (BASE-025).
  absl::Status close();

  /// One step: polls, answers, waits for an event if there was nothing else to do. The error is the
  /// writer's.
  absl::Status step(Progress::State* state);

 private:
  absl::Status waitForAdmission(DestinationId destination);
  absl::Status finishOperation();

  WriterCore& core_;
  FailureHandler& handler_;
  std::function<Answer(const Question&)> decide_;
};

}  // namespace penstock::connector
