#include "penstock/emulator/rows/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator {
namespace {

TEST(Utf8, TakesEveryLengthOfCharacter) {
  EXPECT_TRUE(isValidUtf8(""));
  EXPECT_TRUE(isValidUtf8("plain text that is longer than a word"));
  EXPECT_TRUE(isValidUtf8("n\xC3\xAF \xE2\x82\xAC \xF0\x9F\x98\x80 end of the text"));
  EXPECT_TRUE(isValidUtf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  for (const std::string_view bytes :
       {"\x80", "\xC3", "\xC3(", "\xC0\xAF", "\xC1\xBF", "\xE2\x82", "\xE2(\xAC", "\xE0\x80\xAF",
        "\xED\xA0\x80", "\xF0\x9F\x98", "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF"}) {
    EXPECT_FALSE(isValidUtf8(bytes));
    EXPECT_FALSE(isValidUtf8("eight and more " + std::string(bytes)));
    EXPECT_FALSE(isValidUtf8(std::string(bytes) + " eight and more"));
  }
}

}  // namespace
}  // namespace penstock::emulator
