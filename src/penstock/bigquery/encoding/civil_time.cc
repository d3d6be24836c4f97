#include "penstock/bigquery/encoding/civil_time.h"

#include <absl/time/civil_time.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/encoding/time_units.h"
#include "penstock/bigquery/encoding/time_zone.h"

namespace penstock::bigquery {
namespace {

constexpr int kMicrosBits = 20;

constexpr bool isLeapYear(int32_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr int32_t daysInMonth(int32_t year, int32_t month) {
  constexpr std::array<int8_t, 13> kDays = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[static_cast<size_t>(month)] + (month == 2 && isLeapYear(year) ? 1 : 0);
}

constexpr ParseResult kNoSuchDay("the calendar has no such day");
constexpr ParseResult kNoSuchTime("a day has no such time");
constexpr ParseResult kTooFine("finer than a microsecond");

/// A time with what a text says beyond it.
struct TimeText {
  CivilTime time;
  bool finerThanMicros = false;  // a digit other than 0 behind the sixth of the fraction
};

/// Reads a text from the front. Each `take...` answers whether it found what it was asked for.
class Reader {
 public:
  explicit Reader(std::string_view text) : cursor_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] bool atEnd() const { return cursor_ == end_; }
  [[nodiscard]] std::string_view rest() const {
    return {cursor_, static_cast<size_t>(end_ - cursor_)};
  }

  bool take(char wanted) {
    if (atEnd() || *cursor_ != wanted) return false;
    ++cursor_;
    return true;
  }

  bool takeEither(char one, char other) { return take(one) || take(other); }

  /// Exactly `count` digits.
  bool takeDigits(size_t count, int32_t* value) {
    if (static_cast<size_t>(end_ - cursor_) < count) return false;
    uint32_t sum = 0;
    uint32_t worst = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t digit = digitAt(i);
      worst |= digit > 9 ? 1U : 0U;
      sum = sum * 10 + digit;
    }
    if (worst != 0) return false;
    *value = static_cast<int32_t>(sum);
    cursor_ += count;
    return true;
  }

  /// One or two digits.
  bool takeOneOrTwoDigits(int32_t* value) { return takeDigits(2, value) || takeDigits(1, value); }

  /// The digits behind a decimal point, at most nine; false if there are more, or fewer than
  /// `minimum`.
  bool takeFraction(size_t minimum, TimeText* time) {
    size_t count = 0;
    int32_t micros = 0;
    for (; !atEnd() && digitAt(0) <= 9; ++cursor_, ++count) {
      const auto digit = static_cast<int32_t>(digitAt(0));
      if (count < 6)
        micros = micros * 10 + digit;
      else
        time->finerThanMicros |= digit != 0;
    }
    for (size_t i = count; i < 6; ++i) micros *= 10;
    time->time.micros = micros;
    return count >= minimum && count <= 9;
  }

 private:
  [[nodiscard]] uint32_t digitAt(size_t index) const {
    return static_cast<uint32_t>(static_cast<unsigned char>(cursor_[index])) - '0';
  }

  const char* cursor_;
  const char* end_;
};

/// `YYYY-M{1,2}-D{1,2}`, the separators also '/' if `slashes`.
bool takeDate(Reader& reader, bool slashes, CivilDate* date) {
  const char other = slashes ? '/' : '-';
  return reader.takeDigits(4, &date->year) && reader.takeEither('-', other) &&
         reader.takeOneOrTwoDigits(&date->month) && reader.takeEither('-', other) &&
         reader.takeOneOrTwoDigits(&date->day);
}

/// `h{1,2}:m{1,2}[:s{1,2}[.f{minimumFraction,9}]]`.
bool takeTime(Reader& reader, size_t minimumFraction, TimeText* text) {
  CivilTime& time = text->time;
  if (!reader.takeOneOrTwoDigits(&time.hour) || !reader.take(':') ||
      !reader.takeOneOrTwoDigits(&time.minute)) {
    return false;
  }
  if (!reader.take(':')) return true;
  if (!reader.takeOneOrTwoDigits(&time.second)) return false;
  return !reader.take('.') || reader.takeFraction(minimumFraction, text);
}

/// `HH[:MM[:SS]]` behind a sign, up to 18 hours.
ParseResult parseOffset(Reader reader, int32_t* seconds) {
  constexpr ParseResult kNotAnOffset("not a UTC offset like +09, +09:30 or +09:30:00");
  int32_t hours = 0;
  int32_t minutes = 0;
  int32_t rest = 0;
  if (!reader.takeDigits(2, &hours)) return kNotAnOffset;
  if (reader.take(':')) {
    if (!reader.takeDigits(2, &minutes)) return kNotAnOffset;
    if (reader.take(':') && !reader.takeDigits(2, &rest)) return kNotAnOffset;
  }
  if (!reader.atEnd()) return kNotAnOffset;
  *seconds = hours * 3600 + minutes * 60 + rest;
  if (minutes > 59 || rest > 59 || *seconds > 18 * 3600) {
    return ParseResult("a UTC offset is at most 18 hours, its minutes and seconds at most 59");
  }
  return ParseResult();
}

int64_t secondsFromEpoch(const CivilDate& date, const CivilTime& time) {
  return static_cast<int64_t>(toDays(date)) * kSecondsPerDay + time.hour * 3600 + time.minute * 60 +
         time.second;
}

/// Seconds from the epoch of a local time whose zone is the rest of the text; no zone is UTC.
ParseResult resolveZone(Reader reader, const CivilDate& date, const CivilTime& time,
                        int64_t* seconds) {
  *seconds = secondsFromEpoch(date, time);
  if (reader.atEnd()) return ParseResult();
  reader.take(' ');
  const std::string_view zone = reader.rest();
  if (zone.empty()) return ParseResult("nothing follows the last space");
  if (zone == "Z" || zone == "UTC" || zone == "GMT") return ParseResult();
  const bool east = reader.take('+');
  if (east || reader.take('-')) {
    int32_t offset = 0;
    if (ParseResult result = parseOffset(reader, &offset); !result.ok()) return result;
    *seconds -= east ? offset : -offset;
    return ParseResult();
  }
  return localToEpochSeconds(
      zone, absl::CivilSecond(date.year, date.month, date.day, time.hour, time.minute, time.second),
      seconds);
}

}  // namespace

bool isValid(const CivilDate& date) {
  return date.year >= 1 && date.year <= 9999 && date.month >= 1 && date.month <= 12 &&
         date.day >= 1 && date.day <= daysInMonth(date.year, date.month);
}

bool isValid(const CivilTime& time) {
  const auto below = [](int32_t value, int32_t limit) { return value >= 0 && value < limit; };
  return below(time.hour, 24) && below(time.minute, 60) && below(time.second, 60) &&
         below(time.micros, kMicrosPerSecond);
}

// A year that begins in March puts the leap day at its end: the days before a month follow one
// line, and 400 years are a whole number of days.
int32_t toDays(const CivilDate& date) {
  const int32_t year = date.month > 2 ? date.year : date.year - 1;
  const int32_t month = date.month > 2 ? date.month - 3 : date.month + 9;
  const int32_t beforeYear = year * 365 + year / 4 - year / 100 + year / 400;
  const int32_t beforeMonth = (month * 153 + 2) / 5;
  constexpr int32_t kEpoch = 719'468;  // 1970-01-01 counted from 0000-03-01
  return beforeYear + beforeMonth + date.day - 1 - kEpoch;
}

CivilDate toCivilDate(int32_t days) {
  const int32_t fromMarchOfYear0 = days + 719'468;
  const int32_t era = fromMarchOfYear0 / 146'097;
  const int32_t dayOfEra = fromMarchOfYear0 % 146'097;
  const int32_t yearOfEra =
      (dayOfEra - dayOfEra / 1'460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
  const int32_t dayOfYear = dayOfEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100);
  const int32_t month = (dayOfYear * 5 + 2) / 153;
  CivilDate date;
  date.day = dayOfYear - (month * 153 + 2) / 5 + 1;
  date.month = month < 10 ? month + 3 : month - 9;
  date.year = era * 400 + yearOfEra + (date.month <= 2 ? 1 : 0);
  return date;
}

int64_t packTime(const CivilTime& time) {
  const int64_t seconds = time.hour << 12 | time.minute << 6 | time.second;
  return seconds << kMicrosBits | time.micros;
}

int64_t packDatetime(const CivilDate& date, const CivilTime& time) {
  const int64_t day = date.year << 9 | date.month << 5 | date.day;
  return day << 37 | packTime(time);
}

bool unpackTime(int64_t packed, CivilTime* time) {
  if (packed < 0 || packed >> 37 != 0) return false;
  time->micros = static_cast<int32_t>(packed & 0xFFFFF);
  time->second = static_cast<int32_t>(packed >> 20 & 0x3F);
  time->minute = static_cast<int32_t>(packed >> 26 & 0x3F);
  time->hour = static_cast<int32_t>(packed >> 32);
  return isValid(*time);
}

bool unpackDatetime(int64_t packed, CivilDate* date, CivilTime* time) {
  if (packed < 0 || packed >> 60 != 0) return false;
  date->day = static_cast<int32_t>(packed >> 37 & 0x1F);
  date->month = static_cast<int32_t>(packed >> 42 & 0xF);
  date->year = static_cast<int32_t>(packed >> 46);
  return isValid(*date) && unpackTime(packed & ((int64_t{1} << 37) - 1), time);
}

ParseResult parseDate(std::string_view text, int32_t* days) {
  CivilDate date;
  Reader reader(text);
  if (!reader.takeDigits(4, &date.year) || !reader.take('-') ||
      !reader.takeDigits(2, &date.month) || !reader.take('-') || !reader.takeDigits(2, &date.day) ||
      !reader.atEnd()) {
    return ParseResult("not a date like 2026-07-26");
  }
  if (!isValid(date)) return kNoSuchDay;
  *days = toDays(date);
  return ParseResult();
}

ParseResult parseTime(std::string_view text, int64_t* packed) {
  constexpr ParseResult kNotATime("not a time like 20:51:10 or 20:51:10.123456");
  TimeText read;
  CivilTime& time = read.time;
  Reader reader(text);
  if (!reader.takeDigits(2, &time.hour) || !reader.take(':') ||
      !reader.takeDigits(2, &time.minute)) {
    return kNotATime;
  }
  if (reader.take(':')) {
    if (!reader.takeDigits(2, &time.second)) return kNotATime;
    if (reader.take('.') && !reader.takeFraction(0, &read)) return kNotATime;
  }
  if (!reader.atEnd()) return kNotATime;
  if (!isValid(time)) return kNoSuchTime;
  if (read.finerThanMicros) return kTooFine;
  *packed = packTime(time);
  return ParseResult();
}

ParseResult parseDatetime(std::string_view text, int64_t* packed) {
  constexpr ParseResult kNotADatetime(
      "not a date and time like 2026-07-26T01:02:03.456789, "
      "without a zone");
  CivilDate date;
  TimeText read;
  Reader reader(text);
  if (!takeDate(reader, false, &date)) return kNotADatetime;
  if (!reader.atEnd()) {
    if (!reader.take('T') && !reader.takeEither('t', ' ')) return kNotADatetime;
    if (!takeTime(reader, 0, &read) || !reader.atEnd()) return kNotADatetime;
  }
  if (!isValid(date)) return kNoSuchDay;
  if (!isValid(read.time)) return kNoSuchTime;
  if (read.finerThanMicros) return kTooFine;
  *packed = packDatetime(date, read.time);
  return ParseResult();
}

ParseResult parseTimestamp(std::string_view text, int64_t* micros) {
  constexpr ParseResult kNotATimestamp(
      "not a timestamp like 2026-07-26T01:02:03.456789Z or "
      "2026-07-26 01:02:03 Europe/Berlin");
  CivilDate date;
  TimeText read;
  Reader reader(text);
  if (!takeDate(reader, true, &date) || !reader.takeEither('T', ' ') ||
      !takeTime(reader, 1, &read)) {
    return kNotATimestamp;
  }
  if (!isValid(date)) return kNoSuchDay;
  if (!isValid(read.time)) return kNoSuchTime;
  int64_t seconds = 0;
  if (ParseResult result = resolveZone(reader, date, read.time, &seconds); !result.ok()) {
    return result;
  }
  const int64_t instant = seconds * kMicrosPerSecond + read.time.micros;
  if (!isTimestampInRange(instant)) return ParseResult("outside the years 1 to 9999 in UTC");
  *micros = instant;
  return ParseResult();
}

ParseResult parseTimestampOrMicros(std::string_view text, int64_t* micros) {
  if (!isDecimal(text)) return parseTimestamp(text, micros);
  int64_t value = 0;
  if (ParseResult result = truncateToInt64(text, &value); !result.ok()) return result;
  if (!isTimestampInRange(value)) {
    return ParseResult("microseconds from 1970 outside the years 1 to 9999");
  }
  *micros = value;
  return ParseResult();
}

std::string formatDate(int32_t days) {
  const CivilDate date = toCivilDate(days);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string formatTime(int64_t packed) {
  CivilTime time;
  if (!unpackTime(packed, &time)) return fmt::format("invalid TIME {}", packed);
  std::string text = fmt::format("{:02}:{:02}:{:02}", time.hour, time.minute, time.second);
  if (time.micros != 0) text += fmt::format(".{:06}", time.micros);
  return text;
}

std::string formatDatetime(int64_t packed) {
  CivilDate date;
  CivilTime time;
  if (!unpackDatetime(packed, &date, &time)) return fmt::format("invalid DATETIME {}", packed);
  return formatDate(toDays(date)) + "T" + formatTime(packTime(time));
}

std::string formatTimestamp(int64_t micros) {
  const int64_t microsPerDay = kMicrosPerSecond * kSecondsPerDay;
  int64_t days = micros / microsPerDay;
  int64_t ofDay = micros % microsPerDay;
  if (ofDay < 0) {
    ofDay += microsPerDay;
    --days;
  }
  const auto seconds = static_cast<int32_t>(ofDay / kMicrosPerSecond);
  const CivilTime time{.hour = seconds / 3600,
                       .minute = seconds / 60 % 60,
                       .second = seconds % 60,
                       .micros = static_cast<int32_t>(ofDay % kMicrosPerSecond)};
  return formatDate(static_cast<int32_t>(days)) + " " + formatTime(packTime(time)) + "+00";
}

}  // namespace penstock::bigquery
