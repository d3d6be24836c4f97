#include "penstock/emulator/rest/stored_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace penstock::emulator {
namespace {

constexpr int64_t kNanosPerSecond = 1000000000;

/// 10,000 years are more nanoseconds than 64 bits hold.
__extension__ using Nanos = __int128;

/// An INTERVAL's three parts, each with a sign of its own.
struct Interval {
  int64_t months = 0;
  int64_t days = 0;
  Nanos nanos = 0;
};

/// Takes an interval's text apart from the left.
class IntervalScanner {
 public:
  explicit IntervalScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool atEnd() const { return text_.empty(); }

  bool take(char expected) {
    if (text_.empty() || text_.front() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool sign() {
    if (take('-')) return true;
    take('+');
    return false;
  }

  /// Digits without a sign; at most 12, so that nothing overflows.
  bool number(int64_t& value) {
    size_t count = 0;
    value = 0;
    while (count < text_.size() && count < 12 && text_[count] >= '0' && text_[count] <= '9') {
      value = value * 10 + (text_[count++] - '0');
    }
    text_.remove_prefix(count);
    return count > 0;
  }

  /// Up to nine digits behind a point, as nanoseconds; 0 without a point.
  bool fraction(int64_t& nanos) {
    nanos = 0;
    if (!take('.')) return true;
    int64_t unit = kNanosPerSecond;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9' && unit > 1) {
      unit /= 10;
      nanos += (text_.front() - '0') * unit;
      text_.remove_prefix(1);
    }
    return unit < kNanosPerSecond;
  }

  char letter() {
    if (text_.empty()) return '\0';
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }

 private:
  std::string_view text_;
};

std::optional<Interval> parseCanonical(std::string_view text) {
  IntervalScanner scanner(text);
  Interval interval;
  int64_t years = 0;
  int64_t months = 0;
  const bool monthsNegative = scanner.sign();
  if (!scanner.number(years) || !scanner.take('-') || !scanner.number(months)) return std::nullopt;
  interval.months = (monthsNegative ? -1 : 1) * (years * 12 + months);
  if (!scanner.take(' ')) return std::nullopt;
  const bool daysNegative = scanner.sign();
  if (!scanner.number(interval.days) || !scanner.take(' ')) return std::nullopt;
  if (daysNegative) interval.days = -interval.days;
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  int64_t nanos = 0;
  const bool timeNegative = scanner.sign();
  if (!scanner.number(hours) || !scanner.take(':') || !scanner.number(minutes) ||
      !scanner.take(':') || !scanner.number(seconds) || !scanner.fraction(nanos) ||
      !scanner.atEnd() || hours > 100000000 || minutes > 1000000000 || seconds > 1000000000) {
    return std::nullopt;
  }
  const Nanos time = Nanos{(hours * 60 + minutes) * 60 + seconds} * kNanosPerSecond + nanos;
  interval.nanos = timeNegative ? -time : time;
  return interval;
}

/// One "5M" of an ISO 8601 duration.
bool addIsoPart(char unit, bool inTime, int64_t value, int64_t nanos, Interval& interval) {
  if (nanos != 0 && unit != 'S') return false;
  switch (unit) {
    case 'Y':
      interval.months += value * 12;
      return !inTime;
    case 'W':
      interval.days += value * 7;
      return !inTime;
    case 'D':
      interval.days += value;
      return !inTime;
    case 'H':
      interval.nanos += Nanos{value} * 3600 * kNanosPerSecond;
      return inTime;
    case 'S':
      interval.nanos += Nanos{value} * kNanosPerSecond + nanos;
      return inTime;
    case 'M':
      if (inTime) {
        interval.nanos += Nanos{value} * 60 * kNanosPerSecond;
      } else {
        interval.months += value;
      }
      return true;
    default:
      return false;
  }
}

std::optional<Interval> parseIso(std::string_view text) {
  IntervalScanner scanner(text);
  Interval interval;
  if (!scanner.take('P')) return std::nullopt;
  bool inTime = false;
  while (!scanner.atEnd()) {
    if (!inTime && scanner.take('T')) inTime = true;
    const bool negative = scanner.sign();
    int64_t value = 0;
    int64_t nanos = 0;
    if (!scanner.number(value) || value > 100000000 || !scanner.fraction(nanos))
      return std::nullopt;
    const int64_t sign = negative ? -1 : 1;
    if (!addIsoPart(scanner.letter(), inTime, sign * value, sign * nanos, interval)) {
      return std::nullopt;
    }
  }
  return interval;
}

std::string fractionText(int64_t nanos) {
  if (nanos == 0) return "";
  if (nanos % 1000000 == 0) return fmt::format(".{:03}", nanos / 1000000);
  if (nanos % 1000 == 0) return fmt::format(".{:06}", nanos / 1000);
  return fmt::format(".{:09}", nanos);
}

}  // namespace

std::string shownInterval(std::string_view text) {
  const std::optional<Interval> interval =
      text.starts_with('P') ? parseIso(text) : parseCanonical(text);
  if (!interval) return std::string(text);
  const int64_t months = std::abs(interval->months);
  const Nanos nanos = interval->nanos < 0 ? -interval->nanos : interval->nanos;
  const auto seconds = static_cast<int64_t>(nanos / kNanosPerSecond);
  const auto fraction = static_cast<int64_t>(nanos % kNanosPerSecond);
  return fmt::format("{}{}-{} {} {}{}:{}:{}{}", interval->months < 0 ? "-" : "", months / 12,
                     months % 12, interval->days, interval->nanos < 0 ? "-" : "", seconds / 3600,
                     seconds / 60 % 60, seconds % 60, fractionText(fraction));
}

std::string shownJson(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      shown += c;
      if (c == '\\' && i + 1 < text.size()) shown += text[++i];
      inString = c != '"';
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      shown += c;
      inString = c == '"';
    }
  }
  return shown;
}

}  // namespace penstock::emulator
