#include "penstock/emulator/rest/api_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(ApiCall, FindsAnEtagInAHeader) {
  EXPECT_TRUE(namesEtag("abc==", "abc=="));
  EXPECT_TRUE(namesEtag("\"abc==\"", "abc=="));
  EXPECT_TRUE(namesEtag("*", "abc=="));
  EXPECT_TRUE(namesEtag("\"x\" , abc==", "abc=="));
  EXPECT_FALSE(namesEtag("", "abc=="));
  EXPECT_FALSE(namesEtag("abc", "abc=="));
  EXPECT_FALSE(namesEtag("\"abc==", "abc=="));
  // A weak tag does not say that the resource is the same.
  EXPECT_FALSE(namesEtag("W/\"abc==\"", "abc=="));
}

TEST(ApiCall, ShapesErrorsAsTheServiceDoes) {
  EXPECT_EQ(json::parse(errorEnvelope(conditionNotMetError())),
            json::parse(R"({"error": {"code": 412, "message": "Precondition check failed.",
                "status": "FAILED_PRECONDITION", "errors": [{
                  "message": "Precondition check failed.", "domain": "global",
                  "reason": "conditionNotMet", "location": "If-Match",
                  "locationType": "header"}]}})"));
  EXPECT_EQ(json::parse(errorEnvelope(invalidError("bad"))),
            json::parse(R"({"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT",
                "errors": [{"message": "bad", "domain": "global", "reason": "invalid"}]}})"));
  const auto statusOf = [](int code) {
    return json::parse(errorEnvelope({code, "reason", "text"}))["error"]["status"];
  };
  EXPECT_EQ(statusOf(403), "PERMISSION_DENIED");
  EXPECT_EQ(statusOf(404), "NOT_FOUND");
  EXPECT_EQ(statusOf(409), "ALREADY_EXISTS");
  EXPECT_EQ(statusOf(429), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(statusOf(501), "UNIMPLEMENTED");
  EXPECT_EQ(statusOf(502), "INTERNAL");
  EXPECT_EQ(statusOf(503), "UNAVAILABLE");
  // What came in need not be UTF-8.
  EXPECT_TRUE(json::accept(errorEnvelope(invalidError("\xff"))));
}

TEST(ApiCall, GivesEachStatusAReason) {
  const auto reasonOf = [](absl::StatusCode code) {
    const ApiError error = errorOf(base::makeStatus(code, "text"));
    return fmt::format("{} {}", error.httpCode, error.reason);
  };
  EXPECT_EQ(reasonOf(absl::StatusCode::kInvalidArgument), "400 invalid");
  EXPECT_EQ(reasonOf(absl::StatusCode::kNotFound), "404 notFound");
  EXPECT_EQ(reasonOf(absl::StatusCode::kAlreadyExists), "409 duplicate");
  EXPECT_EQ(reasonOf(absl::StatusCode::kFailedPrecondition), "400 resourceInUse");
  EXPECT_EQ(reasonOf(absl::StatusCode::kUnimplemented), "501 notImplemented");
  EXPECT_EQ(reasonOf(absl::StatusCode::kResourceExhausted), "403 quotaExceeded");
  EXPECT_EQ(reasonOf(absl::StatusCode::kDataLoss), "500 internalError");
}

TEST(ApiCall, TakesAListPageByPage) {
  const auto pageOf = [](const char* maxResults, const std::string& token, uint64_t count) {
    ApiCall call;
    call.query = {{"maxResults", maxResults}, {"pageToken", token}};
    const absl::StatusOr<ListPage> page = listPageOf(call, count);
    if (!page.ok()) return std::string(base::messageOf(page.status()));
    return fmt::format("{}-{}{}", page->begin, page->end, page->nextToken.empty() ? "" : "+");
  };
  EXPECT_EQ(pageOf("", "", 3), "0-3");
  EXPECT_EQ(pageOf("", "", 51), "0-50+");
  EXPECT_EQ(pageOf("2", "", 3), "0-2+");
  EXPECT_EQ(pageOf("2", pageTokenOf(2), 3), "2-3");
  EXPECT_EQ(pageOf("2", pageTokenOf(9), 3), "3-3");  // the list has become shorter
  EXPECT_EQ(pageOf("18446744073709551615", pageTokenOf(1), 3), "1-3");
  EXPECT_THAT(pageOf("-1", "", 3), HasSubstr("maxResults"));
  EXPECT_THAT(pageOf("", "nonsense", 3), HasSubstr("pageToken"));
}

}  // namespace
}  // namespace penstock::emulator
