#include "apps/penstock/metrics_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <httplib.h>

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

int portOf(const MetricsServer& server) {
  const std::string url = server.url();
  return std::stoi(url.substr(url.rfind(':') + 1));
}

TEST(MetricsServer, AnswersEachScrapeAnew) {
  int scrapes = 0;
  const auto server =
      MetricsServer::start("127.0.0.1", 0, [&] { return fmt::format("n {}\n", ++scrapes); });
  ASSERT_TRUE(server.ok()) << server.status();
  httplib::Client client("127.0.0.1", portOf(**server));
  for (const char* expected : {"n 1\n", "n 2\n"}) {
    const auto answer = client.Get("/metrics");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, expected);
    EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  }
  EXPECT_EQ(client.Get("/other")->status, 404);
}

TEST(MetricsServer, RefusesAPortInUseNamingIt) {
  const auto first = MetricsServer::start("127.0.0.1", 0, [] { return ""; });
  ASSERT_TRUE(first.ok());
  const auto second = MetricsServer::start("127.0.0.1", portOf(**first), [] { return ""; });
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(base::messageOf(second.status())),
              HasSubstr(fmt::format("127.0.0.1:{}: Address already in use", portOf(**first))));
}

TEST(MetricsServer, EndsAtOnceWithoutAScrape) {
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(MetricsServer::start("127.0.0.1", 0, [] { return ""; }).ok());
  }
}

}  // namespace
}  // namespace penstock::command
