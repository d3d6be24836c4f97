// Emulators that stop answering, and that are gone for a shorter or a longer time.
#include <fmt/format.h>

#include <fstream>

#include "apps/penstock/testing/restartable_emulator.h"
#include "penstock/base/sanitizers.h"

namespace penstock::command {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class CommandOutage : public CommandTest {
 protected:
  static constexpr uint64_t kRows = 200'000;

  CommandOutage() : emulator_(folder_.path("data")) {
    std::ofstream file(folder_.path("a.jsonl"), std::ios::binary);
    const std::string filling(500, 'x');
    for (uint64_t row = 0; row < kRows; ++row) {
      file << fmt::format("{{\"id\":{},\"name\":\"{}\"}}\n", row, filling);
    }
  }
  /// A load of 100 MB that has at most 2 MiB on its way.
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = emulator_.with(
        {"load", folder_.path("a.jsonl"), "--to", "p.d.t", "--schema", schema(), "--json",
         "--min-connections-per-region", "1", "--max-connections-per-region", "1",
         "--max-inflight-bytes", "2MiB", "--max-append-request-bytes", "64KiB",
         "--recovery-initial-backoff", "20ms", "--recovery-max-backoff", "100ms"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static int64_t bytesRead(const RunningCommand& load) { return load.procNumber("io", "rchar: "); }
  /// Waits until the load is well on its way.
  static bool isLoading(RunningCommand& load) {
    return load.waitFor([&] { return bytesRead(load) > 20'000'000; });
  }
  uint64_t rowsInTable() {
    return lastLine(runCommand(emulator_.with({"show", "p.d.t", "--json"})).out)["rows"];
  }

  RestartableEmulator emulator_;
};

TEST_F(CommandOutage, AnEmulatorThatStopsAnsweringStallsTheLoadWithinItsBounds) {  // BQW-053
  RunningCommand load(arguments());
  ASSERT_TRUE(isLoading(load));
  emulator_.signal(SIGSTOP);
  int64_t seen = bytesRead(load);
  Clock::time_point since = Clock::now();
  ASSERT_TRUE(load.waitFor([&] {
    if (const int64_t now = bytesRead(load); now != seen) {
      seen = now;
      since = Clock::now();
    }
    return Clock::now() - since > milliseconds(1'000);
  })) << "it stalls";
  constexpr int64_t kInputBytes = int64_t{kRows} * 500;
  EXPECT_LT(seen, kInputBytes) << "the input is not read on";
  const int64_t resident = load.procNumber("status", "VmRSS:");
  const Clock::time_point later = Clock::now() + milliseconds(1'000);
  ASSERT_TRUE(load.waitFor([&] { return Clock::now() >= later; }));
  constexpr int64_t kAllowedKibibytes = 2'048;
  EXPECT_LE(load.procNumber("status", "VmRSS:"), resident + kAllowedKibibytes);
  emulator_.signal(SIGCONT);
  const CommandResult result = load.wait();
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(lastLine(result.out)["rows"], kRows);
  EXPECT_EQ(rowsInTable(), kRows) << "none is lost, none repeated";
#if !PENSTOCK_ADDRESS_SANITIZER && !PENSTOCK_THREAD_SANITIZER
  // 6 MB were seen: 2 MiB in flight, a block of the input, gRPC's buffers for one connection.
  constexpr int64_t kMostBytes = 16'000'000;
  EXPECT_LT(result.peakMemoryBytes, kMostBytes) << "of 100 MB of input";
#endif
}

TEST_F(CommandOutage, OneThatReturnsInTimeLetsTheLoadGoOn) {  // BQW-055, BQW-070
  RunningCommand load(arguments());
  ASSERT_TRUE(isLoading(load));
  emulator_.kill();
  const Clock::time_point later = Clock::now() + milliseconds(700);
  ASSERT_TRUE(load.waitFor([&] { return Clock::now() >= later; })) << load.wait().error;
  emulator_.restart();
  const CommandResult result = load.wait();
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_GE(rowsInTable(), kRows) << "at least once";
}

TEST_F(CommandOutage, OneThatIsGoneForLongerThanTheWaitEndsTheLoad) {  // BQW-073
  RunningCommand load(arguments({"--max-retry-duration", "200ms", "--recovery-max-attempts", "3"}));
  ASSERT_TRUE(isLoading(load));
  emulator_.kill();
  const CommandResult result = load.wait();
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(lastLine(result.out)["result"], "failed");
  EXPECT_THAT(result.error, AllOf(HasSubstr("p.d.t"), HasSubstr("after 3 of 3 repair attempts"),
                                  HasSubstr("Connection refused")));
}

}  // namespace
}  // namespace penstock::command
