#include "penstock/emulator/rows/civil_time.h"

#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

// BQT-090
TEST(CivilTime, CountsDaysFromTheEpoch) {
  EXPECT_EQ(dateFromText("1970-01-01"), 0);
  EXPECT_EQ(dateFromText("2026-07-26"), 20660);
  EXPECT_EQ(dateFromText("2026-7-26"), 20660);
  EXPECT_EQ(dateFromText("0001-01-01"), kMinDate);
  EXPECT_EQ(dateFromText("9999-12-31"), kMaxDate);
  EXPECT_EQ(dateFromText("2024-02-29"), 19782);
  for (const int64_t day :
       {kMinDate, int64_t{-1}, int64_t{0}, int64_t{11016}, int64_t{20660}, kMaxDate}) {
    EXPECT_EQ(dateFromText(dateText(day)), day);
  }
}

TEST(CivilTime, RefusesDatesThatTheCalendarDoesNotHave) {
  for (const std::string_view text :
       {"2026-02-30", "2025-02-29", "1900-02-29", "0000-01-01", "2026-13-01", "2026-00-01",
        "2026-01-00", "26-01-01", "12026-01-01", "2026-01-01 ", "2026/01/01", "", "20660"}) {
    EXPECT_EQ(dateFromText(text), std::nullopt) << text;
  }
}

// BQT-092
TEST(CivilTime, UnpacksTimes) {
  EXPECT_EQ(timeFromPacked(4432787541), 3723456789);  // 01:02:03.456789
  EXPECT_EQ(timeText(3723456789), "01:02:03.456789");
  EXPECT_EQ(timeFromPacked(53880818184), 45296789000);  // 12:34:56.789
  EXPECT_EQ(timeText(45296789000), "12:34:56.789000");
  EXPECT_EQ(timeText(*timeFromPacked(89332507144)), "20:51:10.123400");
  EXPECT_EQ(timeFromPacked(0), 0);
  EXPECT_EQ(timeText(0), "00:00:00");
}

TEST(CivilTime, RefusesPackedTimesOutOfRange) {
  const auto packed = [](int64_t hour, int64_t minute, int64_t second, int64_t micros) {
    return ((hour << 12 | minute << 6 | second) << 20) | micros;
  };
  EXPECT_TRUE(timeFromPacked(packed(23, 59, 59, 999999)).has_value());
  EXPECT_EQ(timeFromPacked(packed(24, 0, 0, 0)), std::nullopt);
  EXPECT_EQ(timeFromPacked(packed(0, 60, 0, 0)), std::nullopt);
  EXPECT_EQ(timeFromPacked(packed(0, 0, 60, 0)), std::nullopt);
  EXPECT_EQ(timeFromPacked(packed(0, 0, 0, 1000000)), std::nullopt);
  EXPECT_EQ(timeFromPacked(int64_t{1} << 37), std::nullopt);
  EXPECT_EQ(timeFromPacked(-1), std::nullopt);
}

// BQT-093: vectors 50, 51, 32.
TEST(CivilTime, UnpacksDatetimes) {
  EXPECT_EQ(datetimeText(*datetimeFromPacked(142601439875102805)), "2026-07-26T01:02:03.456789");
  EXPECT_EQ(datetimeFromPacked(142601439875102805), 1785027723456789);
  EXPECT_EQ(datetimeText(*datetimeFromPacked(142258614586538368)), "2021-09-27T20:51:10.752000");
  EXPECT_EQ(datetimeText(*datetimeFromPacked(142258525253402624)), "2021-09-27T00:00:00");
  EXPECT_EQ(datetimeText(*datetimeFromPacked(74904229642240)), "0001-01-01T00:00:00");
  EXPECT_EQ(datetimeText(*datetimeFromPacked(703674213004689983)), "9999-12-31T23:59:59.999999");
  EXPECT_EQ(datetimeText(*datetimeFromPacked(138613197257548064)), "1969-12-31T23:59:59.500000");
}

TEST(CivilTime, RefusesPackedDatetimesThatAreNoMoment) {
  const auto packed = [](int64_t year, int64_t month, int64_t day) {
    return (year << 9 | month << 5 | day) << 37;
  };
  EXPECT_TRUE(datetimeFromPacked(packed(2024, 2, 29)).has_value());
  EXPECT_EQ(datetimeFromPacked(packed(2026, 2, 29)), std::nullopt);
  EXPECT_EQ(datetimeFromPacked(packed(0, 1, 1)), std::nullopt);
  EXPECT_EQ(datetimeFromPacked(packed(2026, 13, 1)), std::nullopt);
  EXPECT_EQ(datetimeFromPacked(1), std::nullopt);
  EXPECT_EQ(datetimeFromPacked(int64_t{1} << 60), std::nullopt);
  EXPECT_EQ(datetimeFromPacked(-1), std::nullopt);
}

TEST(CivilTime, ReadsTimeAndDatetimeLiterals) {
  EXPECT_EQ(timeFromText("20:51:10.1234"), timeFromPacked(89332507144));
  EXPECT_EQ(timeFromText("2:3:4"), (2 * 3600 + 3 * 60 + 4) * int64_t{1000000});
  EXPECT_EQ(timeFromText("24:00:00"), std::nullopt);
  EXPECT_EQ(timeFromText("12:00:00.1234567"), std::nullopt);
  EXPECT_EQ(timeFromText("12:00"), std::nullopt);
  EXPECT_EQ(timeFromText("12:00:00."), std::nullopt);
  EXPECT_EQ(datetimeFromText("2026-07-26T01:02:03.456789"), 1785027723456789);
  EXPECT_EQ(datetimeFromText("2026-7-26 1:2:3.456789"), 1785027723456789);
  EXPECT_EQ(datetimeFromText("2026-07-26"), 20660 * kMicrosPerDay);
  EXPECT_EQ(datetimeFromText("2026-07-26T"), std::nullopt);
  EXPECT_EQ(datetimeFromText("2026-07-26T01:02:03Z"), std::nullopt);
  EXPECT_EQ(datetimeFromText("2026-07-26  01:02:03"), std::nullopt);
}

// BQT-091: vectors 47, 48.
TEST(CivilTime, ReadsTimestampsWithZones) {
  const auto micros = [](std::string_view text) {
    return timestampFromText(text).value_or(TimestampValue{-7, 0}).micros;
  };
  EXPECT_EQ(micros("2026-07-26 01:02:03"), 1785027723000000);
  EXPECT_EQ(micros("2026-07-26T01:02:03Z"), 1785027723000000);
  EXPECT_EQ(micros("2026-07-26 01:02:03 UTC"), 1785027723000000);
  EXPECT_EQ(micros("2026-07-26 01:02:03+09:00"), 1784995323000000);
  EXPECT_EQ(micros("2026-07-26 01:02:03 +09"), 1784995323000000);
  EXPECT_EQ(micros("2026-07-26 01:02:03-05:30"), 1785027723000000 + 330 * int64_t{60000000});
  EXPECT_EQ(micros("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(micros("0001-01-01T00:00:00Z"), kMinTimestamp);
  EXPECT_EQ(micros("9999-12-31T23:59:59.999999Z"), kMaxTimestamp);
  const TimestampValue fine = *timestampFromText("2026-07-26T01:02:03.456789123456Z");
  EXPECT_EQ(fine.micros, 1785027723456789);
  EXPECT_EQ(fine.picoseconds, 123456);
}

TEST(CivilTime, RefusesTimestampsThatAreNone) {
  for (const std::string_view text :
       {"", "2026-02-30T00:00:00Z", "2026-07-26T24:00:00Z", "NaN", "2026-07-26T01:02:03,4Z",
        "2026-07-26T01:02:03+0900", "2026-07-26T01:02:03 PST", "0001-01-01T00:00:00+01:00",
        "2026-07-26T01:02:03.1234567890123Z", "2026-07-26T01:02:03ZZ"}) {
    EXPECT_FALSE(timestampFromText(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace penstock::emulator
