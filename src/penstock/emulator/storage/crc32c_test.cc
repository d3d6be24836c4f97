#include "penstock/emulator/storage/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator {
namespace {

// The vectors of RFC 3720, appendix B.4.
TEST(Crc32c, MatchesThePublishedVectors) {
  std::string ascending;
  for (int value = 0; value < 32; ++value) ascending += static_cast<char>(value);
  for (const auto& compute : {crc32c, crc32cPortable}) {
    EXPECT_EQ(compute(std::string(32, '\0'), 0), 0x8A9136AAu);
    EXPECT_EQ(compute(std::string(32, '\xFF'), 0), 0x62A8AB43u);
    EXPECT_EQ(compute(ascending, 0), 0x46DD794Eu);
    EXPECT_EQ(compute("123456789", 0), 0xE3069283u);
    EXPECT_EQ(compute("", 0), 0u);
  }
}

TEST(Crc32c, ContinuesFromWhatStandsBefore) {
  const std::string text = "rows arrive in slices of any length, and are summed piece by piece";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32cPortable(text));
  }
}

}  // namespace
}  // namespace penstock::emulator
