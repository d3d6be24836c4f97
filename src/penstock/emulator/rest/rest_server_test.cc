#include "penstock/emulator/rest/rest_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <thread>

#include "penstock/emulator/testing/rest_server_fixture.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A plain socket, for requests that no client library would send.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawConnection() { ::close(socket_); }

  void send(std::string_view text) {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  /// What comes until `end` has come or the other side closes.
  std::string receiveUntil(std::string_view end) {
    std::string text;
    char buffer[4096];
    while (text.find(end) == std::string::npos) {
      const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int socket_;
};

TEST_F(RestServerTest, AnnouncesItselfInEveryAnswer) {
  for (const char* path : {"/penstock/health", "/bigquery/v2/projects", "/nowhere"}) {
    const Answer answer = get(path);
    EXPECT_NE(answer.headers.find("X-Penstock-Emulator"), answer.headers.end()) << path;
  }
  EXPECT_EQ(get("/penstock/health").body["status"], "ok");
}

TEST_F(RestServerTest, WordsErrorsAsTheServiceDoes) {
  const Answer missing = get("/bigquery/v2/projects/p/datasets/d");
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(
      missing.body,
      json::parse(
          R"({"error": {"code": 404, "message": "Not found: Dataset p:d", "status": "NOT_FOUND",
      "errors": [{"message": "Not found: Dataset p:d", "domain": "global", "reason": "notFound"}]}})"));

  makeDataset();
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables/t").body["error"]["message"],
            "Not found: Table p:d.t");
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/x/tables/t").body["error"]["message"],
            "Not found: Dataset p:x");
  ASSERT_EQ(makeTable({{{"name", "a"}, {"type", "STRING"}}}).code, 200);
  const Answer twice = makeTable({{{"name", "a"}, {"type", "STRING"}}});
  EXPECT_EQ(twice.code, 409);
  EXPECT_EQ(twice.body["error"]["errors"][0]["reason"], "duplicate");
  EXPECT_EQ(twice.body["error"]["message"], "Already Exists: Table p:d.t");
  EXPECT_EQ(twice.body["error"]["status"], "ALREADY_EXISTS");

  const Answer inUse = remove("/bigquery/v2/projects/p/datasets/d");
  EXPECT_EQ(inUse.code, 400);
  EXPECT_EQ(inUse.body["error"]["errors"][0]["reason"], "resourceInUse");

  const Answer unnamed = post("/bigquery/v2/projects/p/datasets", json::object());
  EXPECT_EQ(unnamed.code, 400);
  EXPECT_EQ(unnamed.body["error"]["errors"][0]["reason"], "required");

  EXPECT_EQ(get("/bigquery/v2/nonsense").body["error"]["errors"][0]["reason"], "notFound");
}

TEST_F(RestServerTest, SaysWhatIsNotSupportedYet) {
  for (const char* path : {"/bigquery/v2/projects/p/jobs", "/upload/bigquery/v2/projects/p/jobs",
                           "/bigquery/v2/projects/p/queries"}) {
    const Answer answer = post(path, json::object());
    EXPECT_EQ(answer.code, 501) << path;
    EXPECT_EQ(answer.body["error"]["status"], "UNIMPLEMENTED");
    EXPECT_THAT(answer.body["error"]["message"].get<std::string>(), HasSubstr("not supported yet"));
  }
  makeDataset();
  const Answer view =
      post("/bigquery/v2/projects/p/datasets/d/tables",
           {{"tableReference", {{"tableId", "v"}}}, {"view", {{"query", "SELECT 1"}}}});
  EXPECT_EQ(view.code, 501);
  EXPECT_THAT(view.body["error"]["message"].get<std::string>(),
              HasSubstr("A view is not supported yet"));
}

TEST_F(RestServerTest, TellsMethodsThatItHasNotFromPathsThatThereAreNot) {
  const std::string dataset = "/bigquery/v2/projects/p/datasets/d";
  EXPECT_EQ(errorOf(post(dataset + ":undelete", json::object()), 501),
            "notImplemented: datasets.undelete is not supported yet by the Penstock emulator");
  EXPECT_EQ(errorOf(post(dataset + "/tables/t:getIamPolicy", json::object()), 501),
            "notImplemented: tables.getIamPolicy is not supported yet by the Penstock emulator");
  EXPECT_EQ(errorOf(remove(dataset + "/routines/r"), 501),
            "notImplemented: routines.delete is not supported yet by the Penstock emulator");
  EXPECT_EQ(errorOf(get(dataset + "/tables/t/rowAccessPolicies/p"), 501),
            "notImplemented: rowAccessPolicies.get is not supported yet by the Penstock emulator");
  EXPECT_EQ(errorOf(remove(dataset + "/tables/t/data"), 404),
            "notFound: Not found: URL DELETE " + dataset + "/tables/t/data");
  EXPECT_EQ(errorOf(post(dataset + ":redo", json::object()), 404),
            "notFound: Not found: URL POST " + dataset + ":redo");
}

TEST_F(RestServerTest, RefusesBodiesThatAreNoObject) {
  for (const char* body : {"", "[1]", "{", "nonsense", "\xff\xfe{}"}) {
    const Answer answer =
        answerOf(client_->Post("/bigquery/v2/projects/p/datasets", body, "application/json"));
    EXPECT_EQ(answer.code, 400) << body;
    EXPECT_EQ(answer.body["error"]["errors"][0]["reason"], "parseError");
  }
  const std::string deep = R"({"datasetReference": {"datasetId": "d"}, "description": )" +
                           std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_THAT(answerOf(client_->Post("/projects/p/datasets", deep, "application/json")).text,
              HasSubstr("nested deeper than 100 levels"));
  // Members of the wrong kind are refused as well, not thrown over.
  EXPECT_EQ(post("/projects/p/datasets",
                 {{"datasetReference", {{"datasetId", "d"}}}, {"description", {1, 2}}})
                .code,
            400);
  EXPECT_EQ(post("/bigquery/v2/projects/p/datasets", {{"datasetReference", 5}}).code, 400);
  EXPECT_EQ(
      post("/bigquery/v2/projects/p/datasets", {{"datasetReference", {{"datasetId", {1}}}}}).code,
      400);
}

// What bq asks for before every command.
TEST_F(RestServerTest, DescribesItselfForDiscovery) {
  const Answer answer = get("/$discovery/rest?version=v2");
  ASSERT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body["servicePath"], "bigquery/v2/");
  EXPECT_EQ(answer.body["basePath"], "/bigquery/v2/");
  const std::string root = "http://127.0.0.1:" + std::to_string(server_->port()) + "/";
  EXPECT_EQ(answer.body["rootUrl"], root);
  EXPECT_EQ(answer.body["baseUrl"], root + "bigquery/v2/");
  const json& get = answer.body["resources"]["tables"]["methods"]["get"];
  EXPECT_EQ(get["path"], "projects/{+projectId}/datasets/{+datasetId}/tables/{+tableId}");
  EXPECT_EQ(get["parameterOrder"], json::parse(R"(["projectId", "datasetId", "tableId"])"));
  EXPECT_EQ(get["parameters"]["selectedFields"]["location"], "query");
  for (const auto& [resourceName, resource] : answer.body["resources"].items()) {
    for (const auto& [methodName, method] : resource["methods"].items()) {
      for (const char* member : {"request", "response"}) {
        if (!method.contains(member)) continue;
        EXPECT_TRUE(answer.body["schemas"].contains(method[member]["$ref"].get<std::string>()))
            << resourceName << "." << methodName;
      }
    }
  }
}

TEST_F(RestServerTest, EveryMethodOfItsMayHaveFaults) {
  const json document = get("/$discovery/rest?version=v2").body;
  size_t methods = 0;
  for (const auto& [name, resource] : document["resources"].items()) {
    for (const auto& [verb, method] : resource["methods"].items()) {
      const std::string id = method["id"];  // "bigquery.tables.get"
      FaultRule rule;
      rule.method = id.substr(id.find('.') + 1);
      FaultRules rules;
      EXPECT_TRUE(rules.add(rule).ok()) << id;
      ++methods;
    }
  }
  EXPECT_GT(methods, 10U);
}

TEST_F(RestServerTest, ReadsBodiesCompressedWithGzip) {
  const std::string body = R"({"datasetReference": {"datasetId": "zipped"}})";
  z_stream stream{};
  ASSERT_EQ(
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string zipped(body.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);

  const std::string path = "/bigquery/v2/projects/p/datasets";
  const Answer made =
      answerOf(client_->Post(path, {{"Content-Encoding", "gzip"}}, zipped, "application/json"));
  EXPECT_EQ(made.code, 200) << made.text;
  EXPECT_EQ(made.body["id"], "p:zipped");
  const Answer broken = answerOf(
      client_->Post(path, {{"Content-Encoding", "gzip"}}, "not gzip at all", "application/json"));
  EXPECT_EQ(broken.code, 400);
  EXPECT_TRUE(broken.body.contains("error"));
}

// Several clients send DELETE without a length, on a connection that stays open.
TEST_F(RestServerTest, AnswersADeleteWithoutALengthAtOnce) {
  makeDataset();
  RawConnection connection(server_->port());
  connection.send("DELETE /bigquery/v2/projects/p/datasets/d HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(connection.receiveUntil("\r\n\r\n"), HasSubstr("204"));
  // The connection is still in step.
  connection.send("GET /bigquery/v2/projects/p/datasets/d HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(connection.receiveUntil("NOT_FOUND"), HasSubstr("404"));
}

TEST_F(RestServerTest, ServesManyOpenConnectionsAtATime) {
  std::vector<std::unique_ptr<RawConnection>> connections;
  for (int i = 0; i < 40; ++i) {
    connections.push_back(std::make_unique<RawConnection>(server_->port()));
    connections.back()->send("GET /penstock/health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(connections.back()->receiveUntil("ok"), HasSubstr("200"));
  }
  // They hold their threads, and the server ends all the same.
  server_->stop();
}

TEST_F(RestServerTest, NamesThePortThatIsTaken) {
  const auto second = RestServer::start("127.0.0.1", server_->port(), {*catalog_, *rows_, faults_});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(base::messageOf(second.status())),
              HasSubstr("127.0.0.1:" + std::to_string(server_->port())));
  EXPECT_THAT(std::string(base::messageOf(second.status())), HasSubstr("in use"));
}

TEST_F(RestServerTest, FailsCallsByFaultRule) {
  makeDataset();
  const Answer added = post("/penstock/faults", {{"method", "datasets.get"},
                                                 {"resource", "datasets/d"},
                                                 {"nth", 2},
                                                 {"httpCode", 403},
                                                 {"reason", "rateLimitExceeded"},
                                                 {"message", "slow down"}});
  ASSERT_EQ(added.code, 200) << added.text;
  EXPECT_EQ(get("/projects/p/datasets/d").code, 200);
  EXPECT_EQ(get("/projects/p/datasets/other").code, 404);  // another resource is not counted
  const Answer struck = get("/projects/p/datasets/d");
  EXPECT_EQ(struck.code, 403);
  EXPECT_EQ(struck.body["error"]["errors"][0]["reason"], "rateLimitExceeded");
  EXPECT_EQ(struck.body["error"]["message"], "slow down");
  EXPECT_EQ(get("/projects/p/datasets/d").code, 200);
  EXPECT_THAT(get("/penstock/faults").text, HasSubstr("\"struck\""));
  EXPECT_EQ(remove("/penstock/faults").code, 200);
}

TEST_F(RestServerTest, CutsTheConnectionBeforeOrAfterTheCall) {
  FaultRule rule;
  rule.method = "datasets.insert";
  rule.action = FaultAction::kCutBefore;
  ASSERT_TRUE(faults_.add(rule).ok());
  const std::string body = R"({"datasetReference": {"datasetId": "d"}})";
  EXPECT_FALSE(client_->Post("/projects/p/datasets", body, "application/json"));
  EXPECT_EQ(get("/projects/p/datasets/d").code, 404);

  rule.action = FaultAction::kCutAfter;
  ASSERT_TRUE(faults_.add(rule).ok());
  EXPECT_FALSE(client_->Post("/projects/p/datasets", body, "application/json"));
  EXPECT_EQ(get("/projects/p/datasets/d").code, 200);
}

TEST_F(RestServerTest, LetsACallHangUntilTheServerStops) {
  FaultRule rule;
  rule.method = "projects.list";
  rule.action = FaultAction::kHang;
  ASSERT_TRUE(faults_.add(rule).ok());
  RawConnection hanging(server_->port());
  hanging.send("GET /bigquery/v2/projects HTTP/1.1\r\nHost: x\r\n\r\n");
  while (faults_.struck(1) == 0) std::this_thread::yield();
  EXPECT_EQ(get("/penstock/health").code, 200);  // others are served meanwhile
  server_->stop();
  EXPECT_EQ(hanging.receiveUntil("\r\n"), "");  // no answer came
}

}  // namespace
}  // namespace penstock::emulator
