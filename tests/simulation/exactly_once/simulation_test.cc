#include "exactly_once/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace penstock::simulation {
namespace {

/// PENSTOCK_SCHEDULE: one schedule, as the report of a failing one gives it, with all that happens.
void playAgain(const char* schedule) {
  const std::optional<Excerpt> excerpt = Excerpt::parse(schedule);
  ASSERT_TRUE(excerpt.has_value()) << "PENSTOCK_SCHEDULE='" << schedule << "' is no schedule";
  std::vector<std::string> trace;
  const ExactlyOnceReport report = playExactlyOnce(*excerpt, &trace);
  for (const std::string& line : trace) std::cout << line << "\n";
  EXPECT_TRUE(report.violations.empty()) << report.describe();
}

// BQW-100..BQW-110, BQW-120..BQW-123, BQW-130..BQW-133: writers, committer and pool together, under
// a host with checkpoints, crashes and restores.
TEST(ExactlyOnceSimulation, ShowsEachRowOnceWhateverHappens) {
  if (const char* schedule = std::getenv("PENSTOCK_SCHEDULE")) return playAgain(schedule);
  const char* seeds = std::getenv("PENSTOCK_SEEDS");
  const char* first = std::getenv("PENSTOCK_FIRST_SEED");
  const uint64_t count = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : 5000;
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  JobCounts sum;
  int faults = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    const ExactlyOnceReport report = playExactlyOnce({seed});
    ASSERT_TRUE(report.violations.empty()) << explain(report);
    sum.crashes += report.counts.crashes;
    sum.failures += report.counts.failures;
    sum.checkpoints += report.counts.checkpoints;
    sum.givenUp += report.counts.givenUp;
    sum.rescaled += report.counts.rescaled;
    sum.restores += report.counts.restores;
    sum.recommits += report.counts.recommits;
    sum.retries += report.counts.retries;
    faults += report.faults;
  }
  std::cout << count << " seeds: " << faults << " faults, " << sum.retries << " re-appends, "
            << sum.checkpoints << " checkpoints and " << sum.givenUp << " given up, " << sum.crashes
            << " crashes, " << sum.failures << " failures, " << sum.rescaled
            << " changes of the parallelism, " << sum.restores << " restores with streams, "
            << sum.recommits << " with commits\n";
  if (count < 100) return;
  // A schedule in which nothing goes wrong proves nothing.
  EXPECT_GT(faults, 1000);
  EXPECT_GT(sum.retries, 100U);
  EXPECT_GT(sum.crashes, 100);
  EXPECT_GT(sum.failures, 10);
  EXPECT_GT(sum.givenUp, 50);
  EXPECT_GT(sum.rescaled, 100);
  EXPECT_GT(sum.restores, 100);
  EXPECT_GT(sum.recommits, 50);
}

// What a report says is what is played again.
TEST(ExactlyOnceSimulation, AScheduleIsReadAsItWasWritten) {
  Excerpt excerpt{12, 5, 1, 2, 40};
  excerpt.leaveOut(Fault::kSilence);
  excerpt.leaveOut(Fault::kSlow);
  const std::string text = "12 records=5 faults=1 crashes=2 last-crash=40 without=silence,slow";
  EXPECT_EQ(excerpt.text(), text);
  const std::optional<Excerpt> read = Excerpt::parse(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->text(), text);
  EXPECT_FALSE(Excerpt::parse("12 records=many").has_value());
  EXPECT_FALSE(Excerpt::parse("12 without=earthquake").has_value());
}

// The least of a schedule is played the same way each time, and the same seed is the same schedule.
TEST(ExactlyOnceSimulation, ASeedIsTheSameScheduleEachTime) {
  std::vector<std::string> once;
  std::vector<std::string> again;
  playExactlyOnce({7}, &once);
  playExactlyOnce({7}, &again);
  EXPECT_GT(once.size(), 10U);
  EXPECT_EQ(once, again);
}

}  // namespace
}  // namespace penstock::simulation
