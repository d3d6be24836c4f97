#include "penstock/emulator/service/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "penstock/base/random.h"

namespace penstock::emulator {
namespace {

TEST(JsonText, TakesDocuments) {
  for (const char* good :
       {"1", "-0", "0.5e+3", "-12.25E-2", "null", "true", "false", "\"\"", "\"x\\n\\u00e9\\\"\"",
        "[]", "{}", " [ ] ", "{\"a\":{\"b\":[1,[2,{}],\"c\"]},\"d\":null}", "[[[[]]]]",
        "\t\r\n{\"k\" : [ 1 , 2 ] }\n", "\"\xC3\xA9\""}) {
    EXPECT_TRUE(isJsonText(good)) << good;
  }
}

TEST(JsonText, RefusesWhatIsNone) {
  for (const char* bad : {"",     " ",       "{",         "}",           "[",          "]",
                          "[1,]", "[,1]",    "[1 2]",     "01",          "-",          "1.",
                          ".5",   "1e",      "+1",        "tru",         "nulll",      "NaN",
                          "'x'",  "\"x",     "\"\\x\"",   "\"\\u12g4\"", "\"\t\"",     "\"\xFF\"",
                          "1 2",  "{\"a\"}", "{\"a\":}",  "{a:1}",       "{\"a\":1,}", "{\"a\":1]",
                          "[1}",  "[]]",     "{\"a\" 1}", "// x",        "[1] x"}) {
    EXPECT_FALSE(isJsonText(bad)) << bad;
  }
  EXPECT_FALSE(isJsonText(std::string_view("1\0", 2)));
  EXPECT_FALSE(isJsonText(std::string_view("\"a\0b\"", 5)));
}

TEST(JsonText, BoundsTheDepth) {
  EXPECT_TRUE(isJsonText(std::string(500, '[') + std::string(500, ']')));
  EXPECT_FALSE(isJsonText(std::string(502, '[') + std::string(502, ']')));
}

TEST(JsonText, AgreesWithAnotherParserOnTextsChangedAtRandom) {
  const std::string seed = R"({"a":[1,-2.5e3,"x\n",true],"b":{"c":null,"d":[]},"e":"y"} )";
  const std::string bytes = "{}[],:\"\\ 0123456789.eE+-truefalsn\nx";
  const auto random = base::seededRandom(3);
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (uint64_t change = random->below(3); change > 0; --change) {
      const size_t place = random->below(text.size());
      if (random->chance(0.5)) {
        text[place] = bytes[random->below(bytes.size())];
      } else {
        text.erase(place, 1 + random->below(5));
      }
    }
    const bool expected = nlohmann::json::accept(text);
    good += expected ? 1 : 0;
    ASSERT_EQ(isJsonText(text), expected) << text;
  }
  EXPECT_GT(good, 5000);
  EXPECT_LT(good, 19000);
}

}  // namespace
}  // namespace penstock::emulator
