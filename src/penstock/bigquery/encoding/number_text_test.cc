#include "penstock/bigquery/encoding/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace penstock::bigquery {
namespace {

std::optional<int64_t> int64(std::string_view text) {
  int64_t value = 0;
  return parseInt64(text, &value).ok() ? std::optional(value) : std::nullopt;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  return parseDouble(text, &value).ok() ? std::optional(value) : std::nullopt;
}

TEST(NumberText, AcceptsIntegersInRangeOnly) {  // BQT-054, vector 36
  EXPECT_EQ(int64("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(int64("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(int64("-0"), 0);
  EXPECT_EQ(int64("007"), 7);
  for (const char* refused : {"9223372036854775808", "-9223372036854775809", "+5", "0x5", "1.0",
                              " 1", "1 ", "", "-", "1e3", "--1"}) {
    EXPECT_EQ(int64(refused), std::nullopt) << refused;
  }
}

TEST(NumberText, AcceptsDoublesButNoOverflow) {  // BQT-054, vector 38
  EXPECT_EQ(number("1e5"), 100000.0);
  EXPECT_EQ(number("+1.5"), 1.5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5.0);
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_EQ(number("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(*number("NaN")));
  EXPECT_EQ(number("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("+Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("-Infinity"), -std::numeric_limits<double>::infinity());
  for (const char* refused : {"1e400", "-1e400", "1e99999999999999999999", "inf", "nan", "infinity",
                              "+NaN", "-NaN", "0x1p3", "1e5f", " 1", "1 ", "", "+-1", "1_0"}) {
    EXPECT_EQ(number(refused), std::nullopt) << refused;
  }
}

TEST(NumberText, UnderflowsToTheNearestDouble) {  // BQT-054
  EXPECT_EQ(number("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(*number("-1e-400")));
  EXPECT_EQ(number("0." + std::string(1000, '0') + "1"), 0.0);
  EXPECT_EQ(number("0e400"), 0.0);
  EXPECT_EQ(number("0.0e99999999999999999999"), 0.0);
}

}  // namespace
}  // namespace penstock::bigquery
