#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>

#include "penstock/base/mutex.h"
#include "penstock/gcp/http_client.h"
#include "penstock/gcp/testing/scripted_http_server.h"
#include "penstock/gcp/testing/test_certificates.h"

namespace penstock::gcp {
namespace {

using std::chrono_literals::operator""ms;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReceivedRequest;
using testing::ScriptedAnswer;
using testing::ScriptedHttpServer;
using testing::TestCertificates;

ScriptedAnswer echo(const ReceivedRequest& request) {
  return {.body = request.method + " " + request.target + " " + request.body,
          .headers = {{"X-Number", "7"}}};
}

TEST(HttpClient, SendsMethodHeadersAndBodyAndReadsTheAnswer) {
  ScriptedHttpServer server(echo);
  HttpClient client({.userAgent = "penstock-test"});
  const absl::StatusOr<HttpResponse> response =
      client.sendAndWait({.method = "POST",
                          .url = "http://" + server.address() + "/tables?x=1",
                          .headers = {"Content-Type: application/json"},
                          .body = "{}"});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->code, 200);
  EXPECT_EQ(response->body, "POST /tables?x=1 {}");
  EXPECT_EQ(response->headers.at("x-number"), "7");
  const ReceivedRequest received = server.received().at(0);
  EXPECT_EQ(received.headers.at("user-agent"), "penstock-test");
  EXPECT_EQ(received.headers.at("content-type"), "application/json");
}

TEST(HttpClient, UsesAConnectionAgain) {
  ScriptedHttpServer server(echo);
  HttpClient client({});
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(client.sendAndWait({.url = "http://" + server.address() + "/"}).ok());
  }
  for (const ReceivedRequest& request : server.received()) EXPECT_EQ(request.connection, 0);
}

TEST(HttpClient, ManyRequestsAtOnceAreEachAnsweredOnce) {
  constexpr int kRequests = 100;
  ScriptedHttpServer server(echo);
  HttpClient client({});
  std::vector<std::promise<std::string>> answers(kRequests);
  for (int index = 0; index < kRequests; ++index) {
    client.send({.url = "http://" + server.address() + "/" + std::to_string(index)},
                [&answers, index](absl::StatusOr<HttpResponse> response) {
                  answers[index].set_value(response.ok() ? response->body : "failed");
                });
  }
  for (int index = 0; index < kRequests; ++index) {
    EXPECT_EQ(answers[index].get_future().get(), "GET /" + std::to_string(index) + " ");
  }
}

TEST(HttpClient, AnErrorCodeIsAnAnswer) {
  ScriptedHttpServer server([](const ReceivedRequest&) { return ScriptedAnswer{.code = 503}; });
  HttpClient client({});
  const auto response = client.sendAndWait({.url = "http://" + server.address() + "/"});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->code, 503);
}

TEST(HttpClient, ASilentServerEndsTheRequestAtItsDeadline) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  ScriptedHttpServer server([released](const ReceivedRequest&) {
    released.wait();
    return ScriptedAnswer{};
  });
  HttpClient client({});
  const auto response =
      client.sendAndWait({.url = "http://" + server.address() + "/", .timeout = 50ms});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
  release.set_value();
}

TEST(HttpClient, ARefusedConnectionNamesTheHostAndNothingElseOfTheUrl) {
  std::string address;
  {
    const ScriptedHttpServer server(echo);
    address = server.address();
  }
  HttpClient client({});
  const auto response = client.sendAndWait({.url = "http://" + address + "/path?key=secret"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  const std::string message(base::messageOf(response.status()));
  EXPECT_THAT(message, HasSubstr(address));
  EXPECT_THAT(message, Not(HasSubstr("secret")));
}

TEST(HttpClient, AConnectionCutInsteadOfAnAnswerIsUnavailable) {
  ScriptedHttpServer server([](const ReceivedRequest&) { return ScriptedAnswer{.cut = true}; });
  HttpClient client({});
  const auto response = client.sendAndWait({.url = "http://" + server.address() + "/"});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
}

TEST(HttpClient, DestroyingTheClientCancelsWhatIsOpen) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  ScriptedHttpServer server([released](const ReceivedRequest&) {
    released.wait();
    return ScriptedAnswer{};
  });
  absl::Status status;
  {
    HttpClient client({});
    client.send({.url = "http://" + server.address() + "/"},
                [&status](absl::StatusOr<HttpResponse> response) { status = response.status(); });
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  release.set_value();
}

TEST(HttpClient, MayBeDestroyedFromInsideItsCallback) {
  ScriptedHttpServer server(echo);
  auto client = std::make_unique<HttpClient>(HttpClientOptions{});
  std::promise<void> destroyed;
  client->send({.url = "http://" + server.address() + "/"},
               [&client, &destroyed](const absl::StatusOr<HttpResponse>&) {
                 client.reset();
                 destroyed.set_value();
               });
  destroyed.get_future().get();
}

TEST(HttpClient, TrustsTheAuthorityOfTheGivenFileOnly) {  // BASE-046
  const TestCertificates certificates;
  ScriptedHttpServer server(echo, certificates.serverCertificatePem(), certificates.serverKeyPem());
  HttpClient trusting({.caFile = certificates.authorityFile()});
  const auto response = trusting.sendAndWait({.url = "https://" + server.address() + "/x"});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "GET /x ");

  HttpClient distrusting({});
  EXPECT_EQ(distrusting.sendAndWait({.url = "https://" + server.address() + "/x"}).status().code(),
            absl::StatusCode::kUnavailable);
}

class ProxyVariable {
 public:
  explicit ProxyVariable(const std::string& value) { ::setenv("http_proxy", value.c_str(), 1); }
  ~ProxyVariable() { ::unsetenv("http_proxy"); }
};

TEST(HttpClient, GoesThroughTheEnvironmentsProxyUnlessToldNotTo) {
  ScriptedHttpServer proxy([](const ReceivedRequest&) { return ScriptedAnswer{.body = "proxy"}; });
  ScriptedHttpServer server(echo);
  const ProxyVariable variable("http://" + proxy.address());
  HttpClient client({});
  const auto proxied = client.sendAndWait({.url = "http://service.invalid/x"});
  ASSERT_TRUE(proxied.ok()) << proxied.status();
  EXPECT_EQ(proxied->body, "proxy");
  EXPECT_EQ(proxy.received().at(0).target, "http://service.invalid/x");

  const auto direct =
      client.sendAndWait({.url = "http://" + server.address() + "/x", .withoutProxy = true});
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_EQ(direct->body, "GET /x ");
}

TEST(UrlEncode, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(urlEncode("aZ09-_.~"), "aZ09-_.~");
  EXPECT_EQ(urlEncode("a/b c:\xc3\xa9"), "a%2Fb%20c%3A%C3%A9");
}

}  // namespace
}  // namespace penstock::gcp
