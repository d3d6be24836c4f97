#include "penstock/connector/blocking_committer.h"

namespace penstock::connector {

absl::Status BlockingCommitter::commit(std::span<const Committable> committables) {
  core_->beginCommit(committables);
  return finishOperation();
}

absl::Status BlockingCommitter::close() {
  core_->beginClose();
  return finishOperation();
}

absl::Status BlockingCommitter::finishOperation() {
  while (true) {
    const Progress progress = core_->poll();
    switch (progress.state) {
      case Progress::State::kDone:
        return absl::OkStatus();
      case Progress::State::kFailed:
        return progress.status;
      case Progress::State::kPending:
        core_->waitForEvent(progress.wakeAt);
        break;
      case Progress::State::kNeedsHost:
        return absl::InternalError("a committer has no questions for its host");
    }
  }
}

}  // namespace penstock::connector
