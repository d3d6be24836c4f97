#include "penstock/emulator/rows/decimal.h"

#include <algorithm>
#include <cstddef>

#include "penstock/base/text.h"

namespace penstock::emulator {
namespace {

__extension__ using Wide = unsigned __int128;
using Words = std::array<uint64_t, 4>;

constexpr uint64_t kTenTo18 = 1000000000000000000ULL;
constexpr int kDigitsPerStep = 18;
constexpr int kMaxDigits = 77;  // 2^255 has 77 digits

/// magnitude = magnitude * factor + addend; false when it no longer fits 256 bits.
bool multiplyAdd(Words& magnitude, uint64_t factor, uint64_t addend) {
  Wide carry = addend;
  for (uint64_t& word : magnitude) {
    carry += Wide{word} * factor;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return carry == 0;
}

/// Divides in place and answers the remainder.
uint64_t divide(Words& magnitude, uint64_t divisor) {
  Wide remainder = 0;
  for (size_t i = magnitude.size(); i-- > 0;) {
    const Wide current = (remainder << 64) | magnitude[i];
    magnitude[i] = static_cast<uint64_t>(current / divisor);
    remainder = current % divisor;
  }
  return static_cast<uint64_t>(remainder);
}

bool multiplyByPowerOfTen(Words& magnitude, int power) {
  for (; power > 0; --power) {
    if (!multiplyAdd(magnitude, 10, 0)) return false;
  }
  return true;
}

Words powerOfTen(int power) {
  Words result{1, 0, 0, 0};
  multiplyByPowerOfTen(result, power);
  return result;
}

bool less(const Words& left, const Words& right) {
  return std::lexicographical_compare(left.rbegin(), left.rend(), right.rbegin(), right.rend());
}

Words negated(const Words& words) {
  Words result = words;
  Wide carry = 1;
  for (uint64_t& word : result) {
    carry += static_cast<uint64_t>(~word);
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return result;
}

Words magnitudeOf(const Decimal& value) {
  return value.negative() ? negated(value.words) : value.words;
}

bool isZero(const Words& words) { return words == Words{}; }

/// The value of a sign and a magnitude; nothing when it is outside the type's bounds.
std::optional<Decimal> withSign(const Words& magnitude, bool negative, DecimalType type) {
  const bool topBit = (magnitude[3] >> 63) != 0;
  const bool lowestOfAll = magnitude == Words{0, 0, 0, 1ULL << 63};
  if (topBit && !(negative && lowestOfAll)) return std::nullopt;
  if (type.scale == kNumericType.scale && !less(magnitude, powerOfTen(38))) return std::nullopt;
  return Decimal{negative ? negated(magnitude) : magnitude};
}

using base::isDigit;

/// The decimal exponent behind 'e'; nothing when it is no number. Saturates far outside any bound.
std::optional<int> readExponent(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (!isDigit(c)) return std::nullopt;
    value = std::min(value * 10 + (c - '0'), 100000);
  }
  return negative ? -value : value;
}

}  // namespace

std::optional<Decimal> decimalFromBytes(std::string_view bytes, DecimalType type) {
  if (bytes.empty()) return std::nullopt;
  const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  const unsigned char fill = negative ? 0xFF : 0x00;
  Words words;
  words.fill(negative ? UINT64_MAX : 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i >= 32) {
      if (byte != fill) return std::nullopt;
      continue;
    }
    const size_t shift = (i % 8) * 8;
    words[i / 8] = (words[i / 8] & ~(0xFFULL << shift)) | (static_cast<uint64_t>(byte) << shift);
  }
  const Decimal value{words};
  if (value.negative() != negative) return std::nullopt;  // the sign stood beyond 256 bits
  return withSign(magnitudeOf(value), negative, type);
}

std::optional<Decimal> decimalFromText(std::string_view text, DecimalType type) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  int exponent = 0;
  if (const size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    const std::optional<int> given = readExponent(text.substr(mark + 1));
    if (!given) return std::nullopt;
    exponent = *given;
    text = text.substr(0, mark);
  }

  std::string digits;
  bool afterPoint = false;
  bool anyDigit = false;
  for (const char c : text) {
    if (c == '.' && !afterPoint) {
      afterPoint = true;
      continue;
    }
    if (!isDigit(c)) return std::nullopt;
    anyDigit = true;
    if (afterPoint) --exponent;
    if (c != '0' || !digits.empty()) digits += c;
  }
  if (!anyDigit) return std::nullopt;
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (digits.empty()) return Decimal{};

  const int shift = exponent + type.scale;
  if (shift < 0 || static_cast<int>(digits.size()) + shift > kMaxDigits) return std::nullopt;
  Words magnitude{};
  for (const char c : digits) {
    if (!multiplyAdd(magnitude, 10, static_cast<uint64_t>(c - '0'))) return std::nullopt;
  }
  if (!multiplyByPowerOfTen(magnitude, shift)) return std::nullopt;
  return withSign(magnitude, negative, type);
}

Decimal decimalFromInteger(uint64_t magnitude, bool negative, DecimalType type) {
  Words words{magnitude, 0, 0, 0};
  multiplyByPowerOfTen(words, type.scale);
  return Decimal{negative ? negated(words) : words};
}

std::string decimalText(const Decimal& value, DecimalType type) {
  Words magnitude = magnitudeOf(value);
  std::string reversed;
  while (!isZero(magnitude)) {
    uint64_t group = divide(magnitude, kTenTo18);
    for (int i = 0; i < kDigitsPerStep; ++i) {
      reversed += static_cast<char>('0' + group % 10);
      group /= 10;
    }
  }
  const auto scale = static_cast<size_t>(type.scale);
  if (reversed.size() <= scale) reversed.resize(scale + 1, '0');
  while (reversed.size() > scale + 1 && reversed.back() == '0') reversed.pop_back();

  std::string text = value.negative() ? "-" : "";
  text.append(reversed.rbegin(), reversed.rend() - static_cast<std::ptrdiff_t>(scale));
  std::string fraction(reversed.rend() - static_cast<std::ptrdiff_t>(scale), reversed.rend());
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  if (!fraction.empty()) text += "." + fraction;
  return text;
}

bool decimalFits(const Decimal& value, DecimalType type, int64_t precision, int64_t scale) {
  const Words magnitude = magnitudeOf(value);
  const int64_t wholePower = precision - scale + type.scale;
  if (wholePower < kMaxDigits && !less(magnitude, powerOfTen(static_cast<int>(wholePower))))
    return false;
  Words rest = magnitude;
  for (int64_t i = scale; i < type.scale; ++i) {
    if (divide(rest, 10) != 0) return false;
  }
  return true;
}

}  // namespace penstock::emulator
