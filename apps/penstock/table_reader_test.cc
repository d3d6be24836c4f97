#include "apps/penstock/table_reader.h"

#include <gmock/gmock.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <thread>

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

/// A web server on this machine and a reader that takes it for BigQuery.
class TableReaderTest : public ::testing::Test {
 protected:
  TableReaderTest() : port_(server_.bind_to_any_port("127.0.0.1")) {
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    options_.emulatorRestEndpoint = base::Endpoint{"127.0.0.1", static_cast<uint16_t>(port_)};
    rest_ = std::make_unique<gcp::RestClient>(
        gcp::RestEndpoint{.baseUrl = fmt::format("http://127.0.0.1:{}", port_), .emulator = true},
        std::make_shared<gcp::HttpClient>(gcp::HttpClientOptions{.userAgent = "test"}), nullptr);
  }
  ~TableReaderTest() override {
    rest_.reset();  // closes its connection, which the server would wait for
    server_.stop();
    thread_.join();
  }
  void answer(const std::string& path, int code, const std::string& body) {
    server_.Get(path, [code, body](const httplib::Request&, httplib::Response& response) {
      response.status = code;
      response.set_content(body, "application/json");
    });
  }
  TableReader reader() { return TableReader(*rest_, options_); }

  httplib::Server server_;
  int port_;
  std::thread thread_;
  bigquery::SinkOptions options_;
  std::unique_ptr<gcp::RestClient> rest_;
  const bigquery::TableName table_{"p", "d", "t"};
};

TEST_F(TableReaderTest, ReadsPageByPageUpToTheLimit) {
  int requests = 0;
  server_.Get("/bigquery/v2/projects/p/datasets/d/tables/t/data",
              [&requests](const httplib::Request& request, httplib::Response& response) {
                EXPECT_EQ(request.get_param_value("formatOptions.useInt64Timestamp"), "true");
                EXPECT_EQ(request.has_param("pageToken"), requests > 0);
                ++requests;
                response.set_content(
                    R"({"rows":[{"f":[{"v":"1"}]},{"f":[{"v":"2"}]}],"pageToken":"a b"})",
                    "application/json");
              });
  bigquery::TableSchema schema;
  schema.columns.push_back({.name = "i", .type = bigquery::ColumnType::kInt64});
  std::vector<std::string> rows;
  const absl::Status status =
      reader().readRows(table_, schema, 5,
                        [&rows](const nlohmann::ordered_json& row) { rows.push_back(row.dump()); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(requests, 3);
  EXPECT_THAT(rows, ::testing::ElementsAre(R"({"i":1})", R"({"i":2})", R"({"i":1})", R"({"i":2})",
                                           R"({"i":1})"));
}

TEST_F(TableReaderTest, NotFoundIsAnAnswerOnlyInBigQuerysWords) {
  answer("/bigquery/v2/projects/p/datasets/d/tables/t", 404,
         R"({"error":{"code":404,"message":"Not found","errors":[{"reason":"notFound"}]}})");
  const auto missing = reader().findTable(table_);
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_FALSE(missing->has_value());
  const auto elsewhere = reader().findTable({"p", "d", "other"});  // a web server's own 404
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_THAT(
      std::string(base::messageOf(elsewhere.status())),
      HasSubstr(fmt::format("--emulator-rest-endpoint 127.0.0.1:{} answered HTTP 404", port_)));
}

TEST_F(TableReaderTest, DescribesATable) {
  answer("/bigquery/v2/projects/p/datasets/d/tables/t", 200,
         R"({"numRows":"12","numBytes":"345","location":"EU",
             "schema":{"fields":[{"name":"i","type":"INTEGER"}]}})");
  const auto table = reader().findTable(table_);
  ASSERT_TRUE(table.ok() && table->has_value()) << table.status();
  EXPECT_EQ((*table)->rows, 12U);
  EXPECT_EQ((*table)->bytes, 345U);
  EXPECT_EQ((*table)->location, "EU");
  EXPECT_EQ((*table)->schema.columns.at(0).type, bigquery::ColumnType::kInt64);
}

TEST_F(TableReaderTest, ShowsWhatTheServiceSaid) {
  answer(
      "/bigquery/v2/projects/p/datasets/d", 403,
      R"({"error":{"code":403,"message":"no access for you","errors":[{"reason":"accessDenied"}]}})");
  const auto exists = reader().datasetExists(table_);
  EXPECT_TRUE(absl::IsPermissionDenied(exists.status()));
  EXPECT_THAT(std::string(base::messageOf(exists.status())), HasSubstr("no access for you"));
}

}  // namespace
}  // namespace penstock::command
