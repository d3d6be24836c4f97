#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/rest/rest_server.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {

/// A REST server over an empty catalog, and a client.
class RestServerTest : public ::testing::Test {
 protected:
  RestServerTest() {
    catalog_ = Catalog::open(directory_.path(), base::systemClock()).value();
    rows_ = RowStore::open(directory_.path() + "/rows").value();
    server_ = RestServer::start("127.0.0.1", 0, {*catalog_, *rows_, faults_}).value();
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
    client_->set_keep_alive(true);
    client_->set_tcp_nodelay(true);
    client_->set_read_timeout(std::chrono::seconds(10));
  }

  struct Answer {
    int code = 0;
    nlohmann::json body;
    std::string text;
    httplib::Headers headers;
  };

  static Answer answerOf(const httplib::Result& result) {
    Answer answer;
    if (!result) {
      ADD_FAILURE() << "no answer: " << httplib::to_string(result.error());
      return answer;
    }
    answer.code = result->status;
    answer.text = result->body;
    answer.body = nlohmann::json::parse(result->body, nullptr, false);
    answer.headers = result->headers;
    return answer;
  }

  Answer get(const std::string& path) { return answerOf(client_->Get(path)); }
  Answer remove(const std::string& path) { return answerOf(client_->Delete(path)); }
  Answer post(const std::string& path, const nlohmann::json& body) {
    return answerOf(client_->Post(path, body.dump(), "application/json"));
  }

  Answer patch(const std::string& path, const nlohmann::json& body,
               const std::string& ifMatch = "") {
    return answerOf(client_->Patch(path, conditionOf(ifMatch), body.dump(), "application/json"));
  }
  Answer put(const std::string& path, const nlohmann::json& body, const std::string& ifMatch = "") {
    return answerOf(client_->Put(path, conditionOf(ifMatch), body.dump(), "application/json"));
  }

  static httplib::Headers conditionOf(const std::string& ifMatch) {
    return ifMatch.empty() ? httplib::Headers() : httplib::Headers{{"If-Match", ifMatch}};
  }

  /// The reason and the message of an error, which is checked to have the service's envelope.
  static std::string errorOf(const Answer& answer, int code) {
    EXPECT_EQ(answer.code, code) << answer.text;
    if (!answer.body.is_object() || !answer.body.contains("error")) return answer.text;
    const nlohmann::json& error = answer.body["error"];
    EXPECT_EQ(error["code"], code);
    EXPECT_TRUE(error["status"].is_string());
    EXPECT_EQ(error["errors"].size(), 1U);
    EXPECT_EQ(error["errors"][0]["message"], error["message"]);
    EXPECT_EQ(error["errors"][0]["domain"], "global");
    return error["errors"][0]["reason"].get<std::string>() + ": " +
           error["message"].get<std::string>();
  }

  void makeDataset() {
    ASSERT_EQ(
        post("/bigquery/v2/projects/p/datasets", {{"datasetReference", {{"datasetId", "d"}}}}).code,
        200);
  }

  Answer makeTable(const nlohmann::json& fields, nlohmann::json rest = nlohmann::json::object()) {
    rest["tableReference"] = {{"projectId", "p"}, {"datasetId", "d"}, {"tableId", "t"}};
    rest["schema"] = {{"fields", fields}};
    return post("/bigquery/v2/projects/p/datasets/d/tables", rest);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<RowStore> rows_;
  FaultRules faults_;
  std::unique_ptr<RestServer> server_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace penstock::emulator
