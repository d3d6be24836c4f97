// BQT-054: every column type against every kind of JSON value, both ways.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The row of one column `v` of that type, without its tag; or the error.
std::string convert(ColumnType type, std::string_view value) {
  const std::string row = hexRow({{column("v", type)}}, fmt::format("{{\"v\":{}}}", value));
  return row.starts_with("root") || row.empty() ? row : row.substr(2);
}

/// The same of a string or message field: without its length, which is below 128.
std::string text(ColumnType type, std::string_view value) {
  const auto row = rowOf({{column("v", type)}}, fmt::format("{{\"v\":{}}}", value));
  return row.ok() ? row->substr(2) : std::string(base::messageOf(row.status()));
}

std::string asString(std::string_view value) { return fmt::format("\"{}\"", value); }

std::string hexVarint(int64_t value) {
  std::string bytes;
  auto left = static_cast<uint64_t>(value);
  for (; left >= 0x80; left >>= 7) bytes.push_back(static_cast<char>(left | 0x80));
  bytes.push_back(static_cast<char>(left));
  return toHex(bytes);
}

void expectError(ColumnType type, std::string_view value, std::string_view reason = "") {
  const std::string error = convert(type, value);
  EXPECT_THAT(error, StartsWith("root.v (")) << value << " was accepted";
  EXPECT_THAT(error, HasSubstr(std::string(reason))) << value;
}

constexpr std::string_view kNoKind = "cannot become a value of this column";

void expectWrongKinds(ColumnType type, const std::vector<std::string_view>& values) {
  for (const std::string_view value : values) expectError(type, value, kNoKind);
}

// Vector 37
TEST(JsonConversion, String) {
  for (const ColumnType type : {ColumnType::kString, ColumnType::kInterval}) {
    EXPECT_EQ(text(type, R"("1-2 3 4:5:6")"), "1-2 3 4:5:6");
    EXPECT_EQ(text(type, R"("")"), "");
    EXPECT_EQ(text(type, "5"), "5");
    EXPECT_EQ(text(type, "-0"), "0");
    EXPECT_EQ(text(type, "-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(text(type, "9223372036854775807"), "9223372036854775807");
    expectError(type, "9223372036854775808", "out of range");
    EXPECT_EQ(text(type, "true"), "true");
    EXPECT_EQ(text(type, "false"), "false");
    expectWrongKinds(type, {"1.5", "1.0", "1e3", "{\"k\":1}", "[]", "[\"a\"]"});
  }
}

// Vector 57
TEST(JsonConversion, Json) {
  constexpr auto kType = ColumnType::kJson;
  EXPECT_EQ(text(kType, R"({"k":1})"), R"({"k":1})");
  EXPECT_EQ(text(kType, R"([1,null])"), R"([1,null])");
  EXPECT_EQ(text(kType, "{ \"k\" :\t[ 1.50 , -0, \"\\u00e9\\n\"] }"),
            "{ \"k\" :\t[ 1.50 , -0, \"\\u00e9\\n\"] }");
  EXPECT_EQ(text(kType, R"("{\"k\":1}")"), R"({"k":1})");
  EXPECT_EQ(text(kType, R"("{bad")"), "{bad");
  EXPECT_EQ(text(kType, "12345678901234567890123"), "12345678901234567890123");
  EXPECT_EQ(text(kType, "1.50"), "1.50");
  EXPECT_EQ(text(kType, "-0"), "-0");
  EXPECT_EQ(text(kType, "1e400"), "1e400");
  EXPECT_EQ(text(kType, "true"), "true");
  EXPECT_EQ(text(kType, "false"), "false");
  EXPECT_EQ(text(kType, "{}"), "{}");
  EXPECT_EQ(text(kType, "[]"), "[]");
  EXPECT_EQ(convert(kType, "null"), "");
}

TEST(JsonConversion, JsonAndUnknownContainersAreWalkedStrictly) {
  for (const std::string_view value :
       {"{\"a\":01}", "{\"a\":tru}", "[1,,2]", "[1}", "{\"a\":1]", "{\"a\":[1}]", "[\"\\ud800\"]",
        "[1 2]", "{a:1}", "[1,]", "{\"a\"}", "[.5]", "[+1]", "[NaN]"}) {
    EXPECT_THAT(convert(ColumnType::kJson, value), StartsWith("root.v: malformed JSON")) << value;
    EXPECT_THAT(convert(ColumnType::kGeography, fmt::format("{{\"type\":{}}}", value)),
                StartsWith("root.v: malformed JSON"))
        << value;
  }
  EXPECT_THAT(convert(ColumnType::kJson, "{\"a\":1,\"a\":1}"),
              StartsWith("root.v: unusable JSON at byte 8: a key stands twice in one object"));
  EXPECT_THAT(convert(ColumnType::kGeography, "{\"type\":{\"a\":1,\"a\":1}}"),
              StartsWith("root.v: unusable JSON at byte 16: a key stands twice in one object"));
}

TEST(JsonConversion, Geography) {
  constexpr auto kType = ColumnType::kGeography;
  EXPECT_EQ(text(kType, "\"POINT(1 2)\""), "POINT(1 2)");
  EXPECT_EQ(text(kType, R"({"type":"Point","coordinates":[1,2]})"),
            R"({"type":"Point","coordinates":[1,2]})");
  expectWrongKinds(kType, {"1", "1.5", "true", "[1,2]"});
}

// Vector 36
TEST(JsonConversion, Int64) {
  constexpr auto kType = ColumnType::kInt64;
  for (const int64_t value :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{12345678}, int64_t{-123456789},
        int64_t{1234567890123456}, int64_t{12345678901234567}, int64_t{-1234567890123456789},
        INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(convert(kType, fmt::format("{}", value)), hexVarint(value));
    EXPECT_EQ(convert(kType, asString(fmt::format("{}", value))), hexVarint(value));
    EXPECT_EQ(convert(kType, fmt::format("{} ", value)), hexVarint(value));
  }
  EXPECT_EQ(convert(kType, "-0"), "00");
  EXPECT_EQ(convert(kType, R"("007")"), "07");
  EXPECT_EQ(convert(kType, R"("-0")"), "00");
  for (const std::string_view value : {"9223372036854775808", "-9223372036854775809",
                                       "\"9223372036854775808\"", "100000000000000000000000"}) {
    expectError(kType, value, "out of range");
  }
  for (const std::string_view value :
       {R"("+5")", R"("0x5")", R"("")", R"(" 5")", R"("5 ")", R"("1.0")", R"("1e3")", R"("-")",
        R"("--5")", R"("abc")", R"("5\u0000")"}) {
    expectError(kType, value, "not an integer");
  }
  expectWrongKinds(kType, {"1.0", "1e3", "true", "{}", "[]"});
}

// Vector 38
TEST(JsonConversion, Double) {
  constexpr auto kType = ColumnType::kDouble;
  const auto expect = [](std::string_view value, double expected) {
    std::string bytes(sizeof expected, '\0');
    std::memcpy(bytes.data(), &expected, sizeof expected);
    EXPECT_EQ(convert(kType, value), toHex(bytes)) << value;
  };
  expect("0", 0.0);
  expect("-0", 0.0);  // an integer token (BQT-052)
  expect("-0.0", -0.0);
  expect("1", 1);
  expect("-12.5", -12.5);
  expect("0.1", 0.1);
  expect("123456789012345.6", 123456789012345.6);
  expect("9007199254740993", 9007199254740992.0);
  expect("0.30000000000000004", 0.30000000000000004);
  expect("1e23", 1e23);
  expect("8.41470984807896506652502e-1", 0.8414709848078965);
  expect("1.7976931348623157e308", 1.7976931348623157e308);
  expect("5e-324", 5e-324);
  expect("1e-400", 0.0);
  expect("-1e-400", -0.0);
  expect("123456789012345678901234567890", 123456789012345678901234567890.0);
  expect("1.5E+2", 150);
  expect(R"("1e5")", 100000);
  expect(R"("-1.25")", -1.25);
  expect(R"("+.5")", 0.5);
  expect(R"("5.")", 5);
  EXPECT_EQ(convert(kType, R"("NaN")"), "000000000000F87F");
  EXPECT_EQ(convert(kType, R"("Infinity")"), "000000000000F07F");
  EXPECT_EQ(convert(kType, R"("+Infinity")"), "000000000000F07F");
  EXPECT_EQ(convert(kType, R"("-Infinity")"), "000000000000F0FF");
  for (const std::string_view value :
       {"1e400", "-1e400", R"("1e400")", "1e999999999999999999999"}) {
    expectError(kType, value, "out of range");
  }
  for (const std::string_view value : {R"("inf")", R"("nan")", R"("")", R"("1 ")", R"("0x1")",
                                       R"("1d")", R"("infinity")", R"("+NaN")", R"("1e")"}) {
    expectError(kType, value, "not a number");
  }
  expectWrongKinds(kType, {"true", "{}", "[1]"});
}

TEST(JsonConversion, Bool) {
  constexpr auto kType = ColumnType::kBool;
  EXPECT_EQ(convert(kType, "true"), "01");
  EXPECT_EQ(convert(kType, "false"), "00");
  for (const auto value : {R"("true")", R"("TRUE")", R"("tRuE")"}) {
    EXPECT_EQ(convert(kType, value), "01");
  }
  for (const auto value : {R"("false")", R"("False")"}) EXPECT_EQ(convert(kType, value), "00");
  for (const auto value :
       {R"("yes")", R"("1")", R"("")", R"("true ")", R"("t")", R"("4rue")", R"("\u0014rue")"}) {
    expectError(kType, value, "neither true nor false");
  }
  expectWrongKinds(kType, {"1", "0", "1.0", "{}", "[true]"});
}

// Vectors 6 and 39 to 43
TEST(JsonConversion, Numeric) {
  constexpr auto kType = ColumnType::kNumeric;
  for (const std::string_view value : {"1.25", "1.250", "1.250000000", "125e-2", "0.125E1"}) {
    EXPECT_EQ(convert(kType, value), "04807C814A") << value;
    EXPECT_EQ(convert(kType, asString(value)), "04807C814A") << value;
  }
  EXPECT_EQ(convert(kType, R"("1e3")"), "060010A5D4E800");
  EXPECT_EQ(convert(kType, R"("1.0000000000")"), "0400CA9A3B");
  EXPECT_EQ(convert(kType, R"("+1")"), "0400CA9A3B");
  EXPECT_EQ(convert(kType, R"("01")"), "0400CA9A3B");
  EXPECT_EQ(convert(kType, R"("1.")"), "0400CA9A3B");
  EXPECT_EQ(convert(kType, R"(".000000001")"), "0101");
  EXPECT_EQ(convert(kType, "12345678901234567890123456789"), "1000927CDD509049C4133302F0F6B04909");
  EXPECT_EQ(convert(kType, "0"), "0100");
  EXPECT_EQ(convert(kType, "-0"), "0100");
  EXPECT_EQ(convert(kType, "1"), "0400CA9A3B");
  EXPECT_EQ(convert(kType, "-1"), "04003665C4");
  EXPECT_EQ(convert(kType, "-0.000000001"), "01FF");
  EXPECT_EQ(convert(kType, "99999999999999999999999999999.999999999"),
            "10FFFFFFFF3F228A097AC4865AA84C3B4B");
  EXPECT_EQ(convert(kType, "0.000000128"), "028000");
  EXPECT_EQ(convert(kType, "-0.000000128"), "0180");
  for (const auto value : {"100000000000000000000000000000", R"("1e29")", "1e999999999999999999"}) {
    expectError(kType, value, "out of range");
  }
  for (const auto value : {R"("0.0000000001")", "1.2345678901", "1e-10", "1e-99999999999999999"}) {
    expectError(kType, value, "more than 9 digits");
  }
  // BQT-057: never base64.
  for (const auto value : {R"(" 1")", R"("gHyBSg==")", R"("")", R"("1 ")", R"("NaN")", R"("1e")"}) {
    expectError(kType, value, "not a decimal");
  }
  expectWrongKinds(kType, {"true", "{}", "[1]"});
}

// Vectors 44 and 45
TEST(JsonConversion, Bignumeric) {
  constexpr auto kType = ColumnType::kBignumeric;
  EXPECT_EQ(convert(kType, "1.5"),
            "1000000000"
            "60334F0EB726CA87FCF2D870");
  EXPECT_EQ(convert(kType, R"("1E-38")"), "0101");
  EXPECT_EQ(convert(kType, "0"), "0100");
  const std::string largest =
      "578960446186580977117854925043439539266.34992332820282019728792003956564819967";
  std::string bytes = "20";
  for (int index = 0; index < 31; ++index) bytes += "FF";
  EXPECT_EQ(convert(kType, largest), bytes + "7F");
  EXPECT_EQ(convert(kType, asString(largest)), bytes + "7F");
  expectError(kType,
              "578960446186580977117854925043439539266.34992332820282019728792003956564819968",
              "out of range");
  expectError(kType, "1e-39", "more than 38 digits");
  expectWrongKinds(kType, {"false", "{}", "[1]"});
}

// Vectors 46 to 49
TEST(JsonConversion, Timestamp) {
  constexpr auto kType = ColumnType::kTimestamp;
  for (const auto value : {"1700000000", R"("1700000000.9")", "1700000000.9", "1.7e9"}) {
    EXPECT_EQ(convert(kType, value), hexVarint(1700000000)) << value;
  }
  EXPECT_EQ(convert(kType, "-1.9"), hexVarint(-1));
  EXPECT_EQ(convert(kType, R"("2026-07-26 01:02:03")"), hexVarint(1785027723000000));
  EXPECT_EQ(convert(kType, R"("2026-07-26 01:02:03+09:00")"), hexVarint(1784995323000000));
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02:03+09:00")"), hexVarint(1784995323000000));
  EXPECT_EQ(convert(kType, R"("2026-07-26 01:02:03 +09")"), hexVarint(1784995323000000));
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02:03.456789Z")"), "95E2FBBA92EF9503");
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02:03.456789123Z")"), hexVarint(1785027723456789));
  EXPECT_EQ(convert(kType, R"("1969-12-31T23:59:59.999999Z")"), hexVarint(-1));
  EXPECT_EQ(convert(kType, R"("1969-12-31T23:59:59.9999999Z")"), hexVarint(-1));
  EXPECT_EQ(convert(kType, R"("0001-01-01T00:00:00Z")"), hexVarint(-62135596800000000));
  EXPECT_EQ(convert(kType, R"("9999-12-31 23:59:59.999999")"), hexVarint(253402300799999999));
  EXPECT_EQ(convert(kType, R"("2026/7/6 1:2:3 UTC")"), hexVarint(1783299723000000));
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02")"), hexVarint(1785027720000000));
  EXPECT_EQ(convert(kType, R"("2024-02-29T00:00:00Z")"), hexVarint(1709164800000000));
  for (const auto value : {R"("2026-07-26")",
                           R"("2026-07-26T01:02:03z")",
                           R"("2026-07-26T01:02:03+0900")",
                           R"("2026-07-26T01:02:03,4Z")",
                           R"("2026-07-26T01:02:03.0123456789Z")",
                           R"("2026-02-30T00:00:00Z")",
                           R"("2026-07-26T24:00:00Z")",
                           R"("NaN")",
                           R"("Infinity")",
                           R"("1d")",
                           R"("")",
                           R"(" 2026-07-26T01:02:03Z")",
                           R"("2026-07-26T01:02:03Z ")",
                           R"("2026-07-26t01:02:03Z")",
                           R"("2026-07-26T01:02:60Z")",
                           R"("2026-07-26T01:60:03Z")",
                           R"("2023-02-29T00:00:00Z")",
                           R"("1900-02-29T00:00:00Z")",
                           R"("2026-13-01T00:00:00Z")",
                           R"("2026-00-01T00:00:00Z")",
                           R"("2026-01-00T00:00:00Z")",
                           R"("0000-01-01T00:00:00Z")",
                           R"("10000-01-01T00:00:00Z")",
                           R"("2026-07-26T01:02:03 PST")",
                           R"("2026-07-26T01:02:03.Z")",
                           R"("2026-07-26T01:02:03.Z")",
                           R"("2026-07-26  01:02:03")",
                           "253402300800000000",
                           "-62135596800000001",
                           "9223372036854775808",
                           "1e300",
                           R"("1e999999999999")"}) {
    expectError(kType, value);
  }
  expectWrongKinds(kType, {"true", "{}", "[1]"});
}

// BQT-004
TEST(JsonConversion, TimestampOfPicoseconds) {
  Column picoseconds = column("v", ColumnType::kTimestamp);
  picoseconds.timestampPrecision = 12;
  const auto convertText = [&](std::string_view value) {
    const auto row = rowOf({{picoseconds}}, fmt::format("{{\"v\":{}}}", value));
    return row.ok() ? row->substr(2) : std::string(base::messageOf(row.status()));
  };
  EXPECT_EQ(convertText(R"("2026-07-26T01:02:03.123456789012Z")"),
            "2026-07-26T01:02:03.123456789012Z");
  EXPECT_EQ(convertText(R"("2026-07-26 01:02:03")"), "2026-07-26 01:02:03");
  EXPECT_EQ(convertText("1785027723456789"), "2026-07-26 01:02:03.456789+00");
  EXPECT_EQ(convertText(R"("1785027723456789.5")"), "2026-07-26 01:02:03.456789+00");
  for (const auto value : {R"("2026-07-26T01:02:03.0123456789012Z")", R"("2026-02-30T00:00:00Z")",
                           R"("2026-02-30T00:00:00.1234567890Z")", "true", "{}", R"("x")"}) {
    EXPECT_THAT(convertText(value), StartsWith("root.v (TIMESTAMP(12))")) << value;
  }
}

// Vectors 5 and 54
TEST(JsonConversion, Date) {
  constexpr auto kType = ColumnType::kDate;
  EXPECT_EQ(convert(kType, R"("2026-07-26")"), "B4A101");
  EXPECT_EQ(convert(kType, "20660"), "B4A101");
  EXPECT_EQ(convert(kType, R"("1969-12-31")"), "FFFFFFFFFFFFFFFFFF01");
  EXPECT_EQ(convert(kType, "-1"), "FFFFFFFFFFFFFFFFFF01");
  EXPECT_EQ(convert(kType, R"("0001-01-01")"), hexVarint(-719162));
  EXPECT_EQ(convert(kType, R"("9999-12-31")"), hexVarint(2932896));
  EXPECT_EQ(convert(kType, "2932896"), hexVarint(2932896));
  EXPECT_EQ(convert(kType, R"("2024-02-29")"), hexVarint(19782));
  for (const auto value :
       {R"("2026-7-26")", R"("2026-02-30")", "4294987956", "2932897", "-719163", R"("20660")",
        R"("2023-02-29")", R"("0000-01-01")", R"("2026-07-26 ")", R"("2026/07/26")", R"("")",
        R"("2026-07-26T00:00:00")", R"("2026-00-10")", R"("2026-10-32")", "9223372036854775808"}) {
    expectError(kType, value);
  }
  expectWrongKinds(kType, {"20660.0", "2e4", "true", "{}", "[1]"});
}

// Vectors 50 to 52 and 59
TEST(JsonConversion, Datetime) {
  constexpr auto kType = ColumnType::kDatetime;
  EXPECT_EQ(convert(kType, R"("2021-09-27T20:51:10.752")"), hexVarint(142258614586538368));
  EXPECT_EQ(convert(kType, R"("2021-09-27 20:51:10.752000000")"), hexVarint(142258614586538368));
  EXPECT_EQ(convert(kType, R"("2021-9-27t20:51:10.752")"), hexVarint(142258614586538368));
  EXPECT_EQ(convert(kType, R"("2021-09-27")"), hexVarint(142258525253402624));
  EXPECT_EQ(convert(kType, R"("0001-01-01")"), hexVarint(74904229642240));
  EXPECT_EQ(convert(kType, R"("9999-12-31 23:59:59.999999")"), hexVarint(703674213004689983));
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02:03.456789")"), "D5F0DBC190E8A7FD01");
  EXPECT_EQ(convert(kType, R"("2026-07-26T01:02:03.")"),
            convert(kType, R"("2026-07-26T01:02:03")"));
  EXPECT_EQ(convert(kType, "142601439875102805"), hexVarint(142601439875102805));
  for (const auto value :
       {R"("2021-09-27T10:20:30Z")", R"("2021-09-27 10:20:30.1234567")", R"("2026-02-30")",
        R"("2026-02-30T00:00:00")", "1", "0", "-1", "9223372036854775807",
        R"("2021-09-27T24:00:00")", R"("2021-09-27T20:51:60")", R"("")", R"("142601439875102805")",
        R"("2021-09-27T20:51:10+00")", R"("2021-09-27T20:51:10.0000000001")"}) {
    expectError(kType, value);
  }
  expectWrongKinds(kType, {"1.5", "true", "{}", "[1]"});
}

// Vector 53
TEST(JsonConversion, Time) {
  constexpr auto kType = ColumnType::kTime;
  EXPECT_EQ(convert(kType, R"("20:51:10.1234")"), hexVarint(89332507144));
  EXPECT_EQ(convert(kType, R"("20:51:10.123400000")"), hexVarint(89332507144));
  EXPECT_EQ(convert(kType, "89332507144"), hexVarint(89332507144));
  EXPECT_EQ(convert(kType, R"("20:51")"), hexVarint(int64_t{20 << 12 | 51 << 6} << 20));
  EXPECT_EQ(convert(kType, R"("00:00:00")"), "00");
  EXPECT_EQ(convert(kType, R"("01:02:03.456789")"), "D5F0DBC110");
  EXPECT_EQ(convert(kType, R"("12:00:00.")"), convert(kType, R"("12:00:00")"));
  for (const auto value : {R"("2:3:4")", R"("24:00:00")", R"("12:00:00.1234567")", R"("12:60:00")",
                           R"("12:00:60")", "-1", "137438953472", "103080263680", R"("")",
                           R"("12:00:00Z")", R"("12:00:00.1234560000")", R"("12")"}) {
    expectError(kType, value);
  }
  expectWrongKinds(kType, {"1.5", "true", "{}", "[1]"});
}

// Vector 55
TEST(JsonConversion, Bytes) {
  constexpr auto kType = ColumnType::kBytes;
  for (const auto value : {"[104,105]", "[ 104 , 105 ]", R"("aGk=")", R"("aGk")", R"("aGl")"}) {
    EXPECT_EQ(convert(kType, value), "026869") << value;
  }
  EXPECT_EQ(convert(kType, "[]"), "00");
  EXPECT_EQ(convert(kType, R"("")"), "00");
  EXPECT_EQ(convert(kType, "[-128,-1,0,255]"), "0480FF00FF");
  EXPECT_EQ(convert(kType, R"("-_-_")"), "03FBFFBF");
  EXPECT_EQ(convert(kType, R"("+/+/")"), "03FBFFBF");
  for (const auto value : {"[256]", "[-129]", "[99999999999999999999]"}) {
    expectError(kType, value, "a byte is an integer from -128 to 255");
  }
  for (const auto value : {"[1.0]", "[\"1\"]", "[null]", "[[1]]", "[true]"}) {
    expectError(kType, value);
  }
  for (const auto value :
       {R"("a")", R"("aGk=x")", R"("a+-_")", R"("aG k")", R"("aGk==")", R"("====")"}) {
    expectError(kType, value);
  }
  for (const auto value : {"[1,]", "[1,,2]", "[1 2]", "[1}", "[01]"}) {
    EXPECT_THAT(convert(kType, value), HasSubstr("malformed JSON")) << value;
  }
  expectWrongKinds(kType, {"1", "1.5", "true", "{}"});
}

TEST(JsonConversion, Struct) {
  const TableSchema schema{{structColumn("v", {column("a", ColumnType::kInt64)})}};
  EXPECT_EQ(hexRow(schema, R"({"v":{"a":1}})"), "0A020801");
  for (const auto value : {"1", "1.5", "true", "\"{}\"", "[]", "[{}]"}) {
    EXPECT_THAT(hexRow(schema, fmt::format("{{\"v\":{}}}", value)), HasSubstr(std::string(kNoKind)))
        << value;
  }
}

}  // namespace
}  // namespace penstock::bigquery
