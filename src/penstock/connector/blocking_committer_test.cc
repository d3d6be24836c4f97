#include "penstock/connector/blocking_committer.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

namespace penstock::connector {
namespace {

using testing::ElementsAre;
using State = Progress::State;

/// A core that answers poll from a script and notes what it is told.
class ScriptedCommitter final : public CommitterCore {
 public:
  explicit ScriptedCommitter(std::vector<std::string>& log) : log_(log) {}
  void beginCommit(std::span<const Committable> committables) override {
    for (const Committable& committable : committables) {
      log_.push_back("commit " + committable.bytes);
    }
  }
  void beginClose() override { log_.push_back("close"); }
  Progress poll() override {
    if (polls.empty()) return {};
    Progress progress = polls.front();
    polls.pop_front();
    return progress;
  }
  void cancel() override { log_.push_back("cancel"); }
  void waitForEvent(base::MonotonicTime until) override {
    log_.push_back(until == base::kNever ? "wait" : "wait until");
  }

  std::deque<Progress> polls;

 private:
  std::vector<std::string>& log_;
};

class BlockingCommitterTest : public ::testing::Test {
 protected:
  void will(State state, absl::Status status = absl::OkStatus()) {
    Progress progress;
    progress.state = state;
    progress.status = std::move(status);
    core_->polls.push_back(progress);
  }

  std::vector<std::string> log_;
  ScriptedCommitter* core_ = new ScriptedCommitter(log_);
  BlockingCommitter committer_{std::unique_ptr<CommitterCore>(core_)};
};

TEST_F(BlockingCommitterTest, WaitsUntilEverythingIsCommitted) {
  will(State::kPending);
  core_->polls.back().wakeAt = base::MonotonicTime{};
  will(State::kPending);
  core_->polls.back().wakeAt = base::kNever;
  will(State::kDone);
  const std::vector<Committable> committables = {{"a"}, {"b"}};
  EXPECT_TRUE(committer_.commit(committables).ok());
  EXPECT_THAT(log_, ElementsAre("commit a", "commit b", "wait until", "wait"));
}

TEST_F(BlockingCommitterTest, ReturnsTheFirstFailure) {
  will(State::kPending);
  will(State::kFailed, absl::NotFoundError("no such stream"));
  EXPECT_EQ(committer_.commit({}), absl::NotFoundError("no such stream"));
}

TEST_F(BlockingCommitterTest, ClosesAndCancels) {
  committer_.cancel();
  EXPECT_TRUE(committer_.close().ok());
  EXPECT_THAT(log_, ElementsAre("cancel", "close"));
}

}  // namespace
}  // namespace penstock::connector
