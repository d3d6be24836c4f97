#include "penstock/bigquery/encoding/decimal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "penstock/bigquery/encoding/decimal_text.h"

namespace penstock::bigquery {
namespace {

__extension__ using Uint128 = unsigned __int128;

/// Four limbs, the lowest first.
using Uint256 = std::array<uint64_t, 4>;

constexpr size_t kDigitsPerLimb = 19;

constexpr std::array<uint64_t, kDigitsPerLimb + 1> powersOfTen() {
  std::array<uint64_t, kDigitsPerLimb + 1> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<uint64_t, kDigitsPerLimb + 1> kPowersOfTen = powersOfTen();

constexpr int64_t scaleOf(DecimalKind kind) { return kind == DecimalKind::kNumeric ? 9 : 38; }

/// Decimal digits that an unscaled value may have at most.
constexpr int64_t maxDigitsOf(DecimalKind kind) { return kind == DecimalKind::kNumeric ? 38 : 77; }

constexpr ParseResult tooManyFractionDigits(DecimalKind kind) {
  return kind == DecimalKind::kNumeric ? ParseResult("more than 9 digits after the decimal point")
                                       : ParseResult("more than 38 digits after the decimal point");
}

constexpr ParseResult outOfRange(DecimalKind kind) {
  return kind == DecimalKind::kNumeric
             ? ParseResult("out of range: NUMERIC has 29 digits before the decimal point")
             : ParseResult("out of range: BIGNUMERIC ends near 5.79e38");
}

/// value = value * factor + summand, as far as it fits.
void multiplyAndAdd(Uint256& value, uint64_t factor, uint64_t summand) {
  uint64_t carry = summand;
  for (uint64_t& limb : value) {
    const Uint128 product = static_cast<Uint128>(limb) * factor + carry;
    limb = static_cast<uint64_t>(product);
    carry = static_cast<uint64_t>(product >> 64);
  }
}

/// value = value / divisor; returns the remainder.
uint64_t divide(Uint256& value, uint64_t divisor) {
  uint64_t remainder = 0;
  for (size_t i = value.size(); i-- > 0;) {
    const Uint128 dividend = static_cast<Uint128>(remainder) << 64 | value[i];
    value[i] = static_cast<uint64_t>(dividend / divisor);
    remainder = static_cast<uint64_t>(dividend % divisor);
  }
  return remainder;
}

void negate(Uint256& value) {
  uint64_t carry = 1;
  for (uint64_t& limb : value) {
    limb = ~limb + carry;
    carry = carry != 0 && limb == 0 ? 1 : 0;
  }
}

bool isNegative(const Uint256& value) { return value[3] >> 63 != 0; }

bool isZero(const Uint256& value) { return value == Uint256{}; }

/// The digits of `text` and `zeros` more as one integer that is known to fit.
Uint256 accumulate(const DecimalText& text, size_t zeros) {
  Uint256 value{};
  uint64_t chunk = 0;
  size_t chunkDigits = 0;
  for (const char* at = text.first; at != text.last; ++at) {
    if (*at == '.') continue;
    chunk = chunk * 10 + static_cast<uint64_t>(*at - '0');
    if (++chunkDigits == kDigitsPerLimb) {
      multiplyAndAdd(value, kPowersOfTen[kDigitsPerLimb], chunk);
      chunk = 0;
      chunkDigits = 0;
    }
  }
  if (chunkDigits > 0) multiplyAndAdd(value, kPowersOfTen[chunkDigits], chunk);
  for (size_t left = zeros; left > 0;) {
    const size_t step = std::min(left, kDigitsPerLimb);
    multiplyAndAdd(value, kPowersOfTen[step], 0);
    left -= step;
  }
  return value;
}

/// Bytes of the shortest two's complement of a value with this many bits behind the sign.
constexpr size_t minimalSize(size_t magnitudeBits) { return magnitudeBits / 8 + 1; }

size_t minimalSize(const Uint256& value) {
  const uint64_t sign = isNegative(value) ? ~uint64_t{0} : 0;
  size_t limbs = value.size();
  while (limbs > 1 && value[limbs - 1] == sign) --limbs;
  const auto topBits = static_cast<size_t>(std::bit_width(value[limbs - 1] ^ sign));
  return minimalSize((limbs - 1) * 64 + topBits);
}

/// At most 18 digits, zeros included: the everyday value, which fits a register.
size_t encodeShort(const DecimalText& text, size_t zeros, char* out) {
  uint64_t magnitude = 0;
  for (const char* at = text.first; at != text.last; ++at) {
    if (*at != '.') magnitude = magnitude * 10 + static_cast<uint64_t>(*at - '0');
  }
  magnitude *= kPowersOfTen[zeros];
  const uint64_t value = text.negative ? ~magnitude + 1 : magnitude;
  std::memcpy(out, &value, sizeof value);
  const uint64_t bits = text.negative && magnitude != 0 ? magnitude - 1 : magnitude;
  return minimalSize(static_cast<size_t>(std::bit_width(bits)));
}

}  // namespace

ParseResult encodeDecimal(std::string_view text, DecimalKind kind, char* out, size_t* size) {
  DecimalText parsed;
  if (!scanDecimal(text, &parsed)) return kNotADecimal;
  if (parsed.numDigits == 0) {
    *out = '\0';
    *size = 1;
    return ParseResult();
  }
  const int64_t zeros = parsed.exponent + scaleOf(kind);
  if (zeros < 0) return tooManyFractionDigits(kind);
  const int64_t digits = parsed.numDigits + zeros;
  if (digits > maxDigitsOf(kind)) return outOfRange(kind);
  if (digits <= 18) {
    *size = encodeShort(parsed, static_cast<size_t>(zeros), out);
    return ParseResult();
  }
  Uint256 value = accumulate(parsed, static_cast<size_t>(zeros));
  const bool topBit = isNegative(value);
  if (parsed.negative) negate(value);
  // The magnitude has its top bit set only at the lower bound, -2^255, whose negation is itself.
  if (topBit && !(parsed.negative && isNegative(value))) return outOfRange(kind);
  std::memcpy(out, value.data(), sizeof value);
  *size = minimalSize(value);
  return ParseResult();
}

ParseResult decodeDecimal(std::string_view bytes, DecimalKind kind, std::string* text) {
  Uint256 value{};
  if (bytes.empty() || bytes.size() > sizeof value) {
    return ParseResult("a decimal has 1 to 32 bytes");
  }
  const bool negative = static_cast<unsigned char>(bytes.back()) >= 0x80;
  value.fill(negative ? ~uint64_t{0} : 0);
  std::memcpy(value.data(), bytes.data(), bytes.size());
  if (negative) negate(value);
  std::string reversed;  // decimal digits, the lowest first
  while (!isZero(value)) reversed.push_back(static_cast<char>('0' + divide(value, 10)));
  if (static_cast<int64_t>(reversed.size()) > maxDigitsOf(kind)) return outOfRange(kind);

  const auto scale = static_cast<size_t>(scaleOf(kind));
  if (reversed.size() <= scale) reversed.append(scale + 1 - reversed.size(), '0');
  const size_t trailingZeros = std::min(reversed.find_first_not_of('0'), scale);
  std::string result = negative ? "-" : "";
  result.append(reversed.rbegin(), reversed.rend() - static_cast<ptrdiff_t>(scale));
  if (trailingZeros < scale) {
    result.push_back('.');
    result.append(reversed.rend() - static_cast<ptrdiff_t>(scale),
                  reversed.rend() - static_cast<ptrdiff_t>(trailingZeros));
  }
  *text = std::move(result);
  return ParseResult();
}

ParseResult truncateToInt64(std::string_view text, int64_t* value) {
  constexpr ParseResult kBeyondInt64("beyond 64 bits");
  DecimalText parsed;
  if (!scanDecimal(text, &parsed)) return kNotADecimal;
  const int64_t digits = parsed.numDigits == 0 ? 0 : parsed.numDigits + parsed.exponent;
  if (digits > static_cast<int64_t>(kDigitsPerLimb)) return kBeyondInt64;
  uint64_t magnitude = 0;  // 19 digits fit
  const char* at = parsed.first;
  for (int64_t i = 0; i < digits; ++i) {
    if (at != parsed.last && *at == '.') ++at;
    magnitude = magnitude * 10 + (at == parsed.last ? 0 : static_cast<uint64_t>(*at++ - '0'));
  }
  const uint64_t limit = (uint64_t{1} << 63) - (parsed.negative ? 0 : 1);
  if (magnitude > limit) return kBeyondInt64;
  *value = static_cast<int64_t>(parsed.negative ? ~magnitude + 1 : magnitude);
  return ParseResult();
}

bool isDecimal(std::string_view text) {
  DecimalText parsed;
  return scanDecimal(text, &parsed);
}

}  // namespace penstock::bigquery
