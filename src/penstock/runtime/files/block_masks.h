#pragma once

#include <cstddef>
#include <cstdint>

/// Character classes of 64 bytes at a time, one bit a byte (bit 0 the first): what tells JSON's
/// structure from its strings without a branch per byte.
namespace penstock::runtime {

struct BlockMasks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t bracket = 0;      ///< { } [ ]
  uint64_t lineEnd = 0;      ///< \n
  uint64_t afterString = 0;  ///< what may follow a string: blanks , : } ]
};

inline constexpr size_t kBlockBytes = 64;

/// Fills `masks` for `count` blocks; reads exactly `count` times 64 bytes. Runs the machine's
/// widest vector code, chosen at run time.
void classifyBlocks(const char* bytes, size_t count, BlockMasks* masks);

/// The same in the portable code, for tests.
void classifyBlocksPortably(const char* bytes, size_t count, BlockMasks* masks);

/// The bytes that a backslash escapes. `carry`: whether the block's first byte is escaped by the
/// block before; set to the same for the block after.
inline uint64_t escapedBytes(uint64_t backslash, bool& carry) {
  uint64_t escaped = carry ? 1 : 0;
  if (backslash == 0) {
    carry = false;
    return escaped;
  }
  // Backslashes are rare in data: one step for each that escapes something.
  uint64_t left = backslash & ~escaped;
  carry = false;
  while (left != 0) {
    const uint64_t first = left & (~left + 1);
    const uint64_t target = first << 1;
    if (target == 0) carry = true;
    escaped |= target;
    left &= ~(first | target);
  }
  return escaped;
}

/// Each bit becomes the exclusive or of itself and all before it: from quotes to the insides of
/// strings.
inline uint64_t prefixXor(uint64_t bits) {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  bits ^= bits << 32;
  return bits;
}

}  // namespace penstock::runtime
