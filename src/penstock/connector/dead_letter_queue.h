#pragma once

#include <memory>

#include "penstock/connector/failure.h"

namespace penstock::connector {

/// Where failed records are kept (BASE-013): a table, a topic, a file of one's own. Opened before
/// the first offer, closed with the sink. All calls come on the task thread; none may block
/// indefinitely. What is offered here again after a restart arrives twice; what does not fail again
/// is only sure to be here if a flush returned before (BASE-014).
class DeadLetterQueue {
 public:
  virtual ~DeadLetterQueue() = default;
  virtual absl::Status open(const FailureHandlerContext&) { return absl::OkStatus(); }
  /// May buffer.
  virtual absl::Status offer(const FailedRecord& failure) = 0;
  /// OK: everything offered before is durable.
  virtual absl::Status flush() = 0;
  /// Nothing is expected to become durable here.
  virtual absl::Status close() { return absl::OkStatus(); }
};

/// Keeps failed records in `queue` and lets the sink go on; what the queue refuses fails the job
/// (BASE-012).
[[nodiscard]] std::unique_ptr<FailureHandler> sendToDeadLetterQueue(
    std::unique_ptr<DeadLetterQueue> queue);

}  // namespace penstock::connector
