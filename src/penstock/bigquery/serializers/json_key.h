#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace penstock::bigquery {

/// Appends `name` in lower case, whatever the locale: how column names and keys are compared
/// (BQT-053).
void appendLowerCase(std::string_view name, std::string* out);

inline uint64_t loadWord(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// A hash of a key, the same whatever the case of its ASCII letters, for the look-up tables of a
/// plan. The tables hold what a schema says, not what documents bring, so it need not resist an
/// adversary.
inline uint64_t hashKey(std::string_view key) {
  constexpr uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15;
  // Also turns some other characters into one another, which only makes them collide.
  constexpr uint64_t kLowerCase = 0x2020'2020'2020'2020;
  const auto mix = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ (word | kLowerCase)) * kMultiplier;
    return hash ^ hash >> 32;
  };
  const char* at = key.data();
  const size_t size = key.size();
  uint64_t hash = size * kMultiplier;
  // The last word overlaps the one before.
  if (size >= 8) {
    for (size_t index = 0; index + 8 < size; index += 8) hash = mix(hash, loadWord(at + index));
    return mix(hash, loadWord(at + size - 8));
  }
  if (size >= 4) {
    uint32_t first;
    uint32_t last;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    return mix(hash, uint64_t{first} << 32 | last);
  }
  if (size == 0) return hash;
  const auto byteAt = [at](size_t index) { return uint64_t{static_cast<uint8_t>(at[index])}; };
  return mix(hash, byteAt(0) << 16 | byteAt(size / 2) << 8 | byteAt(size - 1));
}

}  // namespace penstock::bigquery
