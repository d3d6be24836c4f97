#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Civil and absolute time as BigQuery's wire forms and literals write it: the proleptic Gregorian
/// calendar, years 1 to 9999, microseconds, no leap seconds (BQT-090 to BQT-093).
namespace penstock::emulator {

inline constexpr int64_t kMinDate = -719162;  ///< 0001-01-01 in days from 1970-01-01
inline constexpr int64_t kMaxDate = 2932896;  ///< 9999-12-31
inline constexpr int64_t kMicrosPerDay = 86400000000;
inline constexpr int64_t kMinTimestamp = -62135596800000000;  ///< 0001-01-01T00:00:00Z in µs
inline constexpr int64_t kMaxTimestamp = 253402300799999999;  ///< 9999-12-31T23:59:59.999999Z in µs

/// A point in time, finer than a microsecond where a TIMESTAMP(12) asks for it.
struct TimestampValue {
  int64_t micros = 0;       ///< from the Unix epoch, rounded down
  int32_t picoseconds = 0;  ///< 0 to 999999, on top of `micros`
};

/// Days from 1970-01-01; nothing when the calendar has no such day or the year is outside 1 to
/// 9999.
[[nodiscard]] std::optional<int64_t> dateFromParts(int64_t year, int64_t month, int64_t day);

/// µs of the day out of the packed 37-bit form; nothing when a part is out of range.
[[nodiscard]] std::optional<int64_t> timeFromPacked(int64_t packed);
/// µs from 1970-01-01T00:00:00 out of the packed 60-bit form.
[[nodiscard]] std::optional<int64_t> datetimeFromPacked(int64_t packed);

/// SQL literals: `YYYY-[M]M-[D]D`; `[H]H:[M]M:[S]S[.FFFFFF]`; a date, alone or with a time behind
/// one space, `T` or `t`.
[[nodiscard]] std::optional<int64_t> dateFromText(std::string_view text);
[[nodiscard]] std::optional<int64_t> timeFromText(std::string_view text);
[[nodiscard]] std::optional<int64_t> datetimeFromText(std::string_view text);
/// A DATETIME literal with up to twelve fraction digits, and `Z`, `UTC` or `[+-][H]H[:MM]` behind
/// it, with or without one space; without a zone it is UTC.
[[nodiscard]] std::optional<TimestampValue> timestampFromText(std::string_view text);

/// "2026-07-26".
[[nodiscard]] std::string dateText(int64_t days);
/// "01:02:03" or "01:02:03.456789".
[[nodiscard]] std::string timeText(int64_t micros);
/// "2026-07-26T01:02:03" or "2026-07-26T01:02:03.456789".
[[nodiscard]] std::string datetimeText(int64_t micros);

}  // namespace penstock::emulator
