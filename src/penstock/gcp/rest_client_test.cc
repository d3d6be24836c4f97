#include "penstock/gcp/rest_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/gcp/testing/scripted_http_server.h"

namespace penstock::gcp {
namespace {

using ::testing::HasSubstr;
using testing::ReceivedRequest;
using testing::ScriptedAnswer;
using testing::ScriptedHttpServer;

/// Has a token at once, or hands one out, or refuses.
class FakeTokens final : public TokenSource {
 public:
  explicit FakeTokens(std::shared_ptr<HttpClient> http) : http_(std::move(http)) {}
  std::optional<Authorization> held;
  absl::StatusOr<Authorization> fetched = absl::UnknownError("not to be asked");

  std::optional<Authorization> current() override { return held; }
  void fetch(Callback callback) override {
    http_->run([callback = std::move(callback), fetched = fetched] { callback(fetched); });
  }

 private:
  std::shared_ptr<HttpClient> http_;
};

class RestClientTest : public ::testing::Test {
 protected:
  RestClient clientWith(std::shared_ptr<TokenSource> tokens, bool emulator = false) {
    return RestClient({.baseUrl = "http://" + server_.address(), .emulator = emulator}, http_,
                      std::move(tokens));
  }

  std::shared_ptr<HttpClient> http_ = std::make_shared<HttpClient>(HttpClientOptions{});
  std::shared_ptr<FakeTokens> tokens_ = std::make_shared<FakeTokens>(http_);
  ScriptedAnswer answer_{.body = R"({"id": "x"})"};
  ScriptedHttpServer server_{[this](const ReceivedRequest&) { return answer_; }};
};

TEST_F(RestClientTest, CarriesTheTokenInHandAndTheQuotaProject) {
  tokens_->held = Authorization{"Bearer held", "billed"};
  RestClient client = clientWith(tokens_);
  const RestResponse response =
      client.callAndWait({.method = "POST", .path = "/v2/tables", .body = "{}"});
  EXPECT_TRUE(response.status.ok()) << response.status;
  EXPECT_EQ(response.httpCode, 200);
  EXPECT_EQ(response.body, R"({"id": "x"})");
  const ReceivedRequest request = server_.received().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer held");
  EXPECT_EQ(request.headers.at("x-goog-user-project"), "billed");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
}

TEST_F(RestClientTest, AsksForATokenWhenThereIsNone) {
  tokens_->fetched = Authorization{"Bearer fetched", ""};
  EXPECT_TRUE(clientWith(tokens_).callAndWait({.path = "/x"}).status.ok());
  EXPECT_EQ(server_.received().at(0).headers.at("authorization"), "Bearer fetched");
}

TEST_F(RestClientTest, WithoutATokenNothingIsSent) {
  tokens_->fetched = absl::UnauthenticatedError("no credentials");
  const RestResponse response = clientWith(tokens_).callAndWait({.path = "/x"});
  EXPECT_EQ(response.status, absl::UnauthenticatedError("no credentials"));
  EXPECT_EQ(response.httpCode, 0);
  EXPECT_TRUE(server_.received().empty());
}

TEST_F(RestClientTest, AnEmulatorNeverSeesAToken) {  // BASE-007
  tokens_->held = Authorization{"Bearer held", ""};
  answer_.headers["X-Penstock-Emulator"] = "0.1.0";
  const RestResponse response = clientWith(tokens_, /*emulator=*/true).callAndWait({.path = "/x"});
  EXPECT_TRUE(response.status.ok());
  EXPECT_TRUE(response.announcesPenstock);
  EXPECT_FALSE(server_.received().at(0).headers.contains("authorization"));
}

TEST_F(RestClientTest, ReadsTheServicesErrorEnvelope) {
  answer_ = {.code = 404, .body = R"({"error": {"code": 404, "message": "Not found: Table p:d.t",
                        "errors": [{"reason": "notFound"}], "status": "NOT_FOUND"}})"};
  const RestResponse response = clientWith(nullptr).callAndWait({.path = "/x"});
  EXPECT_EQ(response.httpCode, 404);
  EXPECT_EQ(response.reason, "notFound");
  EXPECT_EQ(response.status, absl::NotFoundError("Not found: Table p:d.t (notFound)"));
}

TEST_F(RestClientTest, ASpentRateIsResourceExhaustedWhateverItsHttpCode) {  // BQW-152
  answer_ = {.code = 403, .body = R"({"error": {"message": "slow down",
                        "errors": [{"reason": "rateLimitExceeded"}]}})"};
  const RestResponse response = clientWith(nullptr).callAndWait({.path = "/x"});
  EXPECT_EQ(response.reason, "rateLimitExceeded");
  EXPECT_EQ(response.status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RestClientTest, ErrorsInAnyOtherFormKeepTheirHttpCode) {
  for (const char* body : {"", "<html>", "[]", R"({"error": "text"})", R"({"error": {}})",
                           R"({"error": {"message": 7, "errors": ["x"]}})"}) {
    answer_ = {.code = 502, .body = body};
    const RestResponse response = clientWith(nullptr).callAndWait({.path = "/x"});
    EXPECT_EQ(response.status, absl::UnavailableError("HTTP 502")) << body;
    EXPECT_EQ(response.httpCode, 502);
  }
}

TEST_F(RestClientTest, NoHttpAnswerHasCodeZero) {
  answer_ = {.cut = true};
  const RestResponse response = clientWith(nullptr).callAndWait({.path = "/x"});
  EXPECT_EQ(response.httpCode, 0);
  EXPECT_EQ(response.status.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace penstock::gcp
