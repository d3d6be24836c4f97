#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

/// DATE, TIME, DATETIME and TIMESTAMP: the texts that are accepted (BQT-055) and the numbers that
/// go into a row (BQT-090 to BQT-093). Nothing here allocates, but for the `format...` functions
/// and the first use of a named time zone in a thread. Calendar-strict: no day is adjusted, 24:00
/// and second 60 do not exist.
namespace penstock::bigquery {

inline constexpr int32_t kMinDate = -719162;  ///< 0001-01-01
inline constexpr int32_t kMaxDate = 2932896;  ///< 9999-12-31
inline constexpr int64_t kMinTimestamp = -62'135'596'800'000'000;
inline constexpr int64_t kMaxTimestamp = 253'402'300'799'999'999;

/// A day of the proleptic Gregorian calendar; year 1 to 9999 wherever it came out of this file.
struct CivilDate {
  int32_t year = 1970;
  int32_t month = 1;  ///< 1 to 12
  int32_t day = 1;    ///< 1 to 31
  friend bool operator==(const CivilDate&, const CivilDate&) = default;
};

/// A time of day.
struct CivilTime {
  int32_t hour = 0;    ///< 0 to 23
  int32_t minute = 0;  ///< 0 to 59
  int32_t second = 0;  ///< 0 to 59
  int32_t micros = 0;  ///< 0 to 999,999
  friend bool operator==(const CivilTime&, const CivilTime&) = default;
};

/// Whether the calendar has that day, in years 1 to 9999.
[[nodiscard]] bool isValid(const CivilDate& date);
[[nodiscard]] bool isValid(const CivilTime& time);

/// Days from 1970-01-01 of a valid date, and back.
[[nodiscard]] int32_t toDays(const CivilDate& date);
[[nodiscard]] CivilDate toCivilDate(int32_t days);

/// BQT-092 and BQT-093, of valid values.
[[nodiscard]] int64_t packTime(const CivilTime& time);
[[nodiscard]] int64_t packDatetime(const CivilDate& date, const CivilTime& time);

/// Take a packed value apart; false when it is not one (BQT-092, BQT-093).
[[nodiscard]] bool unpackTime(int64_t packed, CivilTime* time);
[[nodiscard]] bool unpackDatetime(int64_t packed, CivilDate* date, CivilTime* time);

[[nodiscard]] constexpr bool isDateInRange(int64_t days) {
  return days >= kMinDate && days <= kMaxDate;
}
[[nodiscard]] constexpr bool isTimestampInRange(int64_t micros) {
  return micros >= kMinTimestamp && micros <= kMaxTimestamp;
}

/// "2026-07-26" to days from the epoch.
ParseResult parseDate(std::string_view text, int32_t* days);

/// "20:51:10.1234" to a packed TIME.
ParseResult parseTime(std::string_view text, int64_t* packed);

/// "2021-9-27 20:51:10.752", "2021-09-27" to a packed DATETIME.
ParseResult parseDatetime(std::string_view text, int64_t* packed);

/// "2026-07-26 01:02:03.456789 Europe/Berlin" to microseconds from the epoch: the timestamp grammar
/// alone. A local time that a zone's clock skipped or showed twice is read with the offset before
/// the change. Zone ids come from the system's time zone database (TZDIR, /usr/share/zoneinfo).
ParseResult parseTimestamp(std::string_view text, int64_t* micros);

/// A string for a TIMESTAMP column (BQT-054): a decimal number is microseconds, truncated toward
/// zero, and everything else is left to `parseTimestamp`.
ParseResult parseTimestampOrMicros(std::string_view text, int64_t* micros);

/// "2026-07-26"; days in range.
[[nodiscard]] std::string formatDate(int32_t days);
/// "20:51:10" or "20:51:10.123400"; a valid packed value.
[[nodiscard]] std::string formatTime(int64_t packed);
/// "2021-09-27T20:51:10" or with six digits of fraction; a valid packed value.
[[nodiscard]] std::string formatDatetime(int64_t packed);
/// "2026-07-26 01:02:03.456789+00"; micros in range.
[[nodiscard]] std::string formatTimestamp(int64_t micros);

}  // namespace penstock::bigquery
