#include "penstock/emulator/storage/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace penstock::emulator {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82F63B78;

// Row k holds the CRC of a byte followed by k zero bytes, so that eight look-ups advance eight
// bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    }
    tables[0][byte] = value;
  }
  for (size_t row = 1; row < tables.size(); ++row) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[row - 1][byte];
      tables[row][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = makeTables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32cInstruction(std::string_view data, uint32_t crc) {
  uint64_t state = ~crc;
  const char* at = data.data();
  size_t left = data.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    state = _mm_crc32_u64(state, word);
  }
  auto narrow = static_cast<uint32_t>(state);
  for (; left > 0; --left, ++at) narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(*at));
  return ~narrow;
}
#endif

}  // namespace

uint32_t crc32cPortable(std::string_view data, uint32_t crc) {
  uint32_t state = ~crc;
  const char* at = data.data();
  size_t left = data.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::array<uint8_t, 8> bytes;
    std::memcpy(bytes.data(), at, bytes.size());
    const uint32_t low = state ^ (bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                                  uint32_t{bytes[3]} << 24);
    state = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
            kTables[4][low >> 24] ^ kTables[3][bytes[4]] ^ kTables[2][bytes[5]] ^
            kTables[1][bytes[6]] ^ kTables[0][bytes[7]];
  }
  for (; left > 0; --left, ++at) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<uint8_t>(*at)) & 0xFF];
  }
  return ~state;
}

uint32_t crc32c(std::string_view data, uint32_t crc) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasInstruction) return crc32cInstruction(data, crc);
#endif
  return crc32cPortable(data, crc);
}

}  // namespace penstock::emulator
