// BQT-050: what is JSON by RFC 8259, and what is not, in the kinds of cases that public conformance
// corpora have. Every case is also put where a serializer skips it: inside an object, between other
// members.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "penstock/formats/json/testing/json_validity.h"

namespace penstock::formats {
namespace {

using namespace std::string_view_literals;

/// One test run for every implementation of the structural index that this processor has.
class JsonConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void expectValid(std::string_view text) {
    // Whatever the padding holds.
    for (int attempt = 0; attempt < 10; ++attempt) {
      EXPECT_EQ(validity_.whyInvalid(text), "") << text;
    }
    const std::string inside = fmt::format("{{\"a\":[0,{}],\"b\":1}}", text);
    EXPECT_EQ(validity_.whyInvalid(inside), "") << inside;
  }
  void expectInvalid(std::string_view text) {
    EXPECT_NE(validity_.whyInvalid(text), "") << text;
    const std::string inside = fmt::format("{{\"a\":[0,{}],\"b\":1}}", text);
    EXPECT_NE(validity_.whyInvalid(inside), "") << inside;
  }

  JsonValidity validity_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(EveryImplementation, JsonConformance,
                         ::testing::ValuesIn(StructuralIndex::implementations()),
                         [](const auto& info) { return info.param; });

TEST_P(JsonConformance, AcceptsStructures) {
  for (const auto text : {"[]",
                          "{}",
                          "[[]   ]",
                          "[ 4]",
                          "[\"\"]",
                          "[null, 1, \"1\", {}]",
                          "[1\n]",
                          " [1]",
                          "[1,null,null,null,2]",
                          "[2] ",
                          "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}",
                          "{\"\":0}",
                          "{\n\"a\": \"b\"\n}",
                          "{\"a\":[]}",
                          "{\"foo\\u0000bar\": 42}",
                          "{\"a\":{\"a\":{\"a\":1}}}",
                          "\t[\r\n1\t,\r2 ]\n",
                          "[[[[[[1],2],3],4],5],6]",
                          "{\"a\":1,\"A\":2}",
                          "\"asd\"",
                          "42",
                          "-0.1",
                          "null",
                          "true",
                          "false",
                          " 1 ",
                          "{\"min\":-1.0e+28,\"max\":1.0e+28}"}) {
    expectValid(text);
  }
}

TEST_P(JsonConformance, RefusesBrokenStructures) {
  for (const auto text : {"[1 true]",
                          "[\"\": 1]",
                          "[\"\"],",
                          "[,1]",
                          "[1,,2]",
                          "[\"x\",,]",
                          "[\"x\"]]",
                          "[\"\",]",
                          "[\"x\"",
                          "[x",
                          "[3[4]]",
                          "[1:2]",
                          "[,]",
                          "[-]",
                          "[   , \"\"]",
                          "[\"a\",\n4\n,1,",
                          "[1,]",
                          "[1,\n1\n,1",
                          "[\"a",
                          "[*]",
                          "[",
                          "]",
                          "[1}",
                          "{\"a\":1]",
                          "[{]}",
                          "{\"x\", null}",
                          "{\"x\"::\"b\"}",
                          "{key: 'value'}",
                          "{\"a\":\"a\" 123}",
                          "{\"a\" b}",
                          "{:\"b\"}",
                          "{\"a\" \"b\"}",
                          "{\"a\":",
                          "{\"a\"",
                          "{1:1}",
                          "{9999E9999:1}",
                          "{null:null,null:null}",
                          "{\"id\":0,,,,,}",
                          "{'a':0}",
                          "{\"id\":0,}",
                          "{\"a\":\"b\",,\"c\":\"d\"}",
                          "{\"a\":\"b\"}/**/",
                          "{\"a\":\"b\"}/",
                          "{/*x*/\"a\":1}",
                          "{\"a\":/*comment*/\"b\"}",
                          "{\"a\":\"b\"}#",
                          "{[: \"x\"}",
                          "{\"a\":true} \"x\"",
                          "{,\"a\":1}",
                          "{\"a\":1 \"b\":2}",
                          "{\"a\":}",
                          "{\"a\":,\"b\":1}",
                          "{{}}",
                          "{[]:1}",
                          "{\"a\":1}}",
                          "<null>",
                          "[<.>]",
                          "[1]x",
                          "[1]1",
                          "[][]",
                          "123 456",
                          "{}{}",
                          "{}}",
                          ",",
                          ":",
                          "{,}",
                          "[\"a\" \"b\"]",
                          "[\"a\"\"b\"]",
                          "[1\"a\"]",
                          "[\"a\"1]",
                          "[null\"a\"]",
                          "[{}{}]",
                          "[[][]]",
                          "[\\]",
                          "[\\\"a\\\"]",
                          "\\\"",
                          "{\"a\":\\\"b\",\\\"c\":1}",
                          "\xEF\xBB\xBF{}"}) {
    expectInvalid(text);
  }
  for (const auto text : {""sv, " "sv, "\n\t\r"sv}) EXPECT_NE(validity_.whyInvalid(text), "");
}

TEST_P(JsonConformance, RefusesWhatOnlyLooksLikeWhitespace) {
  for (const auto text :
       {"[\f]"sv, "[1\f]"sv, "[\v1]"sv, "[\xC2\xA0]"sv, "[1\xE2\x80\xA8]"sv, "[\xE2\x81\xA0]"sv,
        "[\0]"sv, "[1\0]"sv, "\0"sv, "[1]\0"sv, "[\x1A 1]"sv, "[1\x1A]"sv, "{\"a\"\x1A 1}"sv,
        "{\"a\":1\f\"b\":2}"sv, "[\x7F]"sv, "[null\f]"sv, "[\"a\"\f]"sv}) {
    expectInvalid(text);
  }
}

TEST_P(JsonConformance, AcceptsNumbers) {
  for (const auto text : {"123e65",
                          "0e+1",
                          "0e1",
                          "4",
                          "-0.000000000000000000000000000000000000000000000001",
                          "20e1",
                          "-0",
                          "-123",
                          "-1",
                          "1E22",
                          "1E-2",
                          "1E+2",
                          "123e45",
                          "123.456e78",
                          "1e-2",
                          "1e+2",
                          "123",
                          "123.456789",
                          "0",
                          "0.5",
                          "-0.0",
                          "1e400",
                          "-1e-400",
                          "100000000000000000000",
                          "1.0000000000000000000000000000000000000000001",
                          "9223372036854775808",
                          "0E0"}) {
    expectValid(text);
    EXPECT_EQ(validity_.whyInvalid(fmt::format("{}\n", text)), "");
    EXPECT_EQ(validity_.whyInvalid(fmt::format("[{} ,1]", text)), "");
  }
}

TEST_P(JsonConformance, RefusesWhatIsNoNumber) {
  for (const auto text : {"-01",   "-2.",          ".123",
                          "1.",    "0.1.2",        "0.3e+",
                          "0.3e",  "0.e1",         "0E",
                          "0e+",   "1.0e+",        "1.0e-",
                          "1.0e",  "1 000",        "1eE2",
                          "2.e+3", "2.e-3",        "2.e3",
                          "9.e+",  "Inf",          "NaN",
                          "-NaN",  "+1",           "++1",
                          "+Inf",  "1+2",          "0x1",
                          "0x42",  "Infinity",     "-Infinity",
                          "0e",    "-1x",          "1x",
                          "- 1",   "-012",         "-.1",
                          "1a",    "1ea",          "1.8011670033376514H-308",
                          "01",    "00",           "-00",
                          "1e1.5", "1__0",         "1,000.",
                          "--1",   "1-1",          "-",
                          "-a",    "1.2a-3",       "12\\u0030",
                          "1'000", "\xEF\xBC\x91", "1e",
                          "1e-",   "1.e",          "0b1",
                          "1f",    "1L",           "1\xE2\x82\xAC"}) {
    expectInvalid(text);
    EXPECT_NE(validity_.whyInvalid(fmt::format("[{} ,1]", text)), "") << text;
  }
}

TEST_P(JsonConformance, RefusesWhatIsNoLiteral) {
  for (const auto text : {"tru",       "truE",   "True",         "TRUE",   "fals",   "False",
                          "nul",       "Null",   "nulll",        "truee",  "falsey", "nan",
                          "undefined", "None",   "true1",        "null1",  "n",      "t",
                          "f",         "true\"", "falsefalse",   "tr ue",  "null\\", "true.",
                          "false-",    "TRUE",   "null\xC3\xA9", "'true'", "`a`"}) {
    expectInvalid(text);
  }
}

TEST_P(JsonConformance, AcceptsStrings) {
  for (const auto text : {R"("\u0060\u012a\u12AB")"sv,
                          R"("\uD801\udc37")"sv,
                          R"("\ud83d\ude39\ud83d\udc8d")"sv,
                          R"("\"\\\/\b\f\n\r\t")"sv,
                          R"("\\u0000")"sv,
                          R"("\"")"sv,
                          R"("a/*b*/c/*d//e")"sv,
                          R"("\\a")"sv,
                          R"("\\n")"sv,
                          R"("\u0012")"sv,
                          R"("\uFFFF")"sv,
                          R"("asd")"sv,
                          R"("\uDBFF\uDFFF")"sv,
                          R"("new\u00A0line")"sv,
                          R"("\u0000")"sv,
                          R"("\u002c")"sv,
                          R"("\u0022")"sv,
                          R"("\u005C")"sv,
                          R"("\uA66D")"sv,
                          R"("\u2028")"sv,
                          R"(" ")"sv,
                          R"("\u200B")"sv,
                          R"("\\\\\\\"")"sv,
                          R"("\\")"sv,
                          R"("[{,:}]")"sv,
                          "\"\x7F\""sv,
                          "\"\xE2\x82\xAC\xF0\x9D\x84\x9E\""sv,
                          "\"\xF4\x8F\xBF\xBF\""sv,
                          "\"\xEF\xBF\xBF\""sv,
                          "\"\xC2\x80\""sv,
                          "\"\xE0\xA0\x80\""sv,
                          "\"\xED\x9F\xBF\""sv,
                          "\"\xEE\x80\x80\""sv}) {
    expectValid(text);
  }
}

TEST_P(JsonConformance, RefusesBrokenStringsAndLoneSurrogates) {
  for (const auto text : {R"("\uD800\")"sv,
                          R"("\uD800\u")"sv,
                          R"("\uD800\u1")"sv,
                          R"("\uD800\u1x")"sv,
                          R"("\uD800")"sv,
                          R"("\uDC00")"sv,
                          R"("\uDd1e\uD834")"sv,
                          R"("\uD800\uD800\n")"sv,
                          R"("\uDADA")"sv,
                          R"("\ud800abc")"sv,
                          R"("\uD888\u1234")"sv,
                          R"("\x00")"sv,
                          R"("\\\")"sv,
                          R"("\)"sv,
                          R"("\a")"sv,
                          R"("\uqqqq")"sv,
                          R"("\u00A")"sv,
                          R"("\u")"sv,
                          R"("\u12")"sv,
                          R"("\U0041")"sv,
                          R"("\1")"sv,
                          R"("\')"sv,
                          R"("\'")"sv,
                          R"("\ ")"sv,
                          R"("a)"sv,
                          R"(")"sv,
                          R"('single quote')"sv,
                          R"(abc)"sv,
                          R"(\n)"sv,
                          R"("\u{41}")"sv,
                          R"("\u+041")"sv,
                          R"("\u 041")"sv,
                          "\"\t\""sv,
                          "\"new\nline\""sv,
                          "\"a\0a\""sv,
                          "\"\x1F\""sv,
                          "\"\\\x09\""sv,
                          "\"\\\n\""sv,
                          "\"\\\xF0\x9F\x8C\x80\""sv}) {
    expectInvalid(text);
    // As a key.
    if (text.front() == '"') expectInvalid(fmt::format("{{{}:1}}", text));
  }
}

TEST_P(JsonConformance, RefusesInvalidUtf8) {
  for (const auto text : {"\"\xFF\""sv,
                          "\"\xE9\""sv,
                          "\"\xC0\xAF\""sv,
                          "\"\xC1\xBF\""sv,
                          "\"\xE0\x80\x80\""sv,
                          "\"\xE0\xFF\""sv,
                          "\"\xF0\x80\x80\x80\""sv,
                          "\"\xF4\x90\x80\x80\""sv,
                          "\"\xF5\x80\x80\x80\""sv,
                          "\"\xED\xA0\x80\""sv,
                          "\"\xED\xBF\xBF\""sv,
                          "\"\x81\""sv,
                          "\"\xE2\x82\""sv,
                          "\"\xF0\x9D\x84\""sv,
                          "\"\xC3\""sv,
                          "\"\xC3\x28\""sv,
                          "\"\xFC\x80\x80\x80\x80\x80\""sv,
                          "\"\\\xE9\""sv,
                          "\"\\u\xE9\""sv,
                          "\xE9"sv,
                          "\xFF"sv,
                          "\"\xE2\x82\x41\""sv,
                          "\"a\x80\""sv}) {
    expectInvalid(text);
    if (text.front() == '"') expectInvalid(fmt::format("{{{}:1}}", text));
  }
}

TEST_P(JsonConformance, RefusesAKeyThatStandsTwice) {
  expectInvalid(R"({"a":1,"a":2})");
  expectInvalid(R"({"a":1,"b":2,"a":1})");
  expectInvalid(R"({"a":1,"\u0061":2})");
  expectInvalid(R"({"\u0061":1,"a":2})");
  expectInvalid(R"({"\u0061":1,"\u0061":2})");
  expectInvalid(R"({"x":{"a":{},"b":[{"c":1,"c":2}]}})");
  expectInvalid(R"({"":1,"":2})");
  expectValid(R"({"a":1,"A":2})");
  expectValid(R"({"a":{"a":{"a":1}},"b":{"a":1}})");
  expectValid(R"([{"a":1},{"a":1}])");
  std::string many = "{";
  for (int key = 0; key < 300; ++key)
    many += fmt::format("\"k{}\":{{\"k1\":1}},", key * 7919 % 300);
  expectValid(many + "\"x\":1}");
  expectInvalid(many + "\"k150\":1}");
  expectInvalid(many + "\"\\u006b150\":1}");
}

TEST_P(JsonConformance, NestsAsDeepAs512) {
  const auto nested = [](size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (size_t level = 0; level < depth; ++level) text += open;
    for (size_t level = 0; level < depth; ++level) text += close;
    return text;
  };
  EXPECT_EQ(validity_.whyInvalid(nested(512, "[", "]")), "");
  EXPECT_NE(validity_.whyInvalid(nested(513, "[", "]")), "");
  EXPECT_NE(validity_.whyInvalid(nested(100'000, "[", "")), "");
  EXPECT_EQ(validity_.whyInvalid(nested(511, "{\"a\":", "}").insert(511 * 5, "[]")), "");
  EXPECT_NE(validity_.whyInvalid(nested(512, "{\"a\":", "}").insert(512 * 5, "[]")), "");
  EXPECT_NE(validity_.whyInvalid(nested(100'000, "[{\"\":", "")), "");
}

TEST_P(JsonConformance, ReadsTextsOfAnyLengthToTheirEnd) {
  // Tokens on every position of a block, and texts cut after every byte.
  const std::string document =
      R"({"first":[1,-2.5e3,true,null,"text \" \\ \u20ac"],"second":{"third":false},"4":""})";
  for (size_t pad = 0; pad < 130; ++pad) {
    const std::string text = std::string(pad, ' ') + document;
    EXPECT_EQ(validity_.whyInvalid(text), "");
    EXPECT_EQ(validity_.whyInvalid(text + std::string(pad, '\n')), "");
    EXPECT_NE(validity_.whyInvalid(text + std::string(pad, '\n') + "x"), "");
  }
  for (size_t size = 0; size < document.size(); ++size) {
    EXPECT_NE(validity_.whyInvalid(document.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace penstock::formats
