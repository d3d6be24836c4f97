#include "penstock/base/endpoint.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Endpoint, SplitsAtTheLastColonAndKeepsTheHostVerbatim) {  // BASE-006, BQW-191
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "localhost:9060"), (Endpoint{"localhost", 9060}));
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "[::1]:8085"), (Endpoint{"[::1]", 8085}));
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "dns:///h:1"), (Endpoint{"dns:///h", 1}));
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "!!!:8086"), (Endpoint{"!!!", 8086}));
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "h:65535"), (Endpoint{"h", 65535}));
  EXPECT_EQ(*parseEndpoint("emulatorEndpoint", "h:0080"), (Endpoint{"h", 80}));
  EXPECT_EQ(parseEndpoint("emulatorEndpoint", "[::1]:8085")->text(), "[::1]:8085");
}

TEST(Endpoint, RefusesEverythingElseNamingSettingValueAndForm) {  // BASE-006 scenario 2
  for (const char* text : {"h:0", "h:65536", "h:+1", ":1", "h:", "h :1", "h:1 ", " h:1", "h:1\t",
                           "h", "", ":", "h:-1", "h:1x", "h:99999999999999999999", "h:\xd9\xa1"}) {
    const auto endpoint = parseEndpoint("emulatorEndpoint", text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_EQ(endpoint.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(messageOf(endpoint.status())),
                AllOf(HasSubstr("emulatorEndpoint"), HasSubstr("HOST:PORT"),
                      HasSubstr(fmt::format("'{}'", text))));
  }
}

}  // namespace
}  // namespace penstock::base
