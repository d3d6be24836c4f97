#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "penstock/runtime/checkpoint_store.h"
#include "penstock/runtime/local_executor.h"
#include "penstock/runtime/testing/input_files.h"
#include "penstock/runtime/testing/ledger_sinks.h"
#include "penstock/runtime/testing/scripted_source.h"

namespace penstock::runtime {
namespace {

using testing::SizeIs;

TEST(LocalExecutor, ReadsEverySplitOnceWhateverTheParallelism) {
  for (const int parallelism : {1, 3, 16}) {
    Ledger ledger;
    ScriptedSource source(8, 200);
    LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(parallelism));
    const auto result = executor.run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->end, ExecutionResult::End::kFinished);
    EXPECT_EQ(result->statistics.recordsRead, 1600U);
    EXPECT_EQ(result->statistics.bytesRead, 16000U);
    EXPECT_EQ(result->statistics.checkpointsCompleted, 0U) << "there is no directory";
    EXPECT_EQ(ledger.settled(), onceEach(8, 200));
    const int subtasks = std::min(parallelism, 8);
    EXPECT_EQ(ledger.count("open"), subtasks);
    EXPECT_EQ(ledger.count("flush at end"), subtasks);
    EXPECT_EQ(ledger.count("close"), subtasks);
    EXPECT_EQ(ledger.count("cancel"), 0);
  }
}

TEST(LocalExecutor, FinishesAnEmptySource) {
  Ledger ledger;
  ScriptedSource source(0, 0);
  const auto result = LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(4)).run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, ExecutionResult::End::kFinished);
  EXPECT_EQ(ledger.count("open"), 1);
}

TEST(LocalExecutor, TakesCheckpointsWhileItReadsAndOneAtTheEnd) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(4, 100);
  source.pauseAfter(50);
  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(2, folder.path()));
  std::thread waiter([&] {
    // Both subtasks wait for input, each in its first split; checkpoints go on, and so do timers.
    EXPECT_TRUE(ledger.waitFor("flush", 6));
    EXPECT_TRUE(ledger.waitFor("poll", 6));
    EXPECT_EQ(executor.statistics().recordsRead, 100U);
    source.resume();
  });
  const auto result = executor.run();
  waiter.join();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ledger.settled(), onceEach(4, 100));
  EXPECT_GE(result->statistics.checkpointsCompleted, 3U);
  EXPECT_EQ(result->lastCheckpoint, static_cast<int64_t>(result->statistics.checkpointsCompleted));
  EXPECT_GT(result->statistics.lastCheckpointDuration.count(), 0);
  const auto newest = CheckpointStore::open(folder.path(), 3).value()->newest();
  ASSERT_TRUE(newest.ok());
  EXPECT_TRUE((*newest)->finished);
  EXPECT_EQ((*newest)->records, 400U);
  EXPECT_THAT((*newest)->splits, SizeIs(4));
}

TEST(LocalExecutor, LoadsNothingFromAFinishedDirectory) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(2, 10);
  ASSERT_TRUE(LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(2, folder.path()))
                  .run()
                  .ok());
  const auto again =
      LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(1, folder.path())).run();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->end, ExecutionResult::End::kAlreadyFinished);
  EXPECT_EQ(again->statistics.recordsRead, 0U);
  EXPECT_EQ(again->statistics.recordsRestored, 20U);
  EXPECT_EQ(again->statistics.bytesRestored, 200U);
  EXPECT_EQ(ledger.settled(), onceEach(2, 10));
  EXPECT_EQ(ledger.count("open"), 2) << "those of the first run";
}

TEST(LocalExecutor, StopsGracefullyAndContinuesWithAnotherParallelism) {
  for (const int secondParallelism : {1, 5}) {
    const TestFolder folder;
    Ledger ledger;
    ScriptedSource source(6, 100);
    source.pauseAfter(30);
    {
      LocalExecutorOptions options = optionsFor(3, folder.path());
      options.checkpointInterval = std::chrono::hours(1);
      LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), options);
      std::thread stopper([&] {
        EXPECT_TRUE(ledger.waitFor("write", 90));
        executor.requestStop();
      });
      const auto stopped = executor.run();
      stopper.join();
      ASSERT_TRUE(stopped.ok()) << stopped.status();
      EXPECT_EQ(stopped->end, ExecutionResult::End::kStopped);
      EXPECT_EQ(stopped->lastCheckpoint, 1);
      EXPECT_EQ(ledger.settled(), onceEach(3, 30)) << "what was read is flushed";
    }
    source.resume();
    LocalExecutor executor(source, factoryOf<BufferingSink>(ledger),
                           optionsFor(secondParallelism, folder.path()));
    const auto finished = executor.run();
    ASSERT_TRUE(finished.ok()) << finished.status();
    EXPECT_EQ(finished->end, ExecutionResult::End::kFinished);
    EXPECT_EQ(finished->restoredCheckpoint, 1);
    EXPECT_EQ(finished->statistics.recordsRestored, 90U);
    EXPECT_EQ(finished->statistics.recordsRead, 510U);
    EXPECT_EQ(ledger.settled(), onceEach(6, 100)) << "a graceful stop repeats nothing";
    for (const char* state : {"restored state 0", "restored state 1", "restored state 2"}) {
      EXPECT_EQ(ledger.count(state), 1) << "every writer state goes to one subtask";
    }
  }
}

TEST(LocalExecutor, StopsWithoutADirectoryToo) {
  Ledger ledger;
  ScriptedSource source(1, 100);
  source.pauseAfter(30);
  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(1));
  std::thread stopper([&] {
    EXPECT_TRUE(ledger.waitFor("write", 30));
    executor.requestStop();
  });
  const auto result = executor.run();
  stopper.join();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, ExecutionResult::End::kStopped);
  EXPECT_EQ(result->lastCheckpoint, 0);
  EXPECT_EQ(ledger.settled(), onceEach(1, 30));
}

TEST(LocalExecutor, AStopRequestedBeforeTheRunEndsItAtOnce) {
  Ledger ledger;
  ScriptedSource source(1, 1'000'000'000);
  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(1));
  executor.requestStop();
  EXPECT_EQ(executor.run().value().end, ExecutionResult::End::kStopped);
}

TEST(LocalExecutor, CancelsPromptlyWhateverTheSinksDo) {
  Ledger ledger;
  ScriptedSource source(3, 10);
  LocalExecutor executor(source, factoryOf<HangingSink>(ledger), optionsFor(3));
  std::thread canceller([&] {
    EXPECT_TRUE(ledger.waitFor("hanging write", 3));
    executor.requestStop();  // does not help: the batch at hand does not end
    executor.cancel();
  });
  const auto result = executor.run();
  canceller.join();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ledger.count("close"), 3);
}

TEST(LocalExecutor, ACancelBeforeTheRunEndsItAtOnce) {
  Ledger ledger;
  ScriptedSource source(1, 1'000'000'000);
  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(1));
  executor.cancel();
  EXPECT_EQ(executor.run().status().code(), absl::StatusCode::kCancelled);
}

// ---- Commits ----

class TwoPhaseSink final : public BufferingSink {
 public:
  using BufferingSink::BufferingSink;
  absl::StatusOr<std::vector<connector::Committable>> prepareCommit() override {
    return std::vector<connector::Committable>{{"commit " + std::to_string(context_.subtaskIndex)}};
  }
};

class RecordingCommitter final : public connector::Committer {
 public:
  explicit RecordingCommitter(std::string directory) : directory_(std::move(directory)) {}
  absl::Status commit(std::span<const connector::Committable> committables) override {
    for (const connector::Committable& committable : committables) {
      commits.push_back(committable.bytes);
    }
    // The checkpoint must be there before what it covers is published.
    checkpointThere = checkpointThere && std::filesystem::exists(directory_ + "/chk-1");
    return status;
  }
  void cancel() override { cancelled = true; }

  std::vector<std::string> commits;
  bool checkpointThere = true;
  absl::Status status;
  std::atomic<bool> cancelled{false};

 private:
  std::string directory_;
};

TEST(LocalExecutor, CommitsAfterTheCheckpointAndAgainAfterARestore) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(2, 10);
  RecordingCommitter committer(folder.path());
  LocalExecutorOptions options = optionsFor(2, folder.path());
  options.checkpointInterval = std::chrono::hours(1);
  options.committer = &committer;
  committer.status = absl::UnavailableError("the commit's answer was lost");
  source.pauseAfter(5);
  {
    LocalExecutor executor(source, factoryOf<TwoPhaseSink>(ledger), options);
    std::thread stopper([&] {
      EXPECT_TRUE(ledger.waitFor("write", 10));
      executor.requestStop();
    });
    EXPECT_EQ(errorOf(executor.run()), "committing checkpoint 1: the commit's answer was lost");
    EXPECT_EQ(executor.errorOrigin(), ErrorOrigin::kCommit);
    stopper.join();
  }
  EXPECT_THAT(committer.commits, testing::UnorderedElementsAre("commit 0", "commit 1"));
  EXPECT_TRUE(committer.checkpointThere);

  committer.commits.clear();
  committer.status = absl::OkStatus();
  source.resume();
  const auto result = LocalExecutor(source, factoryOf<TwoPhaseSink>(ledger), options).run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(committer.commits, SizeIs(4)) << "the restored checkpoint's two, then the last one's";
  EXPECT_EQ(ledger.settled(), onceEach(2, 10));
}

// What was read to its end is not read again, but may not have been published yet.
TEST(LocalExecutor, CommitsAFinishedCheckpointThatWasNotCommitted) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(1, 10);
  RecordingCommitter committer(folder.path());
  LocalExecutorOptions options = optionsFor(1, folder.path());
  options.checkpointInterval = std::chrono::hours(1);
  options.committer = &committer;
  committer.status = absl::UnavailableError("the commit's answer was lost");
  EXPECT_FALSE(LocalExecutor(source, factoryOf<TwoPhaseSink>(ledger), options).run().ok());

  committer.commits.clear();
  committer.status = absl::OkStatus();
  const auto result = LocalExecutor(source, factoryOf<TwoPhaseSink>(ledger), options).run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->end, ExecutionResult::End::kAlreadyFinished);
  EXPECT_THAT(committer.commits, testing::ElementsAre("commit 0"));
  EXPECT_EQ(ledger.settled(), onceEach(1, 10));
}

TEST(LocalExecutor, RefusesCommitsThatItsSinkCannotMake) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(1, 10);
  RecordingCommitter committer(folder.path());
  LocalExecutorOptions options = optionsFor(1, folder.path());
  options.committer = &committer;
  ASSERT_TRUE(LocalExecutor(source, factoryOf<TwoPhaseSink>(ledger), options).run().ok());
  options.committer = nullptr;
  const auto result = LocalExecutor(source, factoryOf<TwoPhaseSink>(ledger), options).run();
  EXPECT_THAT(errorOf(result), testing::HasSubstr("still to be committed"));
}

}  // namespace
}  // namespace penstock::runtime
