#pragma once

#include <cstdint>
#include <memory>

namespace penstock::base {

/// Source of randomness; injected, so that a simulation replays exactly. One thread at a time.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [0, bound); `bound` > 0. The bias of the modulo is below 2^-32 for the bounds used
  /// here.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// True with the given probability.
  bool chance(double probability) { return uniform() < probability; }
};

/// Deterministic sequence (xoshiro256**) for a seed.
[[nodiscard]] std::unique_ptr<Random> seededRandom(uint64_t seed);

/// Seeded from the operating system.
[[nodiscard]] std::unique_ptr<Random> systemRandom();

}  // namespace penstock::base
