#include "penstock/connector/failure.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "penstock/base/log.h"

namespace penstock::connector {
namespace {

using testing::HasSubstr;

FailedRecord badRecord() {
  FailedRecord failure;
  failure.connector = "bigquery";
  failure.destination = "p.d.t";
  failure.errorMessage = "column n: not a number";
  failure.cause = absl::OutOfRangeError("too large");
  failure.origin = "input.json line 7";
  return failure;
}

// BASE-012
TEST(FailureHandler, FailJobNamesConnectorDestinationMessageAndCause) {
  const auto handler = failJob();
  const absl::Status status = handler->handle(badRecord());
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  const std::string text(base::messageOf(status));
  for (const char* part :
       {"bigquery", "p.d.t", "column n: not a number", "too large", "input.json line 7"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

// BASE-012
TEST(FailureHandler, LogAndDropWarnsAndGoesOn) {
  std::vector<std::string> warnings;
  base::setLogHook([&](base::LogLevel level, std::string_view message) {
    if (level == base::LogLevel::kWarning) warnings.emplace_back(message);
  });
  const absl::Status status = logAndDrop()->handle(badRecord());
  base::setLogHook({});
  EXPECT_TRUE(status.ok());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("p.d.t"));
  EXPECT_THAT(warnings[0], HasSubstr("column n: not a number"));
}

}  // namespace
}  // namespace penstock::connector
