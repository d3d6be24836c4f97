#include "sink_simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace penstock::simulation {
namespace {

// BQW-033, BQW-043, BQW-050, BQW-054..BQW-059, BQW-070..BQW-078, BQW-080, BQW-151, BQW-152:
// connections, pools, destinations and writers together.
TEST(SinkSimulation, LosesNothingAndHandsOverEachBadRowOnce) {
  const char* seeds = std::getenv("PENSTOCK_SEEDS");
  const char* first = std::getenv("PENSTOCK_FIRST_SEED");
  const uint64_t count = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : 5000;
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  int retries = 0;
  int restarts = 0;
  int lost = 0;
  int failed = 0;
  int grown = 0;
  int atTheBound = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    const SeedReport report = playSinkSeed(seed);
    ASSERT_TRUE(report.violations.empty()) << report.describe();
    retries += report.retries;
    restarts += report.restarts;
    lost += report.lostAnswers;
    failed += report.failedWriters;
    grown += report.grown;
    atTheBound += report.atTheBound;
  }
  std::cout << count << " seeds: " << retries << " re-appends, " << lost << " lost answers, "
            << restarts << " restarts, " << failed << " of them after a writer's own failure; "
            << grown << " pools grew, " << atTheBound << " reached maxBufferedBytes\n";
  if (count < 100) return;
  // A schedule in which nothing goes wrong proves nothing.
  EXPECT_GT(retries, 100);
  EXPECT_GT(restarts, 10);
  EXPECT_GT(lost, 100);
  EXPECT_GT(grown, 10);
  EXPECT_GT(atTheBound, 10);
}

}  // namespace
}  // namespace penstock::simulation
