// Loads that are killed at every step they pass, and their emulators with them: each record is in
// the tables exactly once.
#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <random>
#include <sstream>

#include "apps/penstock/testing/restartable_emulator.h"
#include "crash_points.h"

namespace penstock::crash {
namespace {

using command::CommandResult;
using command::RestartableEmulator;
using command::RunningCommand;

constexpr uint64_t kRows = 2'000;

/// A job and where it stands.
struct Job {
  std::string prefix;  ///< of its tables
  uint64_t tables = 1;
  std::string directory;
};

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() {
    // Two files, so that there is something to divide among subtasks.
    std::string parts[2];
    for (uint64_t row = 0; row < kRows; ++row) {
      parts[row % 2] += fmt::format("{{\"id\":{},\"name\":\"{:0>40}\"}}\n", row, row);
    }
    files_ = {folder_.write("a.jsonl", parts[0]), folder_.write("b.jsonl", parts[1])};
  }

  Job newJob(uint64_t tables) {
    const std::string name = fmt::format("j{}_", ++jobs_);
    return {name, tables, folder_.path(name)};
  }

  /// Runs the job with another parallelism each time; killed at the N-th time of `step`, if it
  /// comes to that.
  CommandResult run(const Job& job, std::string_view step = "", int count = 0) {
    std::vector<std::string> arguments = {emulator_.grpc(), emulator_.rest(),
                                          job.directory,    std::to_string(1 + ++runs_ % 3),
                                          job.prefix,       std::to_string(job.tables)};
    arguments.insert(arguments.end(), files_.begin(), files_.end());
    std::map<std::string, std::string> environment;
    if (count > 0) environment["PENSTOCK_CRASH"] = fmt::format("{}:{}", step, count);
    return RunningCommand(arguments, "", environment, ".", PENSTOCK_CRASH_LOAD).wait();
  }

  /// Each record of the input is in the job's tables once, in the one it belongs to.
  void expectExactlyOnce(const Job& job) {
    std::vector<int> counts(kRows, 0);
    for (uint64_t table = 0; table < job.tables; ++table) {
      const CommandResult head = command::runCommand(emulator_.with(
          {"head", fmt::format("p.d.{}{}", job.prefix, table), "--json", "-n", "1000000"}));
      ASSERT_EQ(head.exitCode, 0) << head.error;
      std::istringstream lines(head.out);
      for (std::string line; std::getline(lines, line);) {
        const uint64_t id = std::stoull(line.substr(line.find(':') + 1));
        EXPECT_EQ(id % job.tables, table);
        ++counts.at(id);
      }
    }
    ASSERT_EQ(std::count(counts.begin(), counts.end(), 1), kRows)
        << job.prefix << ": " << std::count(counts.begin(), counts.end(), 0) << " lost, "
        << std::count_if(counts.begin(), counts.end(), [](int n) { return n > 1; }) << " doubled";
  }

  /// Fault rules (docs/emulator.md) in place of those that are there.
  void plant(const std::vector<std::string>& rules) {
    httplib::Client client("http://" + emulator_.rest());
    ASSERT_TRUE(client.Delete("/penstock/faults"));
    for (const std::string& rule : rules) {
      const auto answer = client.Post("/penstock/faults", rule, "application/json");
      ASSERT_TRUE(answer) << httplib::to_string(answer.error());
      ASSERT_EQ(answer->status, 200) << answer->body;
    }
  }

  command::TestFolder folder_;
  std::vector<std::string> files_;
  RestartableEmulator emulator_{folder_.path("emulator")};
  int jobs_ = 0;
  int runs_ = 0;
};

TEST_F(CrashTest, AnUndisturbedLoadPassesEveryStep) {
  const Job job = newJob(3);
  const CommandResult result = run(job);
  ASSERT_EQ(result.exitCode, 0) << result.error;
  expectExactlyOnce(job);
  // And once more: there is nothing left to do.
  const CommandResult again = run(job);
  ASSERT_EQ(again.exitCode, 0) << again.error;
  EXPECT_EQ(again.out, fmt::format("{}\n", kRows));
  expectExactlyOnce(job);
}

class CrashSteps : public CrashTest, public ::testing::WithParamInterface<uint64_t> {};

// BQW-110, BQW-120..BQW-123, BQW-130..BQW-133: whatever a kill leaves behind, with one table and
// with many, while the emulator fails requests, and with the emulator killed as well.
TEST_P(CrashSteps, EachRecordIsThereExactlyOnce) {
  constexpr int kKills = 110;
  std::mt19937_64 random(20261130 + GetParam());
  const auto upTo = [&random](int most) {
    return std::uniform_int_distribution<int>(1, most)(random);
  };
  std::vector<int> killsOf(kSteps.size(), 0);
  int kills = 0;
  int emulatorKills = 0;
  size_t step = 0;
  while (kills < kKills) {
    const Job job = newJob(GetParam());
    for (bool finished = false; !finished;) {
      // The steps in turn; the more often one is passed, the later it may strike.
      step = (step + 1) % kSteps.size();
      const int most = std::array{1, 3, 8, 30}[static_cast<size_t>(upTo(4) - 1)];
      if (upTo(3) == 1) {
        plant({R"({"method": "AppendRows", "nth": 3, "action": "cutAfter"})",
               R"({"method": "AppendRows", "nth": 7, "code": "UNAVAILABLE"})",
               R"({"method": "AppendRows", "nth": 9, "code": "INTERNAL", "endCall": true})",
               R"({"method": "FlushRows", "nth": 2, "code": "UNAVAILABLE"})",
               R"({"method": "FlushRows", "nth": 3, "action": "cutAfter"})",
               R"({"method": "CreateWriteStream", "action": "hideTable"})"});
      }
      const CommandResult result = run(job, kSteps[step], kills < kKills ? upTo(most) : 0);
      finished = result.exitCode == 0;
      if (finished) continue;
      ASSERT_EQ(result.exitCode, -1) << kSteps[step] << ": " << result.error;
      ++kills;
      ++killsOf[step];
      if (upTo(8) == 1) {
        emulator_.kill();
        emulator_.restart();
        ++emulatorKills;
      }
    }
    expectExactlyOnce(job);
    if (HasFatalFailure()) return;
  }
  for (size_t at = 0; at < kSteps.size(); ++at) EXPECT_GT(killsOf[at], 0) << kSteps[at];
  EXPECT_GT(emulatorKills, 0);
  std::cout << kills << " kills of " << jobs_ << " jobs, " << emulatorKills
            << " of the emulator as well\n";
}

INSTANTIATE_TEST_SUITE_P(Tables, CrashSteps, ::testing::Values(1, 20),
                         [](const auto& tables) { return fmt::format("{}", tables.param); });

// The emulator goes away in the middle of a load: the load goes on when it is back.
TEST_F(CrashTest, AnEmulatorThatIsKilledUnderALoadLosesNothing) {
  for (int round = 0; round < 5; ++round) {
    const Job job = newJob(2);
    std::vector<std::string> arguments = {
        emulator_.grpc(), emulator_.rest(), job.directory, "2", job.prefix, "2"};
    arguments.insert(arguments.end(), files_.begin(), files_.end());
    RunningCommand load(arguments, "", {}, ".", PENSTOCK_CRASH_LOAD);
    ASSERT_TRUE(load.waitForFile(job.directory + "/chk-2"));
    emulator_.kill();
    emulator_.restart();
    CommandResult result = load.wait();
    // What the restart interrupted may have been final for the load; it continues.
    if (result.exitCode != 0) result = run(job);
    ASSERT_EQ(result.exitCode, 0) << result.error;
    expectExactlyOnce(job);
  }
}

}  // namespace
}  // namespace penstock::crash
