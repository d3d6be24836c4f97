// Processes that are killed at any moment: what a restart finds, and that no record is lost.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "penstock/runtime/checkpoint_store.h"
#include "penstock/runtime/file_source.h"
#include "penstock/runtime/local_executor.h"
#include "penstock/runtime/stop_signals.h"
#include "penstock/runtime/testing/input_files.h"
#include "penstock/runtime/testing/paced_source.h"

namespace penstock::runtime {
namespace {

/// Runs `work` in a process of its own and waits for it. Returns the wait status.
int inChild(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

bool wasKilled(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

/// Kills the process at its `count`-th call; 0: never.
class KillAt {
 public:
  explicit KillAt(int count) : left_(count) {}
  void pass() {
    if (left_.fetch_sub(1) == 1) ::kill(::getpid(), SIGKILL);
  }

 private:
  std::atomic<int> left_;
};

/// Appends records to a file, a line each. They are only in memory until a flush, as in a real
/// sink.
class FileSink final : public SubtaskSink {
 public:
  FileSink(const std::string& path, KillAt& killAt)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
        killAt_(killAt) {}
  ~FileSink() override { ::close(file_); }

  absl::Status write(const RecordBatch& batch) override {
    killAt_.pass();
    for (const std::string_view record : batch.records) {
      buffered_.append(record);
      buffered_.push_back('\n');
    }
    return absl::OkStatus();
  }
  absl::Status flush(bool /*endOfInput*/) override {
    killAt_.pass();
    if (::write(file_, buffered_.data(), buffered_.size()) !=
        static_cast<ssize_t>(buffered_.size())) {
      return absl::DataLossError("short write");
    }
    buffered_ = "\n";
    killAt_.pass();
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId) override {
    killAt_.pass();
    return std::vector<connector::WriterState>();
  }
  absl::Status close() override { return absl::OkStatus(); }
  void cancel() override {}

 private:
  int file_;
  KillAt& killAt_;
  std::string buffered_ = "\n";  // begins a line, whatever the last write left
};

/// Files of every kind with numbered records.
class Inputs {
 public:
  Inputs(const TestFolder& folder, int recordsPerFile) : recordsPerFile_(recordsPerFile) {
    paths_.push_back(folder.write("in/plain.json", lines()));
    paths_.push_back(folder.write("in/lines.gz", gzipped(lines())));
    paths_.push_back(folder.write("in/lines.zst", zstdCompressed(lines())));
    paths_.push_back(folder.write("in/array.json", array()));
    paths_.push_back(folder.write("in/array.gz", gzipped(array())));
  }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] int total() const { return next_; }

 private:
  std::string record() { return "{\"id\":" + std::to_string(next_++) + ",\"s\":\"x[y}\\\"\"}"; }
  std::string lines() {
    std::string text;
    for (int at = 0; at < recordsPerFile_; ++at) text += record() + (at % 5 == 0 ? "\r\n\n" : "\n");
    return text;
  }
  std::string array() {
    std::string text = "[";
    for (int at = 0; at < recordsPerFile_; ++at) text += (at > 0 ? ",\n" : "") + record();
    return text + "]";
  }

  int recordsPerFile_;
  int next_ = 0;
  std::vector<std::string> paths_;
};

FileSourceOptions smallPieces() {
  FileSourceOptions options;
  options.bufferBytes = 512;
  options.splitBytes = 10'000;
  return options;
}

/// The job of these tests; what it returns is the process's exit code.
int runJob(const std::vector<std::string>& inputs, const TestFolder& folder, int parallelism,
           int killAt, const std::function<void(LocalExecutor&)>& whileRunning = {}) {
  KillAt kill(killAt);
  const auto source = FileSource::open(inputs, smallPieces());
  if (!source.ok()) return 10;
  PacedSource paced(**source, 10);
  LocalExecutorOptions options;
  options.parallelism = parallelism;
  options.checkpointDirectory = folder.at("checkpoints");
  options.checkpointInterval = std::chrono::milliseconds(1);
  options.jobIdentity = "crash test";
  LocalExecutor executor(
      paced,
      [&](const SubtaskContext&) -> absl::StatusOr<std::unique_ptr<SubtaskSink>> {
        return std::make_unique<FileSink>(folder.at("out"), kill);
      },
      options);
  paced.setCheckpoints([&executor] { return executor.statistics().checkpointsCompleted; });
  if (whileRunning) whileRunning(executor);
  const auto result = executor.run();
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", base::describe(result.status()).c_str());
    return 11;
  }
  return static_cast<int>(result->end);
}

constexpr int kFinished = static_cast<int>(ExecutionResult::End::kFinished);
constexpr int kStopped = static_cast<int>(ExecutionResult::End::kStopped);
constexpr int kAlreadyFinished = static_cast<int>(ExecutionResult::End::kAlreadyFinished);

/// How often each record came out. A kill may cut a write short: the piece of a record that it
/// leaves is none, and stands on a line of its own.
std::map<std::string, int> outputOf(const TestFolder& folder) {
  std::map<std::string, int> counts;
  std::istringstream lines(contentOf(folder.at("out")));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("\"}")) ++counts[line];
  }
  return counts;
}

TEST(Crash, LosesNoRecordHoweverOftenTheProcessIsKilled) {
  int restored = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    const TestFolder folder;
    const Inputs inputs(folder, 2000);
    int kills = 0;
    while (true) {
      const int parallelism = 1 + static_cast<int>(random() % 4);
      const int killAt = kills < 8 ? 1 + static_cast<int>(random() % 120) : 0;
      const int status =
          inChild([&] { return runJob(inputs.paths(), folder, parallelism, killAt); });
      if (wasKilled(status)) {
        ++kills;
        const auto newest = CheckpointStore::open(folder.at("checkpoints"), 3).value()->newest();
        ASSERT_TRUE(newest.ok()) << newest.status();
        if (newest->has_value() && (*newest)->records > 0) ++restored;
        continue;
      }
      ASSERT_TRUE(WIFEXITED(status));
      ASSERT_EQ(WEXITSTATUS(status), kFinished);
      break;
    }
    EXPECT_GT(kills, 0);
    const auto output = outputOf(folder);
    EXPECT_EQ(output.size(), static_cast<size_t>(inputs.total())) << "seed " << seed;

    const int again = inChild([&] { return runJob(inputs.paths(), folder, 2, 0); });
    ASSERT_TRUE(WIFEXITED(again));
    EXPECT_EQ(WEXITSTATUS(again), kAlreadyFinished);
    EXPECT_EQ(outputOf(folder), output) << "a finished directory loads nothing";
  }
  EXPECT_GT(restored, 10) << "the kills must come behind checkpoints, too";
}

TEST(Crash, ASignalStopsTheProcessSoThatTheRestartRepeatsNothing) {
  const TestFolder folder;
  const Inputs inputs(folder, 2000);
  const int stopped = inChild([&] {
    std::unique_ptr<StopSignals> signals;
    return runJob(inputs.paths(), folder, 2, 0, [&signals](LocalExecutor& executor) {
      signals = std::make_unique<StopSignals>([&executor] { executor.requestStop(); },
                                              [&executor] { executor.cancel(); });
      ::raise(SIGTERM);
    });
  });
  ASSERT_TRUE(WIFEXITED(stopped)) << "the signal must not end the process";
  ASSERT_EQ(WEXITSTATUS(stopped), kStopped);
  const int finished = inChild([&] { return runJob(inputs.paths(), folder, 4, 0); });
  ASSERT_TRUE(WIFEXITED(finished));
  ASSERT_EQ(WEXITSTATUS(finished), kFinished);
  const auto output = outputOf(folder);
  EXPECT_EQ(output.size(), static_cast<size_t>(inputs.total()));
  for (const auto& [record, count] : output) ASSERT_EQ(count, 1) << record;
}

TEST(Crash, ACheckpointIsThereWholeOrNotAtAll) {
  constexpr int kRounds = 30;
  const TestFolder folder;
  connector::CheckpointId last = 0;
  for (int round = 0; round < kRounds; ++round) {
    int reports[2];
    ASSERT_EQ(::pipe(reports), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = CheckpointStore::open(folder.path(), 2);
      if (!store.ok()) ::_exit(10);
      Checkpoint checkpoint;
      for (int split = 0; split < 2000; ++split) {
        checkpoint.splits.push_back({std::to_string(split), "1/2/3", false});
      }
      for (checkpoint.number = last + 1;; ++checkpoint.number) {
        if (!(*store)->write(checkpoint).ok()) ::_exit(11);
        if (::write(reports[1], "w", 1) != 1) ::_exit(12);
      }
    }
    // Killed in the write that follows a reported one, in each round a little later in it.
    const base::Clock& clock = base::systemClock();
    base::MonotonicTime begun = clock.now();
    base::Duration oneWrite{};
    for (int left = 2; left > 0; --left) {
      char report = 0;
      ASSERT_EQ(::read(reports[0], &report, 1), 1);
      oneWrite = clock.now() - std::exchange(begun, clock.now());
      ++last;
    }
    while (clock.now() < begun + oneWrite * round / kRounds) {
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(reports[0]);
    ::close(reports[1]);
    ASSERT_TRUE(wasKilled(status));
    const auto newest = CheckpointStore::open(folder.path(), 2).value()->newest();
    ASSERT_TRUE(newest.ok()) << newest.status();
    ASSERT_GE((*newest)->number, last) << "a reported checkpoint is there";
    ASSERT_EQ((*newest)->splits.size(), 2000U);
    last = (*newest)->number;
  }
}

}  // namespace
}  // namespace penstock::runtime
