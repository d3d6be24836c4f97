#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "penstock/bigquery/encoding/civil_time.h"

/// The usual spellings of values, eight bytes at a time. Each function either reads its text
/// exactly or declines, and then the general parsers of encoding/ have the last word, also about
/// errors. Up to 32 bytes behind a text are read.
namespace penstock::bigquery {

static_assert(std::endian::native == std::endian::little, "other byte orders need swaps here");

__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

namespace fast {

inline constexpr uint64_t kZeros = 0x3030'3030'3030'3030;
inline constexpr uint64_t kHighBits = 0x8080'8080'8080'8080;
inline constexpr uint64_t kOnes = 0x0101'0101'0101'0101;

inline uint64_t load(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Digits after `^ kZeros`: every byte at most 9.
constexpr bool areDigits(uint64_t digits) {
  return (((digits + 0x7676'7676'7676'7676) | digits) & kHighBits) == 0;
}

/// Eight digits, the first one in the lowest byte.
constexpr uint64_t combine(uint64_t digits) {
  const uint64_t pairs = digits * 10 + (digits >> 8);
  return ((pairs & 0x0000'00FF'0000'00FF) * 0x000F'4240'0000'0064 +
          ((pairs >> 16) & 0x0000'00FF'0000'00FF) * 0x0000'2710'0000'0001) >>
         32;
}

inline constexpr std::array<double, 17> kPowersOfTen = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

inline constexpr std::array<uint64_t, 10> kIntegerPowersOfTen = {
    1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

}  // namespace fast

/// `-?(0|[1-9][0-9]*)` of up to 16 digits.
inline bool readShortInteger(const char* begin, const char* end, int64_t* value) {
  using fast::areDigits, fast::combine, fast::kZeros, fast::load;
  const bool negative = *begin == '-';
  begin += negative ? 1 : 0;
  const auto size = static_cast<size_t>(end - begin);
  if (size - 1 >= 16 || (*begin == '0' && size != 1)) return false;
  uint64_t magnitude;
  if (size <= 8) {
    const size_t shift = (8 - size) * 8;
    const uint64_t digits = (load(begin) << shift) ^ (kZeros << shift);
    if (!areDigits(digits)) return false;
    magnitude = combine(digits);
  } else {
    const size_t shift = (16 - size) * 8;
    const uint64_t high = (load(begin) << shift) ^ (kZeros << shift);
    const uint64_t low = load(end - 8) ^ kZeros;
    if (!areDigits(high) || !areDigits(low)) return false;
    // Of the first word the last `16 - size` digits stand in the second one as well: cut above.
    magnitude = combine(high) * 100'000'000 + combine(low);
  }
  *value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

/// A decimal number in two integers: digits / 10^fractionDigits.
struct ShortDecimal {
  uint64_t digits = 0;
  uint32_t fractionDigits = 0;
  bool isNegative = false;
  bool hasPoint = false;
};

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?` of up to 16 characters behind the sign.
inline bool readShortDecimal(const char* begin, const char* end, ShortDecimal* value) {
  using fast::areDigits, fast::combine, fast::kHighBits, fast::kOnes, fast::kZeros, fast::load;
  value->isNegative = *begin == '-';
  begin += value->isNegative ? 1 : 0;
  const auto size = static_cast<size_t>(end - begin);
  if (size - 1 >= 16 || (*begin == '0' && size != 1 && begin[1] != '.')) return false;
  constexpr uint64_t kPoints = 0x2E2E'2E2E'2E2E'2E2E;
  const uint64_t first = load(begin);
  const uint64_t second = load(begin + 8);
  const auto markPoints = [](uint64_t word) {
    const uint64_t difference = word ^ kPoints;
    return (difference - kOnes) & ~difference & kHighBits;
  };
  // Only the lowest mark is exact, and only that one is used.
  const uint64_t firstPoints = markPoints(first);
  const size_t point = firstPoints != 0
                           ? static_cast<size_t>(std::countr_zero(firstPoints)) / 8
                           : 8 + static_cast<size_t>(std::countr_zero(markPoints(second))) / 8;
  const Uint128 text = static_cast<Uint128>(second) << 64 | first;
  constexpr Uint128 kAllZeros = static_cast<Uint128>(kZeros) << 64 | kZeros;
  const size_t shift = (16 - size) * 8;
  Uint128 digits;
  if (point < size) {
    if (point == 0 || point == size - 1) return false;
    // The digits in front of the point move up by one byte, over it.
    const Uint128 inFront = (static_cast<Uint128>(1) << (point * 8)) - 1;
    digits = (text & inFront) << 8 | (text & ~(inFront << 8 | 0xFF));
    digits = (digits << shift) ^ (kAllZeros << shift << 8);
    value->hasPoint = true;
    value->fractionDigits = static_cast<uint32_t>(size - 1 - point);
  } else {
    digits = (text << shift) ^ (kAllZeros << shift);
    value->hasPoint = false;
    value->fractionDigits = 0;
  }
  const auto high = static_cast<uint64_t>(digits);
  const auto low = static_cast<uint64_t>(digits >> 64);
  if (!areDigits(high) || !areDigits(low)) return false;
  value->digits = combine(high) * 100'000'000 + combine(low);
  return true;
}

/// The nearest double, if one multiplication by an exact power of ten gives it.
inline bool toDouble(const ShortDecimal& decimal, double* value) {
  constexpr uint64_t kExactBelow = uint64_t{1} << 53;
  if (decimal.digits > kExactBelow) return false;
  const double magnitude =
      static_cast<double>(decimal.digits) / fast::kPowersOfTen[decimal.fractionDigits];
  // The integer token -0 is the integer 0 (BQT-052).
  *value = decimal.isNegative && (decimal.hasPoint || decimal.digits != 0) ? -magnitude : magnitude;
  return true;
}

/// `value` in as few bytes of little-endian two's complement as it needs (BQT-094). `to` has room
/// for 16.
inline size_t writeMinimalInteger(Int128 value, char* to) {
  std::memcpy(to, &value, sizeof value);
  const Int128 sign = value >> 127;
  const auto magnitude = static_cast<Uint128>(value ^ sign);
  const auto high = static_cast<uint64_t>(magnitude >> 64);
  const auto low = static_cast<uint64_t>(magnitude);
  const int bits = high != 0 ? 64 + std::bit_width(high) : std::bit_width(low);
  return static_cast<size_t>(bits) / 8 + 1;
}

/// NUMERIC of up to nine fraction digits as written; `to` has room for 16 bytes.
inline bool writeNumeric(const ShortDecimal& decimal, char* to, size_t* size) {
  if (decimal.fractionDigits > 9) return false;
  const auto magnitude = static_cast<Int128>(decimal.digits) *
                         static_cast<Int128>(fast::kIntegerPowersOfTen[9 - decimal.fractionDigits]);
  *size = writeMinimalInteger(decimal.isNegative ? -magnitude : magnitude, to);
  return true;
}

namespace fast {

/// Eight bytes against a pattern of digits ('0') and other bytes that stand for themselves.
class Pattern {
 public:
  constexpr explicit Pattern(const char (&text)[9]) {
    for (size_t index = 0; index < 8; ++index) {
      const auto byte = static_cast<uint64_t>(static_cast<uint8_t>(text[index]));
      bytes_ |= byte << (index * 8);
      // Added to the difference: the high bit tells a digit above 9, or any other byte that
      // differs.
      reach_ |= (text[index] == '0' ? uint64_t{0x76} : uint64_t{0x7F}) << (index * 8);
    }
  }

  /// In each byte the number that it and the next one make, if the text fits the pattern.
  [[nodiscard]] bool read(const char* text, uint64_t* pairs) const {
    const uint64_t digits = load(text) ^ bytes_;
    *pairs = digits * 10 + (digits >> 8);
    return (((digits + reach_) | digits) & kHighBits) == 0;
  }

 private:
  uint64_t bytes_ = 0;
  uint64_t reach_ = 0;
};

inline constexpr Pattern kDatePattern("0000-00-");
inline constexpr Pattern kUpperTPattern("00T00:00");
inline constexpr Pattern kSpacePattern("00 00:00");
inline constexpr Pattern kTimePattern("00:00:00");

constexpr uint32_t byteOf(uint64_t word, int index) {
  return static_cast<uint32_t>(word >> (index * 8) & 0xFF);
}

inline bool isCalendarDay(uint32_t year, uint32_t month, uint32_t day) {
  constexpr std::array<uint8_t, 16> kDays = {0,  31, 28, 31, 30, 31, 30, 31,
                                             31, 30, 31, 30, 31, 0,  0,  0};
  if (year == 0 || month > 12 || day == 0) return false;
  if (day <= kDays[month]) return true;
  const bool isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && day == 29 && isLeapYear;
}

/// Days from 1970-01-01; years are counted from March, so that a leap day is a year's last.
constexpr int32_t daysFromEpoch(uint32_t year, uint32_t month, uint32_t day) {
  const bool isBeforeMarch = month <= 2;
  const uint32_t marchYear = isBeforeMarch ? year - 1 : year;
  const uint32_t marchMonth = isBeforeMarch ? month + 9 : month - 3;
  const uint32_t days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 +
                        (marchMonth * 153 + 2) / 5 + day - 1;
  return static_cast<int32_t>(days) - 719'468;
}

/// `size` digits (1 to 9) of a second's fraction, in nanoseconds.
inline bool readFraction(const char* text, size_t size, uint32_t* nanos) {
  uint64_t digits = load(text) ^ kZeros;
  if (size < 8) digits &= (uint64_t{1} << (size * 8)) - 1;
  if (!areDigits(digits)) return false;
  *nanos = static_cast<uint32_t>(combine(digits)) * 10;
  if (size < 9) return true;
  const auto last = static_cast<uint32_t>(text[8] - '0');
  *nanos += last;
  return last <= 9;
}

}  // namespace fast

/// `YYYY-MM-DD`.
inline bool readPlainDate(const char* text, size_t size, int32_t* days) {
  uint64_t pairs;
  if (size != 10 || !fast::kDatePattern.read(text, &pairs)) return false;
  const auto tens = static_cast<uint32_t>(text[8] - '0');
  const auto ones = static_cast<uint32_t>(text[9] - '0');
  if (tens > 9 || ones > 9) return false;
  const uint32_t year = fast::byteOf(pairs, 0) * 100 + fast::byteOf(pairs, 2);
  const uint32_t month = fast::byteOf(pairs, 5);
  const uint32_t day = tens * 10 + ones;
  if (!fast::isCalendarDay(year, month, day)) return false;
  *days = fast::daysFromEpoch(year, month, day);
  return true;
}

/// `YYYY-MM-DDThh:mm:ss` or with a space, as far as the seconds.
struct PlainMoment {
  uint32_t year, month, day, hour, minute, second;
};

inline bool readPlainMoment(const char* text, PlainMoment* moment) {
  uint64_t date;
  uint64_t time;
  const fast::Pattern& separator = text[10] == ' ' ? fast::kSpacePattern : fast::kUpperTPattern;
  if (!fast::kDatePattern.read(text, &date) || !separator.read(text + 8, &time)) return false;
  const auto tens = static_cast<uint32_t>(text[17] - '0');
  const auto ones = static_cast<uint32_t>(text[18] - '0');
  if (text[16] != ':' || tens > 5 || ones > 9) return false;
  *moment = {fast::byteOf(date, 0) * 100 + fast::byteOf(date, 2),
             fast::byteOf(date, 5),
             fast::byteOf(time, 0),
             fast::byteOf(time, 3),
             fast::byteOf(time, 6),
             tens * 10 + ones};
  return moment->hour < 24 && moment->minute < 60 &&
         fast::isCalendarDay(moment->year, moment->month, moment->day);
}

/// `YYYY-MM-DD[T ]hh:mm:ss(\.f{1,9})?Z?`, in microseconds from the epoch.
inline bool readPlainTimestamp(const char* text, size_t size, int64_t* micros) {
  constexpr size_t kWithoutFraction = 19;
  PlainMoment moment;
  if (size < kWithoutFraction || !readPlainMoment(text, &moment)) return false;
  const size_t end = text[size - 1] == 'Z' ? size - 1 : size;
  uint32_t nanos = 0;
  if (end != kWithoutFraction) {
    if (end < kWithoutFraction + 2 || end > kWithoutFraction + 10) return false;
    if (text[kWithoutFraction] != '.') return false;
    if (!fast::readFraction(text + kWithoutFraction + 1, end - kWithoutFraction - 1, &nanos)) {
      return false;
    }
  }
  const int64_t days = fast::daysFromEpoch(moment.year, moment.month, moment.day);
  const int64_t seconds = days * 86'400 + moment.hour * 3600 + moment.minute * 60 + moment.second;
  *micros = seconds * 1'000'000 + nanos / 1000;
  return true;
}

/// `YYYY-MM-DD[T ]hh:mm:ss(\.f{1,9})?`, packed (BQT-093).
inline bool readPlainDatetime(const char* text, size_t size, int64_t* packed) {
  constexpr size_t kWithoutFraction = 19;
  PlainMoment moment;
  if (size < kWithoutFraction || !readPlainMoment(text, &moment)) return false;
  uint32_t nanos = 0;
  if (size != kWithoutFraction) {
    if (size < kWithoutFraction + 2 || size > kWithoutFraction + 10) return false;
    if (text[kWithoutFraction] != '.') return false;
    if (!fast::readFraction(text + kWithoutFraction + 1, size - kWithoutFraction - 1, &nanos)) {
      return false;
    }
    if (nanos % 1000 != 0) return false;
  }
  const int64_t date = int64_t{moment.year} << 26 | moment.month << 22 | moment.day << 17;
  const int64_t time = moment.hour << 12 | moment.minute << 6 | moment.second;
  *packed = (date | time) << 20 | nanos / 1000;
  return true;
}

/// `HH:MM:SS(\.f{1,9})?`, packed (BQT-092).
inline bool readPlainTime(const char* text, size_t size, int64_t* packed) {
  uint64_t pairs;
  if (size < 8 || !fast::kTimePattern.read(text, &pairs)) return false;
  const uint32_t hour = fast::byteOf(pairs, 0);
  const uint32_t minute = fast::byteOf(pairs, 3);
  const uint32_t second = fast::byteOf(pairs, 6);
  if (hour > 23 || minute > 59 || second > 59) return false;
  uint32_t nanos = 0;
  if (size != 8) {
    if (size < 10 || size > 18 || text[8] != '.') return false;
    if (!fast::readFraction(text + 9, size - 9, &nanos) || nanos % 1000 != 0) return false;
  }
  *packed = int64_t{hour << 12 | minute << 6 | second} << 20 | nanos / 1000;
  return true;
}

}  // namespace penstock::bigquery
