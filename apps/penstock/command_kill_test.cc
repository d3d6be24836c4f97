// Loads and emulators that are killed at any moment, stopped, and started again: no record is lost,
// and none doubled where that was promised.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>

#include "apps/penstock/testing/restartable_emulator.h"
#include "penstock/base/sanitizers.h"

namespace penstock::command {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Lines of `{"id":N}` with something to carry.
std::string records(uint64_t count, size_t bytesEach) {
  std::string text;
  for (uint64_t row = 0; row < count; ++row) {
    text += fmt::format("{{\"id\":{},\"name\":\"{}\"}}\n", row, std::string(bytesEach, 'x'));
  }
  return text;
}

class CommandKill : public CommandTest {
 protected:
  /// Small requests, one at a time, and a checkpoint whenever there is something new.
  std::vector<std::string> loadInto(const std::string& table, const std::string& input) const {
    std::vector<std::string> arguments = emulator_.with({"load",
                                                         input,
                                                         "--to",
                                                         table,
                                                         "--schema",
                                                         schema_,
                                                         "--json",
                                                         "--checkpoint-dir",
                                                         folder_.path(table),
                                                         "--checkpoint-interval",
                                                         "2ms",
                                                         "--parallelism",
                                                         "2",
                                                         "--max-append-request-bytes",
                                                         "4KB",
                                                         "--recovery-initial-backoff",
                                                         "5ms",
                                                         "--recovery-max-backoff",
                                                         "50ms",
                                                         "--retry-initial-delay",
                                                         "5ms"});
    arguments.insert(arguments.end(), method_.begin(), method_.end());
    return arguments;
  }
  /// How long a load takes that nobody disturbs: every other one is killed within that time.
  int64_t millisecondsOfAWholeLoad(const std::string& input) {
    const Clock::time_point began = Clock::now();
    const CommandResult result = runCommand(loadInto("p.d.whole", input));
    EXPECT_EQ(result.exitCode, 0) << result.error;
    return std::chrono::duration_cast<milliseconds>(Clock::now() - began).count();
  }
  /// How often each id stands in the table.
  std::vector<int> countsOf(const std::string& table, uint64_t ids) {
    std::vector<int> counts(ids, 0);
    const CommandResult head =
        runCommand(emulator_.with({"head", table, "--json", "-n", "100000000"}));
    EXPECT_EQ(head.exitCode, 0) << head.error;
    std::istringstream lines(head.out);
    for (std::string line; std::getline(lines, line);) {
      ++counts.at(std::stoull(line.substr(line.find(':') + 1)));
    }
    return counts;
  }
  void killLoads(int kills, const std::function<bool(int count)>& allows);

  static constexpr uint64_t kRows = 30'000;
  const std::string schema_ = schema();
  /// Flags of the write method.
  std::vector<std::string> method_;
  RestartableEmulator emulator_{folder_.path("data")};
};

/// Kills loads, each fifth time the emulator with them, until `kills` have been made; `allows`
/// says what counts a finished table may have.
void CommandKill::killLoads(int kills, const std::function<bool(int count)>& allows) {
  const std::string input = folder_.write("a.jsonl", records(kRows, 50));
  const int64_t whole = millisecondsOfAWholeLoad(input);
  std::mt19937_64 random(20261130);
  const auto upTo = [&random](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  int killed = 0;
  int emulatorKills = 0;
  int tables = 0;
  uint64_t continued = 0;  // runs that went on from a checkpoint
  while (killed < kills) {
    const std::string table = fmt::format("p.d.t{}", ++tables);
    const std::vector<std::string> arguments = loadInto(table, input);
    for (bool finished = false; !finished;) {
      RunningCommand load(arguments);
      const Clock::time_point moment = Clock::now() + milliseconds(upTo(2 * whole));
      const bool last = killed >= kills;
      const bool ended =
          !load.waitFor([&] { return !last && !load.ended() && Clock::now() >= moment; });
      const bool withEmulator = !ended && killed % 5 == 2;
      if (withEmulator) {
        emulator_.kill();
        ++emulatorKills;
      }
      if (!ended) load.signal(SIGKILL);
      const CommandResult result = load.wait();
      if (withEmulator) emulator_.restart();
      // Without its emulator a load may also have ended by itself before the signal came.
      if (result.exitCode == -1 || withEmulator) {
        ++killed;
        continue;
      }
      // It came to its end, perhaps just before the signal.
      ASSERT_EQ(result.exitCode, 0) << result.error;
      if (lastLine(result.out)["rows_of_earlier_runs"] > 0) ++continued;
      finished = true;
    }
    const std::vector<int> counts = countsOf(table, kRows);
    ASSERT_TRUE(std::all_of(counts.begin(), counts.end(), allows))
        << table << " after " << killed << " kills: " << std::count(counts.begin(), counts.end(), 0)
        << " records lost, "
        << std::count_if(counts.begin(), counts.end(), [](int count) { return count > 1; })
        << " doubled";
  }
  EXPECT_GE(emulatorKills, kills / 10);
  EXPECT_GT(continued, 0U);
}

// Under AddressSanitizer a kill takes five times as long.
constexpr int kFewer = PENSTOCK_ADDRESS_SANITIZER ? 20 : 1;

TEST_F(CommandKill, AHundredKillsLoseNoRecord) {
  method_ = {"--max-inflight-requests", "1"};
  killLoads(100 / kFewer, [](int count) { return count >= 1; });
}

TEST_F(CommandKill, TwentyKillsWriteEachRecordExactlyOnce) {
  method_ = {"--write-method", "STORAGE_API_EXACTLY_ONCE"};
  killLoads(kFewer == 1 ? 20 : 5, [](int count) { return count == 1; });
}

}  // namespace
}  // namespace penstock::command
