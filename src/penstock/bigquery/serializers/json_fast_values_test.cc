// The fast readers against the general parsers: what one of them reads, the other reads alike; and
// the usual spellings are not declined.
#include "penstock/bigquery/serializers/json_fast_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <string_view>

#include "penstock/base/random.h"
#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/encoding/number_text.h"
#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

constexpr int kAttempts = 40'000;

/// A text with room behind it, the way documents have it.
class Padded {
 public:
  explicit Padded(std::string_view text) : size_(text.size()), bytes_(text) {
    bytes_ += "7.:-T\"},{\"a\":0123456789.000Z\"]";
    bytes_.append(32, '0');
  }
  [[nodiscard]] const char* begin() const { return bytes_.data(); }
  [[nodiscard]] const char* end() const { return bytes_.data() + size_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_;
  std::string bytes_;
};

void replaceOneByte(base::Random& random, std::string* text) {
  constexpr std::string_view kBytes = "0123456789-+.:TtZz /eE\"\x80\xFF";
  if (!text->empty()) (*text)[random.below(text->size())] = kBytes[random.below(kBytes.size())];
}

TEST(JsonFastValues, IntegersAreReadLikeTheGeneralParserDoes) {
  const auto random = base::seededRandom(1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t magnitude = random->next() >> random->below(64);
    std::string text = fmt::format("{}{}", random->chance(0.5) ? "-" : "", magnitude);
    const bool isShort = text.size() <= 16;
    const bool isChanged = random->chance(0.3);
    if (isChanged) replaceOneByte(*random, &text);
    const Padded padded(text);
    int64_t fast = 0;
    int64_t general = 0;
    const bool isRead = readShortInteger(padded.begin(), padded.end(), &fast);
    if (isRead) {
      ASSERT_TRUE(parseInt64(text, &general).ok()) << text;
      ASSERT_EQ(fast, general) << text;
      // Stricter: JSON's grammar.
      const std::string_view digits = std::string_view(text).substr(text[0] == '-' ? 1 : 0);
      ASSERT_TRUE(digits.size() == 1 || digits[0] != '0') << text;
    } else if (!isChanged) {
      ASSERT_FALSE(isShort) << text;
    }
  }
}

TEST(JsonFastValues, DecimalsAreReadLikeTheGeneralParsersDo) {
  const auto random = base::seededRandom(2);
  int read = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t whole = random->next() >> (16 + random->below(48));
    std::string text = fmt::format("{}{}", random->chance(0.5) ? "-" : "", whole);
    if (random->chance(0.7)) {
      text += fmt::format(".{:0{}}", random->next() % 10'000, 1 + random->below(10));
    }
    if (random->chance(0.3)) replaceOneByte(*random, &text);
    const Padded padded(text);
    ShortDecimal decimal;
    if (!readShortDecimal(padded.begin(), padded.end(), &decimal)) continue;
    ++read;
    ASSERT_TRUE(isDecimal(text)) << text;
    double fast = 0;
    double general = 0;
    if (toDouble(decimal, &fast)) {
      ASSERT_TRUE(parseDouble(text, &general).ok()) << text;
      if (general == 0 && !decimal.hasPoint) general = 0.0;
      ASSERT_EQ(std::bit_cast<uint64_t>(fast), std::bit_cast<uint64_t>(general)) << text;
    }
    char fastBytes[16];
    char generalBytes[kDecimalBufferBytes];
    size_t fastSize = 0;
    size_t generalSize = 0;
    if (writeNumeric(decimal, fastBytes, &fastSize)) {
      ASSERT_TRUE(encodeDecimal(text, DecimalKind::kNumeric, generalBytes, &generalSize).ok())
          << text;
      ASSERT_EQ(toHex({fastBytes, fastSize}), toHex({generalBytes, generalSize})) << text;
    }
  }
  EXPECT_GT(read, kAttempts / 2);
}

/// A moment in one of the usual spellings, or nearly.
std::string randomMoment(base::Random& random, std::string_view separators) {
  std::string text =
      fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", random.below(10'000), random.below(14),
                  random.below(33), separators[random.below(separators.size())], random.below(25),
                  random.below(61), random.below(61));
  if (random.chance(0.6)) {
    const std::string digits = fmt::format("{:010}", random.below(10'000'000'000));
    text += "." + digits.substr(0, 1 + random.below(10));
    if (random.chance(0.5)) text.replace(text.size() - 1, 1, "0");
  }
  return text;
}

TEST(JsonFastValues, MomentsAreReadLikeTheGeneralParsersDo) {
  const auto random = base::seededRandom(3);
  int timestamps = 0;
  int datetimes = 0;
  int times = 0;
  int dates = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string text = randomMoment(*random, "TT  t");
    if (random->chance(0.3)) text += "Z";
    if (random->chance(0.2)) replaceOneByte(*random, &text);
    const Padded padded(text);
    int64_t fast = 0;
    int64_t general = 0;
    if (readPlainTimestamp(padded.begin(), padded.size(), &fast)) {
      ++timestamps;
      ASSERT_TRUE(parseTimestamp(text, &general).ok()) << text;
      ASSERT_EQ(fast, general) << text;
    }
    if (readPlainDatetime(padded.begin(), padded.size(), &fast)) {
      ++datetimes;
      ASSERT_TRUE(parseDatetime(text, &general).ok()) << text;
      ASSERT_EQ(fast, general) << text;
    }
    const std::string date = text.substr(0, 10);
    const Padded paddedDate(date);
    int32_t fastDays = 0;
    int32_t generalDays = 0;
    const bool isDate = readPlainDate(paddedDate.begin(), paddedDate.size(), &fastDays);
    dates += isDate ? 1 : 0;
    ASSERT_EQ(isDate, parseDate(date, &generalDays).ok()) << date;
    if (isDate) {
      ASSERT_EQ(fastDays, generalDays) << date;
    }
    const std::string time = text.substr(11);
    const Padded paddedTime(time);
    if (readPlainTime(paddedTime.begin(), paddedTime.size(), &fast)) {
      ++times;
      ASSERT_TRUE(parseTime(time, &general).ok()) << time;
      ASSERT_EQ(fast, general) << time;
    }
  }
  for (const int read : {timestamps, datetimes, times, dates}) EXPECT_GT(read, kAttempts / 10);
}

TEST(JsonFastValues, DaysOfAllYearsAreReadLikeTheGeneralParserDoes) {
  // The calendar repeats after 400 years, 146,097 days: the step meets every day of it.
  constexpr int32_t kStep = 11;
  for (int32_t days = kMinDate; days <= kMaxDate; days += kStep) {
    const CivilDate date = toCivilDate(days);
    const Padded text(fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day));
    int32_t fast = 0;
    ASSERT_TRUE(readPlainDate(text.begin(), text.size(), &fast)) << text.begin();
    ASSERT_EQ(fast, days);
  }
}

TEST(JsonFastValues, TheUsualSpellingsAreNotDeclined) {
  int64_t value = 0;
  for (const std::string_view text :
       {"2026-07-26T01:02:03Z", "2026-07-26 01:02:03", "2026-07-26T01:02:03.4Z",
        "2026-07-26T01:02:03.456", "2026-07-26T01:02:03.456789Z", "2026-07-26T01:02:03.456789123Z",
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999"}) {
    const Padded padded(text);
    EXPECT_TRUE(readPlainTimestamp(padded.begin(), padded.size(), &value)) << text;
  }
  ShortDecimal decimal;
  for (const std::string_view text : {"0", "-0", "0.5", "123", "12345.67", "-122.419416",
                                      "1234567890123456", "0.00000000000001", "1.0"}) {
    const Padded padded(text);
    EXPECT_TRUE(readShortDecimal(padded.begin(), padded.end(), &decimal)) << text;
  }
}

}  // namespace
}  // namespace penstock::bigquery
