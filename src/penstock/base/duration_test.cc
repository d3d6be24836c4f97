#include "penstock/base/duration.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Duration, ReadsNumbersWithUnits) {
  EXPECT_EQ(*parseDuration("500ms"), 500ms);
  EXPECT_EQ(*parseDuration("5 min"), 5min);
  EXPECT_EQ(*parseDuration("1h"), 1h);
  EXPECT_EQ(*parseDuration("1h 30min"), 90min);
  EXPECT_EQ(*parseDuration("1h30min10s"), 90min + 10s);
  EXPECT_EQ(*parseDuration("1.5 s"), 1500ms);
  EXPECT_EQ(*parseDuration("0.500000 ms"), 500us);
  EXPECT_EQ(*parseDuration(" 7 us "), 7us);
  EXPECT_EQ(*parseDuration("3 ns"), 3ns);
  EXPECT_EQ(*parseDuration("2 d"), 48h);
  EXPECT_EQ(*parseDuration("0"), 0ns);
}

TEST(Duration, RefusesWhatIsNotOne) {
  for (const char* text : {"", " ", "5", "ms", "-1s", "+1s", "1e3s", "5 minutes", "5 mn", "5 M",
                           "1.s", ".5s", "1,5s", "P1D", "1 s x", "s1"}) {
    const auto duration = parseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(std::string(messageOf(duration.status())),
                AllOf(HasSubstr(fmt::format("'{}'", text)), HasSubstr("500ms")));
  }
}

TEST(Duration, ReachesTheCeilingAndNotPastIt) {  // BASE-003, BASE-004 scenario 6
  EXPECT_EQ(*parseDuration("9223372036854775807 ns"), Duration::max());
  for (const char* text : {"9223372036854775808 ns", "300000 d", "99999999999999999999 s",
                           "106751 d 24 h", "9223372036854775807 ns 1 ns", "2562047.9 h"}) {
    const auto duration = parseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(std::string(messageOf(duration.status())), HasSubstr("about 292 years")) << text;
  }
}

TEST(Duration, NeverRoundsAway) {
  for (const char* text : {"0.5 ns", "1.0000001 us", "0.1234567890123456789 s"}) {
    const auto duration = parseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(std::string(messageOf(duration.status())), HasSubstr("finer than a nanosecond"));
  }
  EXPECT_EQ(*parseDuration("0.000000001 s"), 1ns);
}

TEST(Duration, FormatsInTheLargestExactUnit) {
  EXPECT_EQ(formatDuration(500ms), "500 ms");
  EXPECT_EQ(formatDuration(5min), "5 min");
  EXPECT_EQ(formatDuration(90s), "90 s");
  EXPECT_EQ(formatDuration(1h), "1 h");
  EXPECT_EQ(formatDuration(48h), "2 d");
  EXPECT_EQ(formatDuration(500us), "500 us");
  EXPECT_EQ(formatDuration(0ns), "0 s");
  for (const Duration duration : {Duration(1), Duration(1500ms), Duration(7min), Duration::max()}) {
    EXPECT_EQ(*parseDuration(formatDuration(duration)), duration);
  }
}

}  // namespace
}  // namespace penstock::base
