#include "penstock/connector/dead_letter_queue.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace penstock::connector {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes down what it is asked, and answers with `answer`.
class WritingQueue final : public DeadLetterQueue {
 public:
  WritingQueue(std::vector<std::string>& calls, const absl::Status& answer)
      : calls_(calls), answer_(answer) {}
  absl::Status open(const FailureHandlerContext& context) override {
    return note("open " + std::to_string(context.subtaskIndex));
  }
  absl::Status offer(const FailedRecord& failure) override {
    return note("offer " + failure.payload.value_or("nothing"));
  }
  absl::Status flush() override { return note("flush"); }
  absl::Status close() override { return note("close"); }

 private:
  absl::Status note(std::string call) {
    calls_.push_back(std::move(call));
    return answer_;
  }
  std::vector<std::string>& calls_;
  const absl::Status& answer_;
};

FailedRecord failure() {
  FailedRecord failure;
  failure.destination = "p.d.t";
  failure.payload = "row";
  failure.errorMessage = "too long";
  return failure;
}

// BASE-012, BASE-013
TEST(DeadLetterQueue, IsOpenedOfferedFlushedAndClosedAsTheHandlerIs) {
  std::vector<std::string> calls;
  const absl::Status fine;
  const auto handler = sendToDeadLetterQueue(std::make_unique<WritingQueue>(calls, fine));
  EXPECT_TRUE(handler->open({.subtaskIndex = 3}).ok());
  EXPECT_TRUE(handler->handle(failure()).ok()) << "the record is kept: the sink goes on";
  EXPECT_TRUE(handler->flush().ok());
  EXPECT_TRUE(handler->close().ok());
  EXPECT_THAT(calls, ElementsAre("open 3", "offer row", "flush", "close"));
}

// BASE-012, BASE-014: what the queue cannot keep is not let go.
TEST(DeadLetterQueue, ItsErrorsFailTheJob) {
  std::vector<std::string> calls;
  const absl::Status stuck = absl::UnavailableError("the disk is full");
  const auto handler = sendToDeadLetterQueue(std::make_unique<WritingQueue>(calls, stuck));
  const absl::Status status = handler->handle(failure());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  for (const char* part : {"the disk is full", "p.d.t", "too long"}) {
    EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr(part));
  }
  EXPECT_FALSE(handler->open({}).ok());
  EXPECT_FALSE(handler->flush().ok());
  EXPECT_FALSE(handler->close().ok());
}

}  // namespace
}  // namespace penstock::connector
