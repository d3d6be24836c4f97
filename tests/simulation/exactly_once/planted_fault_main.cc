// Plays seeds until a promise is broken: with a planted fault one must be.

#include <cstdio>

#include "exactly_once/simulation.h"

int main() {
  constexpr uint64_t kSeeds = 5000;  // as many as CI plays
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto report = penstock::simulation::playExactlyOnce({seed});
    if (report.violations.empty()) continue;
    std::printf("caught: %s\n", report.describe().c_str());
    return 0;
  }
  std::printf("not caught in %d seeds: the simulation would miss this fault\n",
              static_cast<int>(kSeeds));
  return 1;
}
