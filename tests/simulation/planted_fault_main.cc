// Plays seeds until a promise is broken: with a planted fault one must be.

#include <cstdio>

#include "sink_simulation.h"

int main() {
  constexpr uint64_t kSeeds = 2000;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto report = penstock::simulation::playSinkSeed(seed);
    if (report.violations.empty()) continue;
    std::printf("caught: %s\n", report.describe().c_str());
    return 0;
  }
  std::printf("not caught in %d seeds: the simulation would miss this fault\n",
              static_cast<int>(kSeeds));
  return 1;
}
