#include "penstock/formats/json/json_string.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace penstock::formats {
namespace {

using namespace std::string_view_literals;

std::string unescaped(std::string_view raw) {
  std::string text;
  JsonFault fault;
  if (!unescapeString(raw, &text, &fault)) {
    return "byte " + std::to_string(fault.at - raw.data()) + ": " + fault.reason;
  }
  return text;
}

TEST(UnescapeString, WritesWhatEveryEscapeStandsFor) {
  EXPECT_EQ(unescaped(R"(plain)"), "plain");
  EXPECT_EQ(unescaped(R"()"), "");
  EXPECT_EQ(unescaped(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"(a\u0041b)"), "aAb");
  EXPECT_EQ(unescaped(R"(\u0000)"), "\0"sv);
  EXPECT_EQ(unescaped(R"(\u00e9\u20AC\ud834\uDD1E)"), "é€𝄞");
  EXPECT_EQ(unescaped(R"(\u007f\u0080\u07ff\u0800\uffff)"),
            "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF");
  EXPECT_EQ(unescaped(R"(\uD800\uDC00\uDBFF\uDFFF)"), "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  EXPECT_EQ(unescaped(R"(\\u0041)"), "\\u0041");
}

// BQT-050
TEST(UnescapeString, RefusesUnknownEscapesAndLoneSurrogates) {
  constexpr auto kUnknown = "an escape that JSON does not know";
  constexpr auto kLone = "a lone surrogate, which no UTF-8 text can hold";
  EXPECT_EQ(unescaped(R"(ab\x)"), std::string("byte 2: ") + kUnknown);
  EXPECT_EQ(unescaped(R"(\u12)"), std::string("byte 0: ") + kUnknown);
  EXPECT_EQ(unescaped(R"(\)"), std::string("byte 0: ") + kUnknown);
  EXPECT_EQ(unescaped(R"(\u12g4)"), std::string("byte 0: ") + kUnknown);
  EXPECT_EQ(unescaped(R"(a\ud800)"), std::string("byte 1: ") + kLone);
  EXPECT_EQ(unescaped(R"(\udc00)"), std::string("byte 0: ") + kLone);
  EXPECT_EQ(unescaped(R"(\ud800\u0041)"), std::string("byte 0: ") + kLone);
  EXPECT_EQ(unescaped(R"(\ud800\n)"), std::string("byte 0: ") + kLone);
  EXPECT_EQ(unescaped(R"(\ud800\ud800)"), std::string("byte 0: ") + kLone);
}

TEST(CheckEscapes, RefusesWhatUnescapingRefuses) {
  JsonFault fault;
  for (const auto text : {R"(\ud834\uDD1E\n)", "", "plain", R"(\\)"}) {
    EXPECT_TRUE(checkEscapes(text, &fault)) << text;
  }
  for (const auto text : {R"(\ud834)", R"(ab\q)", R"(\n\u00)", R"(\)"}) {
    EXPECT_FALSE(checkEscapes(text, &fault)) << text;
  }
}

}  // namespace
}  // namespace penstock::formats
