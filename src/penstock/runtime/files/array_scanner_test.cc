#include "penstock/runtime/files/array_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "penstock/runtime/record_batch.h"
#include "penstock/runtime/testing/reference_array_scan.h"

namespace penstock::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Scan {
  std::vector<std::string> elements;
  std::string error;
  uint64_t errorAt = 0;
};

/// Scans `text` as it arrives: first `firstBytes`, then `stepBytes` more at a time.
Scan scan(const std::string& text, size_t firstBytes, size_t stepBytes) {
  Scan result;
  ArrayScanner scanner(0, false);
  size_t there = std::min(firstBytes, text.size());
  while (true) {
    const bool last = there == text.size();
    // A copy with foreign bytes behind: nothing there may count.
    const std::string data = text.substr(0, there) + std::string(kRecordPadding, '"');
    const auto step = scanner.next(data.data(), 0, there, last);
    if (!step.ok()) {
      result.error = std::string(step.status().message());
      result.errorAt = scanner.errorAt();
      return result;
    }
    if (*step == ArrayScanner::Step::kElement) {
      result.elements.push_back(
          data.substr(scanner.elementBegin(), scanner.elementEnd() - scanner.elementBegin()));
    } else if (*step == ArrayScanner::Step::kEnd) {
      return result;
    } else {
      there = std::min(there + stepBytes, text.size());
    }
  }
}

Scan scan(const std::string& text) { return scan(text, text.size(), 1); }

TEST(ArrayScanner, FindsElements) {
  EXPECT_THAT(scan(R"([])").elements, ElementsAre());
  EXPECT_THAT(scan("\n [ ] \r\n").elements, ElementsAre());
  EXPECT_THAT(scan(R"([{"a":1},{"b":[1,{"c":"]}"}]} , {}])").elements,
              ElementsAre(R"({"a":1})", R"({"b":[1,{"c":"]}"}]})", "{}"));
}

TEST(ArrayScanner, LeavesElementsOfOtherKindsToTheirReader) {
  EXPECT_THAT(scan(R"([1, "a,]\"b", null,[2,3],tru])").elements,
              ElementsAre("1", R"("a,]\"b")", "null", "[2,3]", "tru"));
}

TEST(ArrayScanner, TakesEscapesForWhatTheyAre) {
  EXPECT_THAT(scan(R"([{"a":"\\"},{"b":"\"}"},{"c":"\\\"]"}])").elements,
              ElementsAre(R"({"a":"\\"})", R"({"b":"\"}"})", R"({"c":"\\\"]"})"));
}

TEST(ArrayScanner, ReportsABrokenFrame) {
  const struct {
    const char* text;
    const char* error;
    uint64_t at;
  } cases[] = {
      {R"([{} {}])", "expected , or ] after an element, found \"{\"", 4},
      {R"([{}{}])", "expected , or ] after an element, found \"{\"", 3},
      {R"([{},])", "expected an element, found \"]\"", 4},
      {R"([,{}])", "expected an element, found \",\"", 1},
      {R"([{},,{}])", "expected an element, found \",\"", 4},
      {R"([{}}])", "expected , or ] after an element, found \"}\"", 3},
      {R"([{}] x)", "expected nothing after the array's end, found \"x\"", 5},
      {R"([{}],{})", "expected nothing after the array's end, found \",\"", 4},
      {R"([{}][{}])", "expected nothing after the array's end, found \"[\"", 4},
      {R"([{})", "the file ends before the array is closed with ]", 3},
      {R"([{},)", "the file ends before the array is closed with ]", 4},
      {R"([)", "the file ends before the array is closed with ]", 1},
      {R"([{"a":1)", "the file ends inside the element that begins here", 1},
      {R"([{"a":"x)", "the file ends inside the element that begins here", 1},
      {R"([12)", "the file ends inside the element that begins here", 1},
  };
  for (const auto& broken : cases) {
    const Scan result = scan(broken.text);
    EXPECT_THAT(result.error, HasSubstr(broken.error)) << broken.text;
    EXPECT_EQ(result.errorAt, broken.at) << broken.text;
  }
}

TEST(ArrayScanner, StopsWhereAnElementsEndCannotBeTold) {
  // Each would otherwise swallow good elements, or take a part of one for a whole.
  EXPECT_THAT(scan(R"([{"a":[1},{"b":2}]})").error, HasSubstr("} closes what [ opened"));
  EXPECT_THAT(scan(R"([{"a":"x},{"b":"y"},{"c":"z}])").error,
              HasSubstr("directly behind a string"));
  EXPECT_THAT(scan("[{\"a\":\"x},\n{\"b\":2}]").error, HasSubstr("the line ends inside a string"));
  EXPECT_THAT(scan("[\"a,\n{\"b\":2}]").error, HasSubstr("the line ends inside a string"));
  EXPECT_THAT(scan(R"([x[{"a":1},{"b":2}]])").error, HasSubstr("within a number or word"));
  std::string deep = "[" + std::string(ArrayScanner::kMaxDepth + 1, '[');
  EXPECT_THAT(scan(deep).error, HasSubstr("nested more than"));
}

TEST(ArrayScanner, PassesOnMalformedElementsWhoseEndIsClear) {
  EXPECT_THAT(scan(R"([{"a":tru},{"a" "b":1},{bad},{"a":1,},{"a":01}])").elements,
              ElementsAre(R"({"a":tru})", R"({"a" "b":1})", "{bad}", R"({"a":1,})", R"({"a":01})"));
}

/// A random value, with all that could lead the scanner astray inside strings.
std::string randomValue(std::mt19937& random, int depth) {
  const auto pick = [&random](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  const auto text = [&] {
    static const std::vector<std::string> kParts = {
        "a", "{", "}", "[", "]", ",", ":", "\\\"", "\\\\", "\\u0022", "  ", "\xC3\xA9"};
    std::string string = "\"";
    for (int left = pick(12); left > 0; --left) string += kParts[static_cast<size_t>(pick(12))];
    return string + "\"";
  };
  const int kind = depth == 0 ? pick(3) : pick(5);
  if (kind == 0) return std::to_string(pick(100000));
  if (kind == 1) return text();
  if (kind == 2) return "null";
  std::string value = kind == 3 ? "{" : "[";
  const int members = pick(5);
  for (int at = 0; at < members; ++at) {
    if (at > 0) value += pick(2) == 0 ? "," : " ,\n ";
    if (kind == 3) value += text() + (pick(2) == 0 ? ":" : " : ");
    value += randomValue(random, depth - 1);
  }
  return value + (kind == 3 ? "}" : "]");
}

TEST(ArrayScanner, AgreesWithTheReferenceOnNonsense) {
  constexpr std::string_view kAlphabet = "{}[]\",:\\ \n1a{}[]\"\",,";
  int good = 0;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    std::mt19937 random(seed);
    std::string text = "[";
    for (unsigned left = random() % 40; left > 0; --left) {
      text += random() % 4 == 0 ? randomValue(random, 2)
                                : std::string(1, kAlphabet[random() % kAlphabet.size()]);
    }
    text += random() % 2 == 0 ? "]" : "";
    const ReferenceArrayScan expected(text);
    const Scan result = scan(text, random() % (text.size() + 1), 1 + random() % 70);
    std::vector<std::string> elements;
    for (const auto& [begin, end] : expected.elements) {
      elements.push_back(text.substr(begin, end - begin));
    }
    ASSERT_EQ(result.elements, elements) << text;
    ASSERT_EQ(!result.error.empty(), expected.broken) << text << "\n" << result.error;
    if (expected.broken) {
      ASSERT_EQ(result.errorAt, expected.errorAt) << text << "\n" << result.error;
    }
    good += expected.broken ? 0 : 1;
  }
  EXPECT_GT(good, 100);
}

TEST(ArrayScanner, FindsTheSameElementsHoweverTheyArrive) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> expected;
    std::string text = "[";
    for (unsigned count = random() % 20; count > 0; --count) {
      if (!expected.empty()) text += random() % 2 == 0 ? "," : "\r\n , ";
      expected.push_back(randomValue(random, 4));
      text += expected.back();
    }
    text += "]\n";
    for (const size_t step : {size_t{1}, size_t{31}, size_t{64}, size_t{100}}) {
      const Scan result = scan(text, random() % (text.size() + 1), step);
      ASSERT_EQ(result.error, "") << text;
      ASSERT_EQ(result.elements, expected) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace penstock::runtime
