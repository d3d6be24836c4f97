#include "penstock/bigquery/encoding/civil_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include "penstock/bigquery/encoding/wire.h"

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;

std::optional<int32_t> date(std::string_view text) {
  int32_t days = 0;
  return parseDate(text, &days).ok() ? std::optional(days) : std::nullopt;
}

template <ParseResult (*kParse)(std::string_view, int64_t*)>
std::optional<int64_t> parse(std::string_view text) {
  int64_t value = 0;
  return kParse(text, &value).ok() ? std::optional(value) : std::nullopt;
}
std::optional<int64_t> time(std::string_view text) { return parse<parseTime>(text); }
std::optional<int64_t> datetime(std::string_view text) { return parse<parseDatetime>(text); }
std::optional<int64_t> timestamp(std::string_view text) { return parse<parseTimestamp>(text); }
std::optional<int64_t> timestampOrMicros(std::string_view text) {
  return parse<parseTimestampOrMicros>(text);
}

std::string timestampReason(std::string_view text) {
  int64_t value = 0;
  return std::string(parseTimestamp(text, &value).reason());
}

std::string varint(int64_t value) {
  char buffer[kMaxVarintBytes];
  return {buffer, writeSignedVarint(buffer, value)};
}

TEST(CivilTime, EncodesTheBoundsOfEveryType) {
  EXPECT_EQ(date("0001-01-01"), kMinDate);  // BQT-090
  EXPECT_EQ(date("9999-12-31"), kMaxDate);
  EXPECT_EQ(date("1970-01-01"), 0);
  EXPECT_EQ(varint(*date("1969-12-31")), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
  EXPECT_EQ(timestamp("0001-01-01 00:00:00"), kMinTimestamp);  // BQT-091
  EXPECT_EQ(timestamp("9999-12-31 23:59:59.999999"), kMaxTimestamp);
  EXPECT_EQ(timestamp("2026-07-26T01:02:03.456789Z"), 1785027723456789);
  EXPECT_EQ(varint(1785027723456789), "\x95\xE2\xFB\xBA\x92\xEF\x95\x03");
  EXPECT_EQ(time("01:02:03.456789"), 4432787541);  // BQT-092
  EXPECT_EQ(varint(4432787541), "\xD5\xF0\xDB\xC1\x10");
  EXPECT_EQ(datetime("2026-07-26T01:02:03.456789"), 142601439875102805);  // BQT-093
  EXPECT_EQ(varint(142601439875102805), "\xD5\xF0\xDB\xC1\x90\xE8\xA7\xFD\x01");
}

TEST(CivilTime, ReadsEveryDayOfTheCalendarBackAsItself) {  // BQT-090
  CivilDate expected{1, 1, 1};
  constexpr int32_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int32_t days = kMinDate; days <= kMaxDate; ++days) {
    ASSERT_EQ(toCivilDate(days), expected) << days;
    ASSERT_EQ(toDays(expected), days);
    ASSERT_TRUE(isValid(expected));
    const bool leap =
        expected.year % 4 == 0 && (expected.year % 100 != 0 || expected.year % 400 == 0);
    const int32_t last = kDays[expected.month - 1] + (expected.month == 2 && leap ? 1 : 0);
    if (++expected.day <= last) continue;
    ASSERT_FALSE(isValid(expected)) << formatDate(days) << " is its month's last day";
    expected.day = 1;
    if (++expected.month <= 12) continue;
    expected.month = 1;
    ++expected.year;
  }
  EXPECT_EQ(expected.year, 10000);
}

TEST(CivilTime, AcceptsDatesOfTwoDigitPartsOnly) {  // BQT-055, vectors 5 and 54
  EXPECT_EQ(date("2026-07-26"), 20660);
  for (const char* refused :
       {"2026-7-26", "2026-07-6", "2026-02-30", "2026-00-10", "2026-13-10", "2026-10-00",
        "0000-01-01", "2026/07/26", " 2026-07-26", "2026-07-26 ", "2026-07-26T", "+2026-07-26",
        "20260726", "", "10000-01-01", "2026-07-2x", "2026-0\xD9\xA1-01"}) {
    EXPECT_EQ(date(refused), std::nullopt) << refused;
  }
  EXPECT_TRUE(date("2024-02-29").has_value());
  EXPECT_FALSE(date("2023-02-29").has_value());
  EXPECT_FALSE(date("1900-02-29").has_value());
  EXPECT_TRUE(date("2000-02-29").has_value());
}

TEST(CivilTime, AcceptsTimesOfTheGrammar) {  // BQT-055, vector 53
  EXPECT_EQ(time("20:51:10.1234"), 89332507144);
  EXPECT_EQ(time("20:51"), time("20:51:00"));
  EXPECT_EQ(time("12:00:00."), time("12:00:00"));
  EXPECT_EQ(time("12:00:00.123456000"), time("12:00:00.123456"));
  EXPECT_EQ(time("00:00:00"), 0);
  EXPECT_EQ(time("23:59:59.999999"), packTime({23, 59, 59, 999999}));
  for (const char* refused : {"2:3:4", "24:00:00", "12:00:00.1234567", "12:60:00", "12:00:60", "12",
                              "12:", "12:00:", "12:00:0", "12:00.5", "12:00:00.1234560000",
                              "12:00:00Z", " 12:00", "12:00 ", "", "-1:00:00", "12:00:00,5"}) {
    EXPECT_EQ(time(refused), std::nullopt) << refused;
  }
}

TEST(CivilTime, AcceptsDatetimesOfTheGrammar) {  // BQT-055, vectors 50 to 52
  EXPECT_EQ(datetime("2021-09-27T20:51:10.752"), 142258614586538368);
  EXPECT_EQ(datetime("2021-9-27t20:51:10.752"), 142258614586538368);
  EXPECT_EQ(datetime("2021-09-27"), 142258525253402624);
  EXPECT_EQ(datetime("0001-01-01"), 74904229642240);
  EXPECT_EQ(datetime("9999-12-31 23:59:59.999999"), 703674213004689983);
  EXPECT_EQ(datetime("2021-9-7 1:2"), packDatetime({2021, 9, 7}, {1, 2, 0, 0}));
  EXPECT_EQ(datetime("2021-9-7 1:2:3."), packDatetime({2021, 9, 7}, {1, 2, 3, 0}));
  EXPECT_EQ(datetime("2021-9-7 1:2:3.100000000"), packDatetime({2021, 9, 7}, {1, 2, 3, 100000}));
  for (const char* refused :
       {"2026-07-26T10:20:30Z", "2026-07-26 10:20:30.1234567", "2026-02-30", "2026-07-26T",
        "2026-07-26 ", "2026-07-26T24:00:00", "2026-07-26T23:59:60", "2026/07/26",
        "2026-07-26  10:20", "2026-07-26T10", "2026-07-26 10:20:30+00", "26-07-26", "2026-007-26",
        "2026-07-26T10:20.5", "0000-01-01", ""}) {
    EXPECT_EQ(datetime(refused), std::nullopt) << refused;
  }
}

TEST(CivilTime, AcceptsTimestampsOfTheGrammar) {  // BQT-055, vectors 47 to 49
  EXPECT_EQ(timestamp("2026-07-26 01:02:03"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-07-26 01:02:03+09:00"), 1784995323000000);
  EXPECT_EQ(timestamp("2026-07-26 01:02:03 +09"), 1784995323000000);
  EXPECT_EQ(timestamp("2026-07-26T01:02:03.456789123Z"), 1785027723456789);
  EXPECT_EQ(timestamp("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(timestamp("2026/7/26 1:2"), 1785027720000000);
  EXPECT_EQ(timestamp("2026-07-26T01:02 Z"), 1785027720000000);
  EXPECT_EQ(timestamp("2026-07-26T01:02:03UTC"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-07-26T01:02:03 GMT"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-07-26T01:02:03-00:00:30"), 1785027753000000);
  for (const char* refused : {"2026-07-26",
                              "2026-07-26T01:02:03z",
                              "2026-07-26t01:02:03Z",
                              "2026-07-26T01:02:03+0900",
                              "2026-07-26T01:02:03,4Z",
                              "2026-07-26T01:02:03.1234567890Z",
                              "2026-07-26T01:02:03.Z",
                              "2026-02-30T00:00:00Z",
                              "2026-07-26T24:00:00Z",
                              "2026-07-26T23:59:60Z",
                              "NaN",
                              "2026-07-26T01:02:03 ",
                              "2026-07-26T01:02:03  Z",
                              "2026-07-26  01:02:03",
                              "2026-07-26T01:02:03+9",
                              "2026-07-26T01:02:03+09:",
                              "2026-07-26T01:02:03+09:60",
                              "2026-07-26T01:02:03+18:01",
                              "2026-07-26T01:02:03ZZ",
                              "2026-07-26T01:02:03utc",
                              "10000-01-01T00:00:00Z",
                              "0000-12-31T00:00:00Z",
                              "2026-07-26T01",
                              "2026-07-26TZ",
                              "2026-07-26T01:02:03 PST",
                              "2026-07-26T01:02:03\xC2\xA0Z",
                              ""}) {
    EXPECT_EQ(timestamp(refused), std::nullopt) << refused;
  }
}

TEST(CivilTime, ChecksTheBoundsOfTheInstantAndNotOfTheLocalTime) {  // BQT-054
  EXPECT_EQ(timestamp("0001-01-01T00:00:00+00:01"), std::nullopt);
  EXPECT_EQ(timestamp("0001-01-01T00:01:00+00:01"), kMinTimestamp);
  EXPECT_EQ(timestamp("9999-12-31T23:59:59.999999-00:01"), std::nullopt);
  EXPECT_EQ(timestamp("9999-12-31T23:58:59.999999-00:01"), kMaxTimestamp);
}

TEST(CivilTime, KnowsTheZonesOfTheSystemsDatabase) {  // BQT-055
  EXPECT_EQ(timestamp("2026-07-26 03:02:03 Europe/Berlin"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-07-26 03:02:03Europe/Berlin"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-01-26 02:02:03 Europe/Berlin"), timestamp("2026-01-26 01:02:03Z"));
  EXPECT_EQ(timestamp("2026-07-26 06:32:03 Asia/Kolkata"), 1785027723000000);
  EXPECT_EQ(timestamp("2026-07-26 01:02:03 Etc/GMT+5"), timestamp("2026-07-26 06:02:03Z"));
  // Skipped and repeated local times take the offset before the change.
  EXPECT_EQ(timestamp("2026-03-29 02:30:00 Europe/Berlin"), timestamp("2026-03-29 01:30:00Z"));
  EXPECT_EQ(timestamp("2026-10-25 02:30:00 Europe/Berlin"), timestamp("2026-10-25 00:30:00Z"));
}

TEST(CivilTime, RefusesWhatIsNoZoneOrHasTwoReadings) {  // BQT-055
  for (const char* zone : {"PST",
                           "CEST",
                           "EST",
                           "CET",
                           "Europe/Nowhere",
                           "europe/berlin",
                           "localtime",
                           "right/UTC",
                           "posix/Europe/Berlin",
                           "../zoneinfo/UTC",
                           "/usr/share/zoneinfo/UTC",
                           "Europe/../UTC",
                           "Europe",
                           "Europe/",
                           "libc:localtime",
                           "file:UTC",
                           "Fixed/UTC+01:00:00",
                           "UTC+1",
                           "zone.tab",
                           "Factory",
                           "Europe//Berlin"}) {
    const std::string text = "2026-07-26 01:02:03 " + std::string(zone);
    EXPECT_EQ(timestamp(text), std::nullopt) << zone;
    EXPECT_THAT(timestampReason(text), HasSubstr("unknown time zone")) << zone;
  }
  EXPECT_EQ(timestamp("2026-07-26 01:02:03 " + std::string(5000, 'A')), std::nullopt);
}

TEST(CivilTime, MixesMoreZonesThanAThreadRemembers) {
  const char* const zones[] = {
      "Europe/Berlin", "Asia/Tokyo",   "America/New_York", "Asia/Kolkata", "Africa/Cairo",
      "Europe/London", "America/Lima", "Asia/Seoul",       "Asia/Dubai",   "Pacific/Tongatapu"};
  for (int round = 0; round < 3; ++round) {
    for (const char* zone : zones) {
      EXPECT_TRUE(timestamp("2026-07-26 01:02:03 " + std::string(zone)).has_value()) << zone;
    }
    EXPECT_EQ(timestamp("2026-07-26 09:00:00 Asia/Tokyo"), timestamp("2026-07-26 00:00:00Z"));
  }
}

TEST(CivilTime, TakesNumbersForTimestampsAsMicros) {  // BQT-054, vectors 46 and 49
  EXPECT_EQ(timestampOrMicros("1700000000"), 1700000000);
  EXPECT_EQ(timestampOrMicros("1700000000.9"), 1700000000);
  EXPECT_EQ(timestampOrMicros("-1.9"), -1);
  EXPECT_EQ(timestampOrMicros("1.7e9"), 1700000000);
  EXPECT_EQ(timestampOrMicros("2026-07-26T01:02:03Z"), 1785027723000000);
  EXPECT_EQ(timestampOrMicros("253402300799999999"), kMaxTimestamp);
  for (const char* refused : {"253402300800000000", "-62135596800000001", "9223372036854775808",
                              "1e30", "NaN", "Infinity", "1d", "0x10", " 1", ""}) {
    EXPECT_EQ(timestampOrMicros(refused), std::nullopt) << refused;
  }
}

TEST(CivilTime, ValidatesPackedValues) {  // BQT-092, BQT-093, vector 59
  CivilDate readDate;
  CivilTime readTime;
  EXPECT_TRUE(unpackDatetime(142601439875102805, &readDate, &readTime));
  EXPECT_EQ(readDate, (CivilDate{2026, 7, 26}));
  EXPECT_EQ(readTime, (CivilTime{1, 2, 3, 456789}));
  EXPECT_FALSE(unpackDatetime(1, &readDate, &readTime));
  EXPECT_FALSE(unpackDatetime(-1, &readDate, &readTime));
  EXPECT_FALSE(unpackDatetime(142601439875102805 | int64_t{1} << 60, &readDate, &readTime));
  EXPECT_FALSE(
      unpackDatetime(packDatetime({2026, 2, 28}, {}) + (int64_t{2} << 37), &readDate, &readTime));
  EXPECT_TRUE(unpackTime(4432787541, &readTime));
  EXPECT_FALSE(unpackTime(int64_t{1} << 37, &readTime));
  EXPECT_FALSE(unpackTime(-1, &readTime));
  EXPECT_FALSE(unpackTime(1'000'000, &readTime));          // micros
  EXPECT_FALSE(unpackTime(int64_t{60} << 20, &readTime));  // seconds
  EXPECT_FALSE(unpackTime(int64_t{60} << 26, &readTime));  // minutes
  EXPECT_FALSE(unpackTime(int64_t{24} << 32, &readTime));  // hours
}

TEST(CivilTime, ReadsBackWhatItPrints) {
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 20'000; ++i) {
    const auto days =
        static_cast<int32_t>(std::uniform_int_distribution<int32_t>(kMinDate, kMaxDate)(random));
    ASSERT_EQ(date(formatDate(days)), days);
    const int64_t micros =
        std::uniform_int_distribution<int64_t>(kMinTimestamp, kMaxTimestamp)(random);
    ASSERT_EQ(timestamp(formatTimestamp(micros)), micros) << formatTimestamp(micros);
    const CivilTime ofDay{static_cast<int32_t>(random() % 24), static_cast<int32_t>(random() % 60),
                          static_cast<int32_t>(random() % 60),
                          static_cast<int32_t>(random() % 2 * (random() % 1'000'000))};
    const int64_t packed = packTime(ofDay);
    ASSERT_EQ(time(formatTime(packed)), packed) << formatTime(packed);
    const int64_t whole = packDatetime(toCivilDate(days), ofDay);
    ASSERT_EQ(datetime(formatDatetime(whole)), whole) << formatDatetime(whole);
    CivilDate readDate;
    CivilTime readTime;
    ASSERT_TRUE(unpackDatetime(whole, &readDate, &readTime));
    ASSERT_EQ(packDatetime(readDate, readTime), whole);
  }
}

TEST(CivilTime, SurvivesTextThatIsDamagedAnywhere) {
  const std::string whole = "2026-07-26T01:02:03.456789 Europe/Berlin";
  std::mt19937 random(7);
  for (int i = 0; i < 50'000; ++i) {
    std::string text = whole.substr(0, random() % (whole.size() + 1));
    for (size_t changes = random() % 3; changes > 0 && !text.empty(); --changes) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    // Whatever is accepted is a value of its type.
    const auto day = date(text);
    EXPECT_TRUE(!day || date(formatDate(*day)) == day) << text;
    const auto instant = timestamp(text);
    EXPECT_TRUE(!instant || timestamp(formatTimestamp(*instant)) == instant) << text;
    const auto civil = datetime(text);
    EXPECT_TRUE(!civil || datetime(formatDatetime(*civil)) == civil) << text;
    const auto clock = time(text.substr(std::min<size_t>(11, text.size())));
    EXPECT_TRUE(!clock || time(formatTime(*clock)) == clock) << text;
  }
}

}  // namespace
}  // namespace penstock::bigquery
