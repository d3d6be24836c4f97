#include "penstock/bigquery/sink/sink_statistics.h"

#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, IsEmptyAtFirst) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.mean(), 0ns);
  EXPECT_EQ(histogram.quantile(0.5), 0ns);
}

TEST(LatencyHistogram, TellsMeanLongestAndQuantilesWithinAFactorOfTwo) {
  LatencyHistogram histogram;
  for (int time = 1; time <= 100; ++time) histogram.add(std::chrono::milliseconds(time));
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.mean(), 50'500us);
  EXPECT_EQ(histogram.longest(), 100ms);
  for (const double share : {0.1, 0.5, 0.9}) {
    const auto exact = std::chrono::milliseconds(static_cast<int>(share * 100));
    EXPECT_GE(histogram.quantile(share), exact) << share;
    EXPECT_LE(histogram.quantile(share), 2 * exact + 1ms) << share;
  }
  EXPECT_EQ(histogram.quantile(0.99), 100ms) << "no more than the longest";
}

TEST(LatencyHistogram, TakesNothingAndYears) {
  LatencyHistogram histogram;
  histogram.add(0ns);
  histogram.add(-1ns);
  histogram.add(24h * 365);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_LE(histogram.quantile(0.3), 1us);
  EXPECT_EQ(histogram.longest(), 24h * 365);
}

}  // namespace
}  // namespace penstock::bigquery
