#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <thread>

#include "penstock/base/random.h"
#include "penstock/runtime/local_executor.h"
#include "penstock/runtime/testing/input_files.h"
#include "penstock/runtime/testing/ledger_sinks.h"
#include "penstock/runtime/testing/paced_source.h"
#include "penstock/runtime/testing/scripted_source.h"

namespace penstock::runtime {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(LocalExecutor, OneFailureEndsTheJobWithItsError) {
  Ledger ledger;
  ScriptedSource source(2, 100);
  source.failSplit(1, 7);
  // Split 0 hangs; the failure of split 1 must set it free.
  const SubtaskSinkFactory factory =
      [&ledger](const SubtaskContext& context) -> absl::StatusOr<std::unique_ptr<SubtaskSink>> {
    class HangOnSplit0 final : public BufferingSink {
     public:
      using BufferingSink::BufferingSink;
      absl::Status write(const RecordBatch& batch) override {
        if (!batch.records[0].starts_with("0:")) return BufferingSink::write(batch);
        base::MutexLock lock(mutex_);
        while (!cancelled_) condition_.wait(mutex_);
        return absl::CancelledError("cancelled");
      }
      void cancel() override {
        base::MutexLock lock(mutex_);
        cancelled_ = true;
        condition_.notifyAll();
      }

     private:
      base::Mutex mutex_;
      base::CondVar condition_;
      bool cancelled_ = false;
    };
    return std::make_unique<HangOnSplit0>(ledger, context);
  };
  LocalExecutor executor(source, factory, optionsFor(2));
  const auto result = executor.run();
  EXPECT_EQ(result.status(), absl::DataLossError("the input is damaged"));
  EXPECT_EQ(executor.errorOrigin(), ErrorOrigin::kSource) << "not the sink that it set free";
  EXPECT_EQ(ledger.count("close"), 2);
}

TEST(LocalExecutor, AFailedFlushLeavesTheCheckpointBefore) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(1, 100);
  class FailsThirdFlush final : public BufferingSink {
   public:
    using BufferingSink::BufferingSink;
    absl::Status flush(bool endOfInput) override {
      if (++flushes_ == 3) return absl::UnavailableError("no service");
      return BufferingSink::flush(endOfInput);
    }

   private:
    int flushes_ = 0;
  };
  source.pauseAfter(10);
  LocalExecutor executor(source, factoryOf<FailsThirdFlush>(ledger), optionsFor(1, folder.path()));
  EXPECT_EQ(executor.run().status(), absl::UnavailableError("no service"));
  EXPECT_EQ(executor.errorOrigin(), ErrorOrigin::kSink);
  source.resume();
  const auto result =
      LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(1, folder.path())).run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->restoredCheckpoint, 2);
  EXPECT_THAT(ledger.settled(), SizeIs(100));
}

TEST(LocalExecutor, GuardsAgainstExceptionsAndFailingFactories) {
  Ledger ledger;
  ScriptedSource source(1, 10);
  class Throws final : public BufferingSink {
   public:
    using BufferingSink::BufferingSink;
    absl::Status write(const RecordBatch&) override { throw std::runtime_error("a user's bug"); }
  };
  const auto thrown = LocalExecutor(source, factoryOf<Throws>(ledger), optionsFor(1)).run();
  EXPECT_EQ(thrown.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(errorOf(thrown), HasSubstr("a user's bug"));
  EXPECT_EQ(ledger.count("close"), 1);

  const auto failed =
      LocalExecutor(
          source,
          [](const SubtaskContext&) -> absl::StatusOr<std::unique_ptr<SubtaskSink>> {
            return absl::NotFoundError("no table");
          },
          optionsFor(1))
          .run();
  EXPECT_EQ(failed.status(), absl::NotFoundError("no table"));
}

TEST(LocalExecutor, RefusesACheckpointOfSomethingElse) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(1, 10);
  ASSERT_TRUE(LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(1, folder.path()))
                  .run()
                  .ok());

  LocalExecutorOptions other = optionsFor(1, folder.path());
  other.jobIdentity = "another job";
  LocalExecutor refusing(source, factoryOf<BufferingSink>(ledger), other);
  const auto refused = refusing.run();
  EXPECT_EQ(refusing.errorOrigin(), ErrorOrigin::kCheckpoints);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(errorOf(refused),
              HasSubstr("belongs to another job (a job); this one is another job"));

  source.setIdentity("changed");
  const auto changed =
      LocalExecutor(source, factoryOf<BufferingSink>(ledger), optionsFor(1, folder.path())).run();
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(errorOf(changed), HasSubstr("the input was scripted, it is changed"));

  source.setRestorable(false);
  EXPECT_EQ(errorOf(LocalExecutor(source, factoryOf<BufferingSink>(ledger),
                                  optionsFor(1, folder.at("new")))
                        .run()),
            "a stream");
  EXPECT_FALSE(std::filesystem::exists(folder.at("new")));
}

TEST(LocalExecutor, RefusesOptionsOutOfRangeAndASecondRun) {
  Ledger ledger;
  ScriptedSource source(1, 10);
  const auto runWith = [&](const LocalExecutorOptions& options) {
    return errorOf(LocalExecutor(source, factoryOf<BufferingSink>(ledger), options).run());
  };
  EXPECT_THAT(runWith(optionsFor(0)), HasSubstr("parallelism must be 1 to 256, not 0"));
  EXPECT_THAT(runWith(optionsFor(257)), HasSubstr("not 257"));
  LocalExecutorOptions options = optionsFor(1);
  options.checkpointInterval = std::chrono::microseconds(999);
  EXPECT_THAT(runWith(options), HasSubstr("at least 1 ms"));
  options = optionsFor(1);
  options.checkpointsKept = 0;
  EXPECT_THAT(runWith(options), HasSubstr("at least one checkpoint"));

  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(1));
  EXPECT_TRUE(executor.run().ok());
  EXPECT_THAT(errorOf(executor.run()), HasSubstr("runs once"));
}

TEST(LocalExecutor, FailsWhenACheckpointCannotBeWritten) {
  const TestFolder folder;
  Ledger ledger;
  ScriptedSource source(1, 100);
  source.pauseAfter(10);
  const std::string directory = folder.at("checkpoints");
  LocalExecutor executor(source, factoryOf<BufferingSink>(ledger), optionsFor(1, directory));
  std::thread remover([&] {
    EXPECT_TRUE(ledger.waitFor("flush", 2));
    std::error_code ignored;
    std::filesystem::rename(directory, folder.at("gone"), ignored);
  });
  const auto result = executor.run();
  remover.join();
  EXPECT_THAT(errorOf(result), HasSubstr("checkpoint directory: cannot"));
  EXPECT_EQ(executor.errorOrigin(), ErrorOrigin::kCheckpoints);
}

/// Fails now and then: a flush whose acknowledgement came or not, a write, a snapshot, the opening
/// itself.
class UnreliableSink final : public BufferingSink {
 public:
  UnreliableSink(Ledger& ledger, const SubtaskContext& context, uint64_t seed)
      : BufferingSink(ledger, context), random_(base::seededRandom(seed)) {}

  absl::Status write(const RecordBatch& batch) override {
    if (random_->chance(0.005)) return absl::UnavailableError("write");
    return BufferingSink::write(batch);
  }
  absl::Status flush(bool endOfInput) override {
    if (random_->chance(0.1)) return absl::UnavailableError("flush");
    PENSTOCK_RETURN_IF_ERROR(BufferingSink::flush(endOfInput));
    if (random_->chance(0.1)) return absl::UnavailableError("the answer was lost");
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId checkpoint) override {
    if (random_->chance(0.05)) return absl::InternalError("snapshot");
    return BufferingSink::snapshotState(checkpoint);
  }

 private:
  std::unique_ptr<base::Random> random_;
};

TEST(LocalExecutor, LosesNothingWhateverFailsAndHoweverItIsEnded) {
  std::map<ExecutionResult::End, int> ends;
  int failures = 0;
  int continued = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const TestFolder folder;
    Ledger ledger;
    ScriptedSource records(7, 60);
    PacedSource source(records, 20);
    const auto random = base::seededRandom(seed);
    for (bool finished = false; !finished;) {
      const SubtaskSinkFactory factory =
          [&ledger, base = random->next()](
              const SubtaskContext& context) -> absl::StatusOr<std::unique_ptr<SubtaskSink>> {
        const uint64_t own = base + static_cast<uint64_t>(context.subtaskIndex);
        if (own % 20 == 0) return absl::NotFoundError("no table");
        return std::make_unique<UnreliableSink>(ledger, context, own);
      };
      LocalExecutor executor(source, factory,
                             optionsFor(1 + static_cast<int>(random->below(5)), folder.path()));
      source.setCheckpoints([&executor] { return executor.statistics().checkpointsCompleted; });
      const int writesBefore = ledger.count("write");
      const int writes = static_cast<int>(random->below(200));
      const uint64_t how = random->below(3);
      std::atomic<bool> over{false};
      std::thread ender([&] {
        while (!over.load() && ledger.count("write") < writesBefore + writes) {
          std::this_thread::yield();
        }
        if (how == 1) executor.requestStop();
        if (how == 2) executor.cancel();
      });
      const auto result = executor.run();
      over.store(true);
      ender.join();
      failures += result.ok() ? 0 : 1;
      if (result.ok()) {
        ++ends[result->end];
        continued += result->restoredCheckpoint > 0 ? 1 : 0;
        finished = result->end != ExecutionResult::End::kStopped;
      }
    }
    EXPECT_THAT(ledger.settled(), SizeIs(7 * 60)) << "seed " << seed;
  }
  // All of it must have happened, or this shows nothing.
  EXPECT_GT(failures, 10);
  EXPECT_GT(continued, 5);
  EXPECT_GT(ends[ExecutionResult::End::kFinished], 5);
  EXPECT_GT(ends[ExecutionResult::End::kStopped], 0);
}

}  // namespace
}  // namespace penstock::runtime
