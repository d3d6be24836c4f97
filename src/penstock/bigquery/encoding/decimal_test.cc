#include "penstock/bigquery/encoding/decimal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;

constexpr auto kNumeric = DecimalKind::kNumeric;
constexpr auto kBignumeric = DecimalKind::kBignumeric;

/// "80 7C", or the reason why not.
std::string encode(std::string_view text, DecimalKind kind) {
  std::array<char, kDecimalBufferBytes> buffer;
  size_t size = 0;
  if (ParseResult result = encodeDecimal(text, kind, buffer.data(), &size); !result.ok()) {
    return std::string(result.reason());
  }
  std::string hex;
  for (size_t i = 0; i < size; ++i) {
    hex += fmt::format("{}{:02X}", i == 0 ? "" : " ", static_cast<unsigned char>(buffer[i]));
  }
  return hex;
}

std::string roundTrip(std::string_view text, DecimalKind kind) {
  std::array<char, kDecimalBufferBytes> buffer;
  size_t size = 0;
  if (ParseResult result = encodeDecimal(text, kind, buffer.data(), &size); !result.ok()) {
    return std::string(result.reason());
  }
  std::string back;
  const ParseResult decoded = decodeDecimal({buffer.data(), size}, kind, &back);
  return decoded.ok() ? back : std::string(decoded.reason());
}

std::optional<int64_t> truncated(std::string_view text) {
  int64_t value = 0;
  return truncateToInt64(text, &value).ok() ? std::optional(value) : std::nullopt;
}

TEST(Decimal, EncodesTheVectorsOfNumeric) {                 // BQT-094
  EXPECT_EQ(encode("1.25", kNumeric), "80 7C 81 4A");       // vector 6
  EXPECT_EQ(encode("12.34", kNumeric), "00 75 85 DF 02");   // vector 29
  EXPECT_EQ(encode("-0.01", kNumeric), "80 69 67 FF");      // vector 30
  EXPECT_EQ(encode("1e3", kNumeric), "00 10 A5 D4 E8 00");  // vector 39
  EXPECT_EQ(encode("1.0000000000", kNumeric), "00 CA 9A 3B");
  EXPECT_EQ(encode("12345678901234567890123456789", kNumeric),  // vector 40
            "00 92 7C DD 50 90 49 C4 13 33 02 F0 F6 B0 49 09");
  EXPECT_EQ(encode("0", kNumeric), "00");  // vector 41
  EXPECT_EQ(encode("1", kNumeric), "00 CA 9A 3B");
  EXPECT_EQ(encode("-1", kNumeric), "00 36 65 C4");
  EXPECT_EQ(encode("-0.000000001", kNumeric), "FF");
  EXPECT_EQ(encode("99999999999999999999999999999.999999999", kNumeric),  // vector 42
            "FF FF FF FF 3F 22 8A 09 7A C4 86 5A A8 4C 3B 4B");
  EXPECT_EQ(encode("-99999999999999999999999999999.999999999", kNumeric),
            "01 00 00 00 C0 DD 75 F6 85 3B 79 A5 57 B3 C4 B4");
  EXPECT_EQ(encode("0.000000128", kNumeric), "80 00");  // vector 43
  EXPECT_EQ(encode("-0.000000128", kNumeric), "80");
}

TEST(Decimal, EncodesTheVectorsOfBignumeric) {  // BQT-094, vectors 44 and 45
  EXPECT_EQ(encode("1.5", kBignumeric), "00 00 00 00 60 33 4F 0E B7 26 CA 87 FC F2 D8 70");
  EXPECT_EQ(encode("1E-38", kBignumeric), "01");
  std::string greatest;
  for (int i = 0; i < 31; ++i) greatest += "FF ";
  EXPECT_EQ(encode("578960446186580977117854925043439539266."
                   "34992332820282019728792003956564819967",
                   kBignumeric),
            greatest + "7F");
  std::string least;
  for (int i = 0; i < 31; ++i) least += "00 ";
  EXPECT_EQ(encode("-578960446186580977117854925043439539266."
                   "34992332820282019728792003956564819968",
                   kBignumeric),
            least + "80");
}

TEST(Decimal, RefusesWhatWouldBeRoundedOrCutOff) {  // BQT-094, vectors 39 and 42
  EXPECT_THAT(encode("0.0000000001", kNumeric), HasSubstr("9 digits after"));
  EXPECT_THAT(encode("1.2345678901", kNumeric), HasSubstr("9 digits after"));
  EXPECT_THAT(encode("100000000000000000000000000000", kNumeric), HasSubstr("out of range"));
  EXPECT_THAT(encode("1e29", kNumeric), HasSubstr("out of range"));
  EXPECT_THAT(encode("1e-39", kBignumeric), HasSubstr("38 digits after"));
  EXPECT_THAT(encode("578960446186580977117854925043439539266."
                     "34992332820282019728792003956564819968",
                     kBignumeric),
              HasSubstr("out of range"));
  EXPECT_THAT(encode("-578960446186580977117854925043439539266."
                     "34992332820282019728792003956564819969",
                     kBignumeric),
              HasSubstr("out of range"));
  EXPECT_THAT(encode("-999999999999999999999999999999999999999", kBignumeric),
              HasSubstr("out of range"));
  EXPECT_THAT(encode("1e39", kBignumeric), HasSubstr("out of range"));
}

TEST(Decimal, LooksAtTheExponentBeforeItDoesAnyWork) {  // BQT-055
  EXPECT_THAT(encode("1e999999999999999999999999", kNumeric), HasSubstr("out of range"));
  EXPECT_THAT(encode("1e-999999999999999999999999", kBignumeric), HasSubstr("digits after"));
  EXPECT_EQ(encode("0e999999999999999999999999", kNumeric), "00");
  EXPECT_EQ(encode("-0e-999999999999999999999999", kBignumeric), "00");
  EXPECT_EQ(encode("0." + std::string(100'000, '0') + "5e100001", kNumeric), encode("5", kNumeric));
  EXPECT_EQ(encode("5" + std::string(100'000, '0') + "e-100000", kNumeric), encode("5", kNumeric));
  EXPECT_THAT(encode(std::string(100'000, '9'), kBignumeric), HasSubstr("out of range"));
}

TEST(Decimal, KnowsItsGrammar) {  // BQT-055
  for (const char* accepted : {"0", "-0", "+1", "1.", ".5", "-.5", "+1.e2", "1e+3", "1E-3", "00012",
                               "1.50", "1e0", "0.0"}) {
    EXPECT_TRUE(isDecimal(accepted)) << accepted;
  }
  for (const char* refused :
       {"",      ".",    "-",   "+",   "e1",  ".e1",   "1e",  "1e+",      "1e1.5", " 1",  "1 ",
        "1_000", "0x10", "1,5", "--1", "+-1", "1.2.3", "NaN", "Infinity", "1d",    "1e5f"}) {
    EXPECT_FALSE(isDecimal(refused)) << refused;
    EXPECT_THAT(encode(refused, kNumeric), HasSubstr("not a decimal number")) << refused;
  }
  EXPECT_EQ(encode(".5", kNumeric), encode("0.5", kNumeric));
  EXPECT_EQ(encode("5.", kNumeric), encode("5", kNumeric));
  EXPECT_EQ(encode("+5", kNumeric), encode("5", kNumeric));
  EXPECT_EQ(encode("150e-2", kNumeric), encode("1.5", kNumeric));
}

TEST(Decimal, ReadsBackWhatItEncodes) {  // BQT-094
  EXPECT_EQ(roundTrip("-0.01", kNumeric), "-0.01");
  EXPECT_EQ(roundTrip("100", kNumeric), "100");
  EXPECT_EQ(roundTrip("0.000", kBignumeric), "0");
  EXPECT_EQ(roundTrip("-578960446186580977117854925043439539266."
                      "34992332820282019728792003956564819968",
                      kBignumeric),
            "-578960446186580977117854925043439539266.34992332820282019728792003956564819968");
  std::mt19937_64 random(94);
  for (const DecimalKind kind : {kNumeric, kBignumeric}) {
    const size_t most = kind == kNumeric ? 29 : 38;
    const size_t scale = kind == kNumeric ? 9 : 38;
    for (int i = 0; i < 20'000; ++i) {
      std::string text(1, static_cast<char>('1' + random() % 9));
      for (size_t n = random() % most; n > 0; --n) text += static_cast<char>('0' + random() % 10);
      if (random() % 2 == 0) text = "0";
      if (const size_t n = random() % (scale + 1); n > 0) {
        text += '.';
        for (size_t k = 1; k < n; ++k) text += static_cast<char>('0' + random() % 10);
        text += static_cast<char>('1' + random() % 9);
      }
      if (text != "0" && random() % 2 == 0) text.insert(0, "-");
      ASSERT_EQ(roundTrip(text, kind), text);
    }
  }
}

TEST(Decimal, WritesTheFewestBytes) {  // BQT-094
  std::mt19937_64 random(17);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = std::to_string(random() >> random() % 64);
    text += "e-" + std::to_string(random() % 10);
    if (random() % 2 == 0) text.insert(0, "-");
    for (const DecimalKind kind : {kNumeric, kBignumeric}) {
      std::array<char, kDecimalBufferBytes> buffer;
      size_t size = 0;
      ASSERT_TRUE(encodeDecimal(text, kind, buffer.data(), &size).ok()) << text;
      if (size == 1) continue;
      const auto top = static_cast<unsigned char>(buffer[size - 1]);
      const bool nextBit = (static_cast<unsigned char>(buffer[size - 2]) & 0x80) != 0;
      ASSERT_FALSE(top == 0x00 && !nextBit) << text;
      ASSERT_FALSE(top == 0xFF && nextBit) << text;
    }
  }
}

TEST(Decimal, SignExtendsAndChecksTheBoundsOfBytes) {  // BQT-094
  std::string text;
  EXPECT_TRUE(decodeDecimal(std::string_view("\x80\x00", 2), kNumeric, &text).ok());
  EXPECT_EQ(text, "0.000000128");
  EXPECT_TRUE(decodeDecimal("\x80\xFF\xFF", kNumeric, &text).ok());  // not minimal
  EXPECT_EQ(text, "-0.000000128");
  EXPECT_FALSE(decodeDecimal("", kNumeric, &text).ok());
  EXPECT_FALSE(decodeDecimal(std::string(33, '\0'), kBignumeric, &text).ok());
  EXPECT_FALSE(decodeDecimal(std::string(15, '\xFF') + "\x7F", kNumeric, &text).ok());
  EXPECT_TRUE(decodeDecimal(std::string(31, '\xFF') + "\x7F", kBignumeric, &text).ok());
}

TEST(Decimal, TruncatesTowardZero) {  // BQT-054, vector 46
  EXPECT_EQ(truncated("1700000000.9"), 1700000000);
  EXPECT_EQ(truncated("-1.9"), -1);
  EXPECT_EQ(truncated("-0.9"), 0);
  EXPECT_EQ(truncated("0.0001e4"), 1);
  EXPECT_EQ(truncated("12.345e2"), 1234);
  EXPECT_EQ(truncated("12e3"), 12000);
  EXPECT_EQ(truncated("1e-400"), 0);
  EXPECT_EQ(truncated("9223372036854775807.99"), 9223372036854775807);
  EXPECT_EQ(truncated("-9223372036854775808.5"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(truncated("9223372036854775808"), std::nullopt);
  EXPECT_EQ(truncated("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(truncated("1e19"), std::nullopt);
  EXPECT_EQ(truncated("1e99999999999999999999"), std::nullopt);
  EXPECT_EQ(truncated("99999999999999999999"), std::nullopt);
  EXPECT_EQ(truncated("x"), std::nullopt);
}

}  // namespace
}  // namespace penstock::bigquery
