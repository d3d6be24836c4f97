#include "penstock/base/byte_size.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ByteSize, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*parseByteSize("512 KiB"), 524'288);
  EXPECT_EQ(*parseByteSize("10MB"), 10'000'000);
  EXPECT_EQ(*parseByteSize("1.5 KiB"), 1536);
  EXPECT_EQ(*parseByteSize("0.5 kb"), 500);
  EXPECT_EQ(*parseByteSize("1 GiB"), 1'073'741'824);
  EXPECT_EQ(*parseByteSize("2TB"), 2'000'000'000'000);
  EXPECT_EQ(*parseByteSize("4096"), 4096);
  EXPECT_EQ(*parseByteSize("4096 B"), 4096);
  EXPECT_EQ(*parseByteSize("9223372036854775807"), INT64_MAX);
}

TEST(ByteSize, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "MB", "10 M", "10 megabytes", "-1", "1e6", "1 MB 2", "1..5MB", "ten"}) {
    const auto size = parseByteSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_THAT(std::string(messageOf(size.status())),
                AllOf(HasSubstr(fmt::format("'{}'", text)), HasSubstr("512 KiB")));
  }
  EXPECT_THAT(std::string(messageOf(parseByteSize("9223372036854775808").status())),
              HasSubstr("too large"));
  EXPECT_THAT(std::string(messageOf(parseByteSize("8388608 TiB").status())),
              HasSubstr("too large"));
  EXPECT_THAT(std::string(messageOf(parseByteSize("0.3 KiB").status())), HasSubstr("whole number"));
}

TEST(ByteSize, FormatsExactlyForOptionsAndRoundedForPeople) {
  EXPECT_EQ(formatByteSize(524'288), "512 KiB");
  EXPECT_EQ(formatByteSize(104'857'600), "100 MiB");
  EXPECT_EQ(formatByteSize(1000), "1000 B");
  EXPECT_EQ(formatByteSize(0), "0 B");
  EXPECT_EQ(approximateByteSize(17), "17 B");
  EXPECT_EQ(approximateByteSize(1'449'000'000), "1.4 GB");
  EXPECT_EQ(approximateByteSize(999'999), "1.0 MB");
}

}  // namespace
}  // namespace penstock::base
