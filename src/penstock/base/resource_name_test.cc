#include "penstock/base/resource_name.h"

#include <gmock/gmock.h>

namespace penstock::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ResourceName, RefusesWhatWouldAddressAnotherResource) {  // BASE-001 scenario 1, BASE-002
  for (const char* value : {"", " ", "\t", "a/b", "/", " x", "x ", "x\n"}) {
    const absl::Status status = checkResourceComponent("topic", value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(std::string(messageOf(status)),
                AllOf(HasSubstr("topic"), HasSubstr(fmt::format("'{}'", value))));
  }
}

TEST(ResourceName, DoesNotRepeatTheServicesNamingRules) {  // BASE-001
  for (const char* value : {"x", "domain.com:project", "a b", "!!", "\xc3\xa4"}) {
    EXPECT_TRUE(checkResourceComponent("topic", value).ok()) << value;
  }
}

TEST(ResourceName, ForwardedValuesOnlyMustNotBeBlank) {  // BASE-001
  EXPECT_TRUE(checkNotBlank("kmsKey", "projects/p/locations/l").ok());
  EXPECT_TRUE(checkNotBlank("kmsKey", " x").ok());
  EXPECT_FALSE(checkNotBlank("kmsKey", "  ").ok());
}

}  // namespace
}  // namespace penstock::base
