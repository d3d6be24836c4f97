#include "penstock/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock::base {
namespace {

TEST(MetricGroup, CreatesOnFirstUseAndKeepsTheMetric) {  // BASE-041
  MetricGroup group;
  EXPECT_TRUE(group.snapshot().counters.empty());
  Counter& errors = group.counter("errorClass.UNAVAILABLE.errors");
  errors.add();
  EXPECT_EQ(&group.counter("errorClass.UNAVAILABLE.errors"), &errors);
  for (int other = 0; other < 100; ++other) group.counter("counter" + std::to_string(other));
  errors.add(2);
  EXPECT_EQ(group.snapshot().counters.at("errorClass.UNAVAILABLE.errors"), 3U);
}

TEST(MetricGroup, GaugesGoUpAndDown) {
  MetricGroup group;
  group.gauge("inFlightBatches").add(5);
  group.gauge("inFlightBatches").add(-2);
  EXPECT_EQ(group.snapshot().gauges.at("inFlightBatches"), 3);
  group.gauge("inFlightBatches").set(0);
  EXPECT_EQ(group.snapshot().gauges.at("inFlightBatches"), 0);
}

TEST(MetricGroup, IsReadWhileOthersWrite) {  // BASE-042
  MetricGroup group;
  std::thread writer([&group] {
    for (int round = 0; round < 10'000; ++round) group.counter("rows").add();
  });
  uint64_t last = 0;
  while (last < 10'000) {
    const auto counters = group.snapshot().counters;
    const auto rows = counters.find("rows");
    const uint64_t now = rows == counters.end() ? 0 : rows->second;
    ASSERT_GE(now, last);
    last = now;
  }
  writer.join();
}

}  // namespace
}  // namespace penstock::base
