#include "penstock/runtime/files/block_masks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace penstock::runtime {
namespace {

TEST(BlockMasks, AreTheSameInPortableAndVectorCode) {
  std::mt19937 random(1);
  std::string text(kBlockBytes * 300, '\0');
  for (char& c : text) {
    c = random() % 2 == 0 ? static_cast<char>(random()) : "{}[]\",:\\ \n\r\t"[random() % 12];
  }
  std::vector<BlockMasks> fast(300);
  std::vector<BlockMasks> portable(300);
  classifyBlocks(text.data(), 300, fast.data());
  classifyBlocksPortably(text.data(), 300, portable.data());
  for (size_t block = 0; block < 300; ++block) {
    EXPECT_EQ(fast[block].quote, portable[block].quote);
    EXPECT_EQ(fast[block].backslash, portable[block].backslash);
    EXPECT_EQ(fast[block].bracket, portable[block].bracket);
    EXPECT_EQ(fast[block].lineEnd, portable[block].lineEnd);
    EXPECT_EQ(fast[block].afterString, portable[block].afterString);
  }
}

TEST(BlockMasks, FindWhatBackslashesEscape) {
  bool carry = false;
  EXPECT_EQ(escapedBytes(0b0000'0001, carry), 0b0000'0010U);
  EXPECT_EQ(escapedBytes(0b0000'0011, carry), 0b0000'0010U) << "the second is escaped itself";
  EXPECT_EQ(escapedBytes(0b0000'0111, carry), 0b0000'1010U);
  EXPECT_FALSE(carry);
  EXPECT_EQ(escapedBytes(uint64_t{1} << 63, carry), 0U);
  EXPECT_TRUE(carry) << "the next block's first byte";
  EXPECT_EQ(escapedBytes(0b1, carry), 0b1U) << "a backslash that is escaped escapes nothing";
  EXPECT_FALSE(carry);
}

TEST(BlockMasks, FindTheInsidesOfStrings) {
  EXPECT_EQ(prefixXor(0b0010'0100), 0b0001'1100U);
  EXPECT_EQ(prefixXor(0b0000'0001), ~uint64_t{0}) << "open to the end";
}

}  // namespace
}  // namespace penstock::runtime
