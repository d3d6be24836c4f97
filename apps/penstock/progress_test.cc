#include "apps/penstock/progress.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "apps/penstock/testing/memory_file.h"

namespace penstock::command {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Progress, ShowsWhatThereIs) {
  EXPECT_EQ(progressText({.rows = 1'200'000, .bytes = 450'200'000, .inFlight = 3, .checkpoints = 1},
                         602'000.4),
            "1,200,000 rows  450.2 MB  602,000 rows/s  3 in flight  1 checkpoint");
  EXPECT_EQ(progressText({.rows = 1, .bytes = 10, .dropped = 4, .totalBytes = 40}, 0),
            " 25 %  1 row  10 B  0 rows/s  0 in flight  0 checkpoints  4 dropped");
}

TEST(Progress, LogsEveryFewSecondsWhereThereIsNoTerminal) {
  MemoryFile out;
  MemoryFile error;
  Console console(out.file(), error.file(), false);
  const base::MonotonicTime start(base::Duration(1h));
  ProgressReporter reporter(console, start);
  for (int tick = 1; tick <= 50; ++tick) {
    reporter.report({.rows = static_cast<uint64_t>(tick) * 100}, start + tick * 250ms);
  }
  reporter.finish();
  const std::string log = error.contents();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_THAT(log, HasSubstr("2,000 rows"));
  EXPECT_THAT(log, HasSubstr(" 400 rows/s"));
  EXPECT_EQ(out.contents(), "");
}

TEST(Progress, RedrawsOneLineOnATerminalBelowOtherOutput) {
  MemoryFile out;
  MemoryFile error;
  Console console(out.file(), error.file(), true);
  const base::MonotonicTime start(base::Duration(1h));
  ProgressReporter reporter(console, start);
  reporter.report({.rows = 10}, start + 1s);
  console.note("something happened");
  reporter.report({.rows = 20}, start + 2s);
  reporter.finish();
  const std::string line = "10 rows  0 B  10 rows/s  0 in flight  0 checkpoints";
  EXPECT_THAT(error.contents(), HasSubstr(line + "\r\x1b[2Ksomething happened\n" + line));
  EXPECT_TRUE(error.contents().ends_with("\r\x1b[2K")) << "the line is taken away at the end";
}

}  // namespace
}  // namespace penstock::command
