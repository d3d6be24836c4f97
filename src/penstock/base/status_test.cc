#include "penstock/base/status.h"

#include <gtest/gtest.h>

#include "penstock/base/log.h"

namespace penstock::base {
namespace {

absl::StatusOr<int> half(int value) {
  if (value % 2 != 0) return invalidArgument("{} is odd", value);
  return value / 2;
}

absl::StatusOr<int> quarter(int value) {
  PENSTOCK_ASSIGN_OR_RETURN(const int first, half(value));
  PENSTOCK_ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

absl::Status checkEven(int value) {
  PENSTOCK_RETURN_IF_ERROR(half(value).status());
  return absl::OkStatus();
}

TEST(Status, ContextComesFirstAndTheCodeStays) {
  const absl::Status status = withContext(notSupported("{} is new", "x"), "option y");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(messageOf(status), "option y: x is new");
  EXPECT_TRUE(withContext(absl::OkStatus(), "anything").ok());
}

TEST(Status, IsDescribedWithGrpcsNames) {
  EXPECT_EQ(describe(makeStatus(absl::StatusCode::kPermissionDenied, "no")),
            "PERMISSION_DENIED: no");
  EXPECT_EQ(describe(absl::OkStatus()), "OK");
  EXPECT_EQ(codeName(static_cast<absl::StatusCode>(77)), "UNCLASSIFIED");  // BASE-041
}

TEST(Status, MacrosReturnTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(messageOf(quarter(7).status()), "7 is odd");
  EXPECT_EQ(messageOf(quarter(6).status()), "3 is odd");
  EXPECT_TRUE(checkEven(2).ok());
  EXPECT_FALSE(checkEven(3).ok());
}

TEST(Log, GoesThroughTheInstalledHook) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  setLogHook([&lines](LogLevel level, std::string_view line) { lines.emplace_back(level, line); });
  logInfo("row {}", 1);
  logWarning("slow");
  logError("lost {}", "it");
  setLogHook({});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], std::pair(LogLevel::kInfo, std::string("row 1")));
  EXPECT_EQ(lines[1], std::pair(LogLevel::kWarning, std::string("slow")));
  EXPECT_EQ(lines[2], std::pair(LogLevel::kError, std::string("lost it")));
}

}  // namespace
}  // namespace penstock::base
