#include "penstock/formats/json/structural_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace penstock::formats {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

IndexError build(StructuralIndex& index, const std::string& text) {
  static std::string padded;
  padded = text + std::string(kJsonPadding, ' ');
  return index.build(PaddedText::assumePadded(std::string_view(padded).substr(0, text.size())));
}

TEST(StructuralIndex, HasAPortableImplementationAndUsesTheProcessorsBestOne) {
  EXPECT_THAT(StructuralIndex::implementations(), Contains("fallback"));
  for (const std::string& name : StructuralIndex::implementations()) {
    StructuralIndex index(name);
    ASSERT_EQ(build(index, R"({"a" : ["x,y", 12 ,null]})"), IndexError::kNone) << name;
    EXPECT_THAT(index.tokens(), ElementsAre(0, 1, 5, 7, 8, 13, 15, 18, 19, 23, 24)) << name;
    // What a walk may look at behind the last token.
    for (size_t behind = 0; behind < StructuralIndex::kSentinels; ++behind) {
      EXPECT_EQ(index.tokens().data()[index.tokens().size() + behind], 25u);
    }
  }
}

TEST(StructuralIndex, SaysWhyATextHasNoIndex) {
  for (const std::string& name : StructuralIndex::implementations()) {
    StructuralIndex index(name);
    EXPECT_EQ(build(index, ""), IndexError::kEmpty) << name;
    EXPECT_EQ(build(index, " \n"), IndexError::kEmpty) << name;
    EXPECT_EQ(build(index, "{\"a"), IndexError::kUnclosedString) << name;
    EXPECT_EQ(build(index, "{\"a\n\"}"), IndexError::kControlCharacter) << name;
    EXPECT_EQ(build(index, "{\"a\":\"\xFF\"}"), IndexError::kInvalidUtf8) << name;
    EXPECT_EQ(build(index, "{}"), IndexError::kNone) << name;
  }
}

TEST(StructuralIndex, GrowsWithTheText) {
  StructuralIndex index;
  std::string text = "[";
  for (int element = 0; element < 300'000; ++element) text += "1,";
  text += "1]";
  ASSERT_EQ(build(index, text), IndexError::kNone);
  EXPECT_EQ(index.tokens().size(), text.size());
  ASSERT_EQ(build(index, "[]"), IndexError::kNone);
  EXPECT_THAT(index.tokens(), ElementsAre(0, 1));
}

TEST(StructuralIndex, RefusesAnUnknownImplementation) {
  StructuralIndex index("abacus");
  EXPECT_EQ(build(index, "{}"), IndexError::kTooLarge);
}

TEST(FindInvalidUtf8, NamesTheFirstBadByte) {
  EXPECT_EQ(findInvalidUtf8(""), 0u);
  EXPECT_EQ(findInvalidUtf8("aé€𝄞"), std::string_view("aé€𝄞").size());
  EXPECT_EQ(findInvalidUtf8("ab\xFF"), 2u);
  EXPECT_EQ(findInvalidUtf8("a\xC3"), 1u);
  EXPECT_EQ(findInvalidUtf8("\xED\xA0\x80"), 0u);
  EXPECT_EQ(findInvalidUtf8("\xE0\x80\x80"), 0u);
  EXPECT_EQ(findInvalidUtf8("\xF0\x8F\xBF\xBF"), 0u);
  EXPECT_EQ(findInvalidUtf8("\xF4\x90\x80\x80"), 0u);
  EXPECT_EQ(findInvalidUtf8("é\xC0\xAF"), 2u);
}

}  // namespace
}  // namespace penstock::formats
