#include "penstock/connector/dead_letter_queue.h"

#include <utility>

namespace penstock::connector {
namespace {

/// Forwards all four calls.
class SendToDeadLetterQueue final : public FailureHandler {
 public:
  explicit SendToDeadLetterQueue(std::unique_ptr<DeadLetterQueue> queue)
      : queue_(std::move(queue)) {}
  absl::Status open(const FailureHandlerContext& context) override {
    return base::withContext(queue_->open(context), "cannot open the dead-letter queue");
  }
  absl::Status handle(const FailedRecord& failure) override {
    return base::withContext(queue_->offer(failure),
                             fmt::format("the dead-letter queue did not take a record for {} ({})",
                                         failure.destination, failure.errorMessage));
  }
  absl::Status flush() override {
    return base::withContext(queue_->flush(), "cannot flush the dead-letter queue");
  }
  absl::Status close() override {
    return base::withContext(queue_->close(), "cannot close the dead-letter queue");
  }

 private:
  std::unique_ptr<DeadLetterQueue> queue_;
};

}  // namespace

std::unique_ptr<FailureHandler> sendToDeadLetterQueue(std::unique_ptr<DeadLetterQueue> queue) {
  return std::make_unique<SendToDeadLetterQueue>(std::move(queue));
}

}  // namespace penstock::connector
