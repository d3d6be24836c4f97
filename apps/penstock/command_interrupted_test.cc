// Loads that are stopped, killed or hang.
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

TEST_F(CommandWithFaults, ASecondSignalEndsALoadThatHangs) {
  const uint64_t hang =
      plant({.method = "AppendRows", .times = 0, .action = emulator::FaultAction::kHang});
  RunningCommand command(loadArguments());
  ASSERT_TRUE(command.waitFor([&] { return emulator_->faults().struck(hang) > 0; }));
  command.signal(SIGTERM);
  ASSERT_TRUE(command.waitForText("stopping"));
  command.signal(SIGTERM);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exitCode, 130);
  EXPECT_EQ(lastLine(result.out)["result"], "stopped");
  EXPECT_THAT(result.error, HasSubstr("second signal"));
}

TEST_F(CommandWithFaults, ASignalBeforeTheFirstRecordStopsTheLoad) {
  const uint64_t hang =
      plant({.method = "GetWriteStream", .times = 0, .action = emulator::FaultAction::kHang});
  RunningCommand command(loadArguments());
  ASSERT_TRUE(command.waitFor([&] { return emulator_->faults().struck(hang) > 0; }));
  command.signal(SIGTERM);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exitCode, 130);
  EXPECT_THAT(result.error, HasSubstr("stopped before the first record"));
  EXPECT_EQ(lastLine(result.out)["result"], "stopped");
  EXPECT_EQ(lastLine(result.out)["table"], "p.d.t");
}

/// A load that waits for a writer of its input, before it has looked at anything else.
TEST_F(CommandTest, ASignalWhileTheInputIsOpenedStopsTheLoad) {
  const std::string pipe = folder_.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  RunningCommand command({"load", pipe, "--to", "p.d.t", "--schema", schema(), "--json", "--local",
                          "--data-dir", data()});
  ASSERT_TRUE(command.waitFor([&] { return command.procNumber("status", "Threads:") > 1; }));
  command.signal(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exitCode, 130);
  EXPECT_EQ(lastLine(result.out)["exit_code"], 130);
}

/// Loads that take a while: each append is answered late, and there is a checkpoint every few
/// milliseconds.
class CommandInterrupted : public CommandWithFaults {
 protected:
  CommandInterrupted() {
    using std::chrono::milliseconds;
    delay_ = plant({.method = "AppendRows",
                    .times = 0,
                    .action = emulator::FaultAction::kDelay,
                    .delay = milliseconds(50)});
    std::string contents;
    for (uint64_t row = 0; row < kRows; ++row) {
      contents += fmt::format("{{\"id\":{},\"name\":\"{:0>200}\"}}\n", row, row);
    }
    arguments_ = {"load", folder_.write("big.jsonl", contents), "--to", "p.d.t", "--schema",
                  schema(), "--checkpoint-dir", folder_.path("state"), "--checkpoint-interval",
                  "10ms",
                  // One small request at a time, so that a delayed load takes seconds.
                  "--max-inflight-requests", "1", "--max-append-request-bytes", "131072", "--json",
                  "--emulator-endpoint", emulator_->grpcEndpoint(), "--emulator-rest-endpoint",
                  emulator_->restEndpoint()};
  }

  /// Waits for a checkpoint that covers records and sends the signal.
  void interrupt(RunningCommand& command, int number) {
    ASSERT_TRUE(command.waitFor([this] { return emulator_->faults().struck(delay_) > 0; }));
    // One may be under way that began before the first record was read; the next covers it.
    const int before = newestCheckpoint();
    ASSERT_TRUE(command.waitFor([&] { return newestCheckpoint() >= before + 2; }));
    command.signal(number);
  }
  /// Its number; 0 without one.
  int newestCheckpoint() {
    int newest = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("state"), error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("chk-")) newest = std::max(newest, std::atoi(name.c_str() + 4));
    }
    return newest;
  }
  /// The same load again, without delays.
  CommandResult runAgain() {
    emulator_->faults().clear();
    return runCommand(arguments_);
  }
  uint64_t rowsInTable() {
    return lastLine(
        runCommand({"show", "p.d.t", "--json", "--emulator-endpoint", emulator_->grpcEndpoint(),
                    "--emulator-rest-endpoint", emulator_->restEndpoint()})
            .out)["rows"];
  }

  static constexpr uint64_t kRows = 50'000;
  uint64_t delay_ = 0;
  std::vector<std::string> arguments_;
};

TEST_F(CommandInterrupted, AStoppedLoadContinuesWhereItWas) {
  RunningCommand first(arguments_);
  interrupt(first, SIGINT);
  const CommandResult stopped = first.wait();
  ASSERT_EQ(stopped.exitCode, 130) << stopped.error;
  EXPECT_EQ(lastLine(stopped.out)["result"], "stopped");
  const uint64_t before = lastLine(stopped.out)["rows"];
  EXPECT_LT(before, kRows);
  EXPECT_EQ(rowsInTable(), before) << "what was read is written";
  const CommandResult rest = runAgain();
  EXPECT_EQ(rest.exitCode, 0) << rest.error;
  EXPECT_EQ(lastLine(rest.out)["rows_of_earlier_runs"], before);
  EXPECT_EQ(lastLine(rest.out)["rows"], kRows - before);
  EXPECT_EQ(rowsInTable(), kRows) << "a graceful stop neither loses nor repeats";
}

TEST_F(CommandInterrupted, AKilledLoadContinuesWithoutLosingARecord) {
  RunningCommand first(arguments_);
  interrupt(first, SIGKILL);
  ASSERT_EQ(first.wait().exitCode, -1);
  const CommandResult rest = runAgain();
  EXPECT_EQ(rest.exitCode, 0) << rest.error;
  EXPECT_GT(lastLine(rest.out)["rows_of_earlier_runs"].get<uint64_t>(), 0U);
  EXPECT_GE(rowsInTable(), kRows) << "at least once";
}

TEST_F(CommandInterrupted, ACheckpointThatCannotBeWrittenEndsTheLoadAsAMatterOfItsDirectory) {
  RunningCommand command(arguments_);
  ASSERT_TRUE(command.waitFor([this] { return newestCheckpoint() > 0; }));
  std::filesystem::rename(folder_.path("state"), folder_.path("elsewhere"));
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exitCode, 5);
  EXPECT_THAT(result.error, HasSubstr("checkpoint directory: cannot"));
  std::filesystem::rename(folder_.path("elsewhere"), folder_.path("state"));
  EXPECT_EQ(runAgain().exitCode, 0);
}

// With several subtasks the sinks of the others end, too, and must not be taken for the cause.
TEST_F(CommandInterrupted, DamagedInputIsTheInputsFaultWhoeverElseIsWriting) {
  const std::string array = folder_.write("array.json", "[{\"id\":1}\n{\"id\":2}]");
  arguments_.insert(arguments_.begin() + 1, {array, "--parallelism", "4"});
  const CommandResult result = runCommand(arguments_);
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, HasSubstr("array.json"));
}

TEST_F(CommandInterrupted, ACheckpointDirectoryInUseIsRefused) {
  emulator_->faults().clear();
  const uint64_t hang =
      plant({.method = "AppendRows", .times = 0, .action = emulator::FaultAction::kHang});
  RunningCommand first(arguments_);
  ASSERT_TRUE(first.waitFor([&] { return emulator_->faults().struck(hang) > 0; }));
  const CommandResult second = runCommand(arguments_);
  EXPECT_EQ(second.exitCode, 5);
  EXPECT_THAT(second.error, HasSubstr(folder_.path("state")));
}

}  // namespace
}  // namespace penstock::command
