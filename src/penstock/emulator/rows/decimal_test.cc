#include "penstock/emulator/rows/decimal.h"

#include <gtest/gtest.h>

#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

std::string decoded(std::string_view hex, DecimalType type) {
  const std::optional<Decimal> value = decimalFromBytes(bytesOf(hex), type);
  return value ? decimalText(*value, type) : "refused";
}

std::string reprinted(std::string_view text, DecimalType type) {
  const std::optional<Decimal> value = decimalFromText(text, type);
  return value ? decimalText(*value, type) : "refused";
}

struct Vector {
  std::string_view hex;
  std::string_view text;
};

// BQT-094: the spec's own vectors 6, 39 to 43.
TEST(Decimal, ReadsTheWireBytesOfNumeric) {
  for (const Vector& vector : {
           Vector{"80 7C 81 4A", "1.25"},
           {"00 10 A5 D4 E8 00", "1000"},
           {"00 92 7C DD 50 90 49 C4 13 33 02 F0 F6 B0 49 09", "12345678901234567890123456789"},
           {"00", "0"},
           {"00 CA 9A 3B", "1"},
           {"00 36 65 C4", "-1"},
           {"FF", "-0.000000001"},
           {"FF FF FF FF 3F 22 8A 09 7A C4 86 5A A8 4C 3B 4B",
            "99999999999999999999999999999.999999999"},
           {"80 00", "0.000000128"},
           {"80", "-0.000000128"},
           {"00 75 85 DF 02", "12.34"},
           {"80 69 67 FF", "-0.01"},
       }) {
    EXPECT_EQ(decoded(vector.hex, kNumericType), vector.text);
  }
}

// BQT-094: vectors 44 and 45.
TEST(Decimal, ReadsTheWireBytesOfBignumeric) {
  const std::string most =
      "578960446186580977117854925043439539266.34992332820282019728792003956564819967";
  std::string hex;
  for (int i = 0; i < 31; ++i) hex += "FF ";
  EXPECT_EQ(decoded(hex + "7F", kBignumericType), most);
  EXPECT_EQ(decoded("00 00 00 00 60 33 4F 0E B7 26 CA 87 FC F2 D8 70", kBignumericType), "1.5");
  EXPECT_EQ(decoded("01", kBignumericType), "0.00000000000000000000000000000000000001");
  std::string lowest;
  for (int i = 0; i < 31; ++i) lowest += "00 ";
  EXPECT_EQ(decoded(lowest + "80", kBignumericType),
            "-578960446186580977117854925043439539266.34992332820282019728792003956564819968");
}

TEST(Decimal, TakesExtraBytesThatOnlyRepeatTheSign) {
  EXPECT_EQ(decoded("FF FF FF", kNumericType), "-0.000000001");
  EXPECT_EQ(decoded("00 CA 9A 3B 00 00", kNumericType), "1");
  std::string hex = "01";
  for (int i = 0; i < 40; ++i) hex += " 00";
  EXPECT_EQ(decoded(hex, kBignumericType), "0.00000000000000000000000000000000000001");
}

// BQT-094: re-checks bounds; no bytes are no value.
TEST(Decimal, RefusesBytesOutOfBounds) {
  EXPECT_EQ(decoded("", kNumericType), "refused");
  // 10^38, one above NUMERIC's largest.
  EXPECT_EQ(decoded("00 00 00 00 40 22 8A 09 7A C4 86 5A A8 4C 3B 4B", kNumericType), "refused");
  std::string hex;
  for (int i = 0; i < 32; ++i) hex += "FF ";
  EXPECT_EQ(decoded(hex + "00", kBignumericType), "refused");  // 2^256 - 1
  EXPECT_EQ(decoded(hex + "01", kBignumericType), "refused");
}

TEST(Decimal, ReadsTextAndPrintsTheShortest) {
  EXPECT_EQ(reprinted("1.25", kNumericType), "1.25");
  EXPECT_EQ(reprinted("+0012.340000", kNumericType), "12.34");
  EXPECT_EQ(reprinted("-.5", kNumericType), "-0.5");
  EXPECT_EQ(reprinted("5.", kNumericType), "5");
  EXPECT_EQ(reprinted("1e3", kNumericType), "1000");
  EXPECT_EQ(reprinted("125E-2", kNumericType), "1.25");
  EXPECT_EQ(reprinted("-0.0", kNumericType), "0");
  EXPECT_EQ(reprinted("1.0000000000", kNumericType), "1");
  EXPECT_EQ(reprinted("99999999999999999999999999999.999999999", kNumericType),
            "99999999999999999999999999999.999999999");
  EXPECT_EQ(reprinted("1E-38", kBignumericType), "0.00000000000000000000000000000000000001");
}

TEST(Decimal, RefusesTextThatIsNoNumberOrOutOfBounds) {
  for (const std::string_view text :
       {"", "-", ".", "1e", "1e+", " 1", "1 ", "0x5", "NaN", "1,5", "1.2.3", "--1", "0.0000000001",
        "1.2345678901", "99999999999999999999999999999.9999999991",
        "100000000000000000000000000000", "1e40", "1e999999999"}) {
    EXPECT_EQ(reprinted(text, kNumericType), "refused") << text;
  }
  EXPECT_EQ(reprinted("1e39", kBignumericType), "refused");
  EXPECT_EQ(reprinted("1e-39", kBignumericType), "refused");
}

TEST(Decimal, TakesIntegersOfBothSigns) {
  EXPECT_EQ(decimalText(decimalFromInteger(UINT64_MAX, false, kNumericType), kNumericType),
            "18446744073709551615");
  EXPECT_EQ(decimalText(decimalFromInteger(1ULL << 63, true, kBignumericType), kBignumericType),
            "-9223372036854775808");
}

TEST(Decimal, KnowsWhetherAValueFitsPrecisionAndScale) {
  const auto fits = [](std::string_view text, int64_t precision, int64_t scale) {
    return decimalFits(*decimalFromText(text, kNumericType), kNumericType, precision, scale);
  };
  EXPECT_TRUE(fits("99.99", 4, 2));
  EXPECT_TRUE(fits("-99.99", 4, 2));
  EXPECT_FALSE(fits("100", 4, 2));
  EXPECT_FALSE(fits("1.001", 4, 2));
  EXPECT_TRUE(fits("0.99", 2, 2));
  EXPECT_FALSE(fits("1", 2, 2));
  EXPECT_TRUE(fits("99999999999999999999999999999.999999999", 38, 9));
}

}  // namespace
}  // namespace penstock::emulator
