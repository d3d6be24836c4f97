#include "penstock/base/clock.h"

#include <gtest/gtest.h>

#include "penstock/base/testing/manual_clock.h"

namespace penstock::base {
namespace {

using namespace std::chrono_literals;

TEST(Clock, DeadlinesSaturateInsteadOfOverflowing) {  // BASE-004 scenario 6
  const MonotonicTime now(Duration(1h));
  EXPECT_EQ(deadlineAfter(now, 5s), now + 5s);
  EXPECT_EQ(deadlineAfter(now, Duration::max()), kNever);
  EXPECT_GT(deadlineAfter(now, Duration::max()), now);
  EXPECT_EQ(deadlineAfter(now, Duration::max() - 1h), kNever);
  EXPECT_EQ(deadlineAfter(now, Duration::max() - 1h - 1ns), kNever - 1ns);
  EXPECT_EQ(deadlineAfter(kNever, 1ns), kNever);
}

TEST(Clock, ANegativeOrZeroBudgetIsSpentAtOnce) {
  const MonotonicTime now(Duration(1h));
  EXPECT_EQ(deadlineAfter(now, 0s), now);
  EXPECT_EQ(deadlineAfter(now, Duration::min()), now);
}

TEST(Clock, TheManualClockMovesOnlyWhenTold) {
  ManualClock clock;
  const MonotonicTime start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(3s);
  EXPECT_EQ(clock.now(), start + 3s);
  clock.advanceTo(start);  // never backwards
  EXPECT_EQ(clock.now(), start + 3s);
}

TEST(Clock, TheSystemClockIsMonotonic) {
  const MonotonicTime first = systemClock().now();
  EXPECT_GE(systemClock().now(), first);
}

}  // namespace
}  // namespace penstock::base
