#include "penstock/base/retry_schedule.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using namespace std::chrono_literals;

/// Always the same fraction of the range.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(uint64_t value) : value_(value) {}
  uint64_t next() override { return value_; }

 private:
  uint64_t value_;
};

TEST(RetrySchedule, DoublesUpToTheMaximum) {  // BASE-036 scenario 15
  const RetrySchedule schedule{.initialBackoff = 100ms, .maxBackoff = 10s, .jitter = 0};
  const auto random = seededRandom(1);
  std::vector<Duration> waits;
  for (int attempt = 1; attempt <= 9; ++attempt)
    waits.push_back(schedule.backoff(attempt, *random));
  EXPECT_THAT(waits,
              ::testing::ElementsAre(100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 10s, 10s));
}

TEST(RetrySchedule, JittersByAQuarterAroundTheMean) {  // BASE-036 scenario 15
  const RetrySchedule schedule{.initialBackoff = 100ms, .maxBackoff = 10s};
  FixedRandom lowest(0);
  FixedRandom highest(~uint64_t{0});
  EXPECT_EQ(schedule.backoff(1, lowest), 75ms);
  EXPECT_NEAR(static_cast<double>(schedule.backoff(1, highest).count()), 125e6, 1e3);
  EXPECT_GT(schedule.backoff(20, highest), 12s) << "jitter may exceed the maximum";
  const auto random = seededRandom(7);
  double sum = 0;
  constexpr int kDraws = 20'000;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Duration wait = schedule.backoff(3, *random);
    ASSERT_GE(wait, 300ms);
    ASSERT_LE(wait, 500ms);
    sum += static_cast<double>(wait.count());
  }
  EXPECT_NEAR(sum / kDraws, 400e6, 2e6);
}

TEST(RetrySchedule, WaitsAtLeastAMillisecond) {  // BASE-036
  const RetrySchedule schedule{.initialBackoff = 1ms, .maxBackoff = 1ms};
  FixedRandom lowest(0);
  EXPECT_EQ(schedule.backoff(1, lowest), 1ms);
}

TEST(RetrySchedule, SurvivesTheLargestBudget) {  // BASE-004
  const RetrySchedule schedule{.initialBackoff = Duration::max(), .maxBackoff = Duration::max()};
  FixedRandom highest(~uint64_t{0});
  EXPECT_GT(schedule.backoff(1'000'000, highest), 24h * 365 * 200);
}

TEST(RetrySchedule, CountsTheFirstTry) {  // BASE-037
  const RetrySchedule schedule{.maxAttempts = 3};
  EXPECT_TRUE(schedule.allowsAnotherAfter(2));
  EXPECT_FALSE(schedule.allowsAnotherAfter(3));
}

TEST(Random, ASeedReplaysExactly) {
  const auto first = seededRandom(42);
  const auto second = seededRandom(42);
  const auto other = seededRandom(43);
  bool differs = false;
  for (int draw = 0; draw < 100; ++draw) {
    const uint64_t value = first->next();
    EXPECT_EQ(value, second->next());
    differs = differs || value != other->next();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace penstock::base
