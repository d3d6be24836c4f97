#include "penstock/base/text.h"

#include <gtest/gtest.h>

namespace penstock::base {
namespace {

TEST(Text, TrimsAndFoldsAsciiOnly) {
  EXPECT_EQ(trimmed(" \t a b\n"), "a b");
  EXPECT_EQ(trimmed("  "), "");
  EXPECT_TRUE(isBlank("\r\n\v\f"));
  EXPECT_FALSE(isBlank("\xc2\xa0"));  // a no-break space is not ASCII
  EXPECT_EQ(toUpper("abz-_9\xc3\xa4"), "ABZ-_9\xc3\xa4");
  EXPECT_EQ(toLower("ABZ"), "abz");
}

TEST(Text, MeasuresTheDistanceOfWords) {
  EXPECT_EQ(editDistance("", "abc"), 3U);
  EXPECT_EQ(editDistance("abc", ""), 3U);
  EXPECT_EQ(editDistance("location", "location"), 0U);
  EXPECT_EQ(editDistance("locaton", "location"), 1U);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3U);
}

TEST(Text, ExcerptsAreCutBetweenCharacters) {
  EXPECT_EQ(excerpt("abc", 3), "abc");
  EXPECT_EQ(excerpt("abcd", 3), "abc...");
  EXPECT_EQ(excerpt("ab\xc3\xa4"
                    "d",
                    3),
            "ab...")
      << "no half of a character";
}

}  // namespace
}  // namespace penstock::base
