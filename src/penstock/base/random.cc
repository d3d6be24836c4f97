#include "penstock/base/random.h"

#include <array>
#include <random>

namespace penstock::base {
namespace {

// xoshiro256** by Blackman and Vigna (public domain), seeded through splitmix64 as its authors
// advise.
class Xoshiro final : public Random {
 public:
  explicit Xoshiro(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
      word = mixed ^ (mixed >> 31);
    }
  }

  uint64_t next() override {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

 private:
  static uint64_t rotate(uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }
  std::array<uint64_t, 4> state_;
};

}  // namespace

std::unique_ptr<Random> seededRandom(uint64_t seed) { return std::make_unique<Xoshiro>(seed); }

std::unique_ptr<Random> systemRandom() {
  std::random_device device;
  return seededRandom((static_cast<uint64_t>(device()) << 32) | device());
}

}  // namespace penstock::base
