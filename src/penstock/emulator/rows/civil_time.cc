#include "penstock/emulator/rows/civil_time.h"

#include <fmt/format.h>

#include <array>

namespace penstock::emulator {
namespace {

constexpr int64_t kMicrosPerSecond = 1000000;
constexpr int64_t kDaysPerEra = 146097;   // 400 years
constexpr int64_t kDaysToEpoch = 719468;  // from 0000-03-01, where an era begins, to 1970-01-01

struct Date {
  int64_t year;
  int64_t month;
  int64_t day;
};

bool isLeap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int64_t daysInMonth(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && isLeap(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

/// Counts from March, so that the leap day is a year's last.
Date partsOf(int64_t days) {
  const int64_t shifted = days + kDaysToEpoch;
  const int64_t era = (shifted >= 0 ? shifted : shifted - (kDaysPerEra - 1)) / kDaysPerEra;
  const int64_t dayOfEra = shifted - era * kDaysPerEra;
  const int64_t yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const int64_t monthFromMarch = (5 * dayOfYear + 2) / 153;
  const int64_t day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
  const int64_t month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::optional<int64_t> timeFromParts(int64_t hour, int64_t minute, int64_t second, int64_t micros) {
  if (hour > 23 || minute > 59 || second > 59 || micros > 999999) return std::nullopt;
  return ((hour * 60 + minute) * 60 + second) * kMicrosPerSecond + micros;
}

/// Takes literals apart from the left.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool atEnd() const { return text_.empty(); }
  [[nodiscard]] char peek() const { return text_.empty() ? '\0' : text_.front(); }

  bool take(char expected) {
    if (peek() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }

  /// Between `least` and `most` digits.
  bool number(size_t least, size_t most, int64_t& value) {
    size_t count = 0;
    value = 0;
    while (count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9') {
      value = value * 10 + (text_[count] - '0');
      ++count;
    }
    text_.remove_prefix(count);
    return count >= least;
  }

  /// Fraction digits behind a point, as a number of 10^-digits units.
  bool fraction(size_t digits, int64_t& value) {
    size_t count = 0;
    value = 0;
    while (count < text_.size() && text_[count] >= '0' && text_[count] <= '9') {
      if (count < digits) value = value * 10 + (text_[count] - '0');
      ++count;
    }
    text_.remove_prefix(count);
    for (size_t i = count; i < digits; ++i) value *= 10;
    return count >= 1 && count <= digits;
  }

 private:
  std::string_view text_;
};

std::optional<int64_t> scanDate(Scanner& scanner) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!scanner.number(4, 4, year) || !scanner.take('-') || !scanner.number(1, 2, month) ||
      !scanner.take('-') || !scanner.number(1, 2, day)) {
    return std::nullopt;
  }
  return dateFromParts(year, month, day);
}

/// A time with up to `digits` of a fraction; what is finer than a microsecond goes to `rest`.
std::optional<int64_t> scanTime(Scanner& scanner, size_t digits, int64_t& rest) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t fraction = 0;
  if (!scanner.number(1, 2, hour) || !scanner.take(':') || !scanner.number(1, 2, minute) ||
      !scanner.take(':') || !scanner.number(1, 2, second)) {
    return std::nullopt;
  }
  if (scanner.take('.') && !scanner.fraction(digits, fraction)) return std::nullopt;
  int64_t finer = 1;
  for (size_t i = 6; i < digits; ++i) finer *= 10;
  rest = fraction % finer;
  return timeFromParts(hour, minute, second, fraction / finer);
}

std::optional<int64_t> scanDatetime(Scanner& scanner, size_t digits, int64_t& rest) {
  const std::optional<int64_t> date = scanDate(scanner);
  if (!date) return std::nullopt;
  const bool timeFollows = scanner.take('T') || scanner.take('t') || scanner.take(' ');
  if (!timeFollows) return *date * kMicrosPerDay;
  const std::optional<int64_t> time = scanTime(scanner, digits, rest);
  if (!time) return std::nullopt;
  return *date * kMicrosPerDay + *time;
}

/// Minutes east of UTC.
std::optional<int64_t> scanZone(Scanner& scanner) {
  scanner.take(' ');
  if (scanner.atEnd() || scanner.take('Z') || scanner.take('z') || scanner.takeWord("UTC"))
    return 0;
  const bool west = scanner.peek() == '-';
  if (!scanner.take('+') && !scanner.take('-')) return std::nullopt;
  int64_t hours = 0;
  int64_t minutes = 0;
  if (!scanner.number(1, 2, hours)) return std::nullopt;
  if (scanner.take(':') && !scanner.number(2, 2, minutes)) return std::nullopt;
  if (hours > 14 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> dateFromParts(int64_t year, int64_t month, int64_t day) {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
      day > daysInMonth(year, month)) {
    return std::nullopt;
  }
  const int64_t marchYear = month <= 2 ? year - 1 : year;
  const int64_t era = marchYear / 400;
  const int64_t yearOfEra = marchYear - era * 400;
  const int64_t monthFromMarch = month > 2 ? month - 3 : month + 9;
  const int64_t dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1;
  const int64_t dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * kDaysPerEra + dayOfEra - kDaysToEpoch;
}

std::optional<int64_t> timeFromPacked(int64_t packed) {
  if (packed < 0 || (packed >> 37) != 0) return std::nullopt;
  const int64_t micros = packed & 0xFFFFF;
  const int64_t clock = packed >> 20;
  return timeFromParts(clock >> 12, (clock >> 6) & 0x3F, clock & 0x3F, micros);
}

std::optional<int64_t> datetimeFromPacked(int64_t packed) {
  if (packed < 0 || (packed >> 60) != 0) return std::nullopt;
  const int64_t date = packed >> 37;
  const std::optional<int64_t> days = dateFromParts(date >> 9, (date >> 5) & 0x0F, date & 0x1F);
  const std::optional<int64_t> time = timeFromPacked(packed & ((int64_t{1} << 37) - 1));
  if (!days || !time) return std::nullopt;
  return *days * kMicrosPerDay + *time;
}

std::optional<int64_t> dateFromText(std::string_view text) {
  Scanner scanner(text);
  const std::optional<int64_t> date = scanDate(scanner);
  return scanner.atEnd() ? date : std::nullopt;
}

std::optional<int64_t> timeFromText(std::string_view text) {
  Scanner scanner(text);
  int64_t rest = 0;
  const std::optional<int64_t> time = scanTime(scanner, 6, rest);
  return scanner.atEnd() ? time : std::nullopt;
}

std::optional<int64_t> datetimeFromText(std::string_view text) {
  Scanner scanner(text);
  int64_t rest = 0;
  const std::optional<int64_t> datetime = scanDatetime(scanner, 6, rest);
  return scanner.atEnd() ? datetime : std::nullopt;
}

std::optional<TimestampValue> timestampFromText(std::string_view text) {
  Scanner scanner(text);
  int64_t picoseconds = 0;
  const std::optional<int64_t> civil = scanDatetime(scanner, 12, picoseconds);
  if (!civil) return std::nullopt;
  const std::optional<int64_t> zone = scanZone(scanner);
  if (!zone || !scanner.atEnd()) return std::nullopt;
  const int64_t micros = *civil - *zone * 60 * kMicrosPerSecond;
  if (micros < kMinTimestamp || micros > kMaxTimestamp) return std::nullopt;
  return TimestampValue{micros, static_cast<int32_t>(picoseconds)};
}

std::string dateText(int64_t days) {
  const Date date = partsOf(days);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string timeText(int64_t micros) {
  const int64_t seconds = micros / kMicrosPerSecond;
  const int64_t fraction = micros % kMicrosPerSecond;
  std::string text =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (fraction != 0) text += fmt::format(".{:06}", fraction);
  return text;
}

std::string datetimeText(int64_t micros) {
  int64_t days = micros / kMicrosPerDay;
  int64_t time = micros % kMicrosPerDay;
  if (time < 0) {
    time += kMicrosPerDay;
    --days;
  }
  return dateText(days) + "T" + timeText(time);
}

}  // namespace penstock::emulator
