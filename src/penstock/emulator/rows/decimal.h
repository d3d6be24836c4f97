#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::emulator {

/// A NUMERIC or BIGNUMERIC value as the integer value·10^scale in 256 bits of two's complement,
/// `scale` being the type's: 9 or 38. Always within the type's bounds (BQT-094).
struct Decimal {
  std::array<uint64_t, 4> words{};  ///< least significant first

  [[nodiscard]] bool negative() const { return (words[3] >> 63) != 0; }
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// The two decimal types differ in scale and bounds.
struct DecimalType {
  int scale;             ///< fraction digits that the type holds
  int maxIntegerDigits;  ///< digits before the point that are always allowed
};
inline constexpr DecimalType kNumericType{9, 29};
inline constexpr DecimalType kBignumericType{38, 38};

/// Little-endian two's complement bytes, of any length whose extra bytes only repeat the sign;
/// nothing when the value is out of bounds or there is no byte.
[[nodiscard]] std::optional<Decimal> decimalFromBytes(std::string_view bytes, DecimalType type);

/// Decimal text: sign, digits, point, digits, exponent. Nothing when it is not a number, out of
/// bounds, or has a digit other than zero beyond the type's scale (BQT-094: no rounding).
[[nodiscard]] std::optional<Decimal> decimalFromText(std::string_view text, DecimalType type);

/// An integer; always in bounds.
[[nodiscard]] Decimal decimalFromInteger(uint64_t magnitude, bool negative, DecimalType type);

/// Shortest decimal text: "1.25", "-0.000000001", "0": what tabledata.list shows.
[[nodiscard]] std::string decimalText(const Decimal& value, DecimalType type);

/// Whether the value fits NUMERIC(precision, scale) or BIGNUMERIC(precision, scale): at most
/// `scale` fraction digits and precision - scale digits before the point.
[[nodiscard]] bool decimalFits(const Decimal& value, DecimalType type, int64_t precision,
                               int64_t scale);

}  // namespace penstock::emulator
