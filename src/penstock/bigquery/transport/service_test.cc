#include "penstock/bigquery/transport/service.h"

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>

#include "penstock/bigquery/transport/testing/scripted_write_service.h"
#include "penstock/gcp/rest_client.h"
#include "penstock/gcp/testing/scripted_http_server.h"
#include "penstock/gcp/testing/temporary_file.h"
#include "penstock/gcp/testing/test_certificates.h"

namespace penstock::bigquery {
namespace {

using gcp::testing::ReceivedRequest;
using gcp::testing::ScriptedAnswer;
using gcp::testing::ScriptedHttpServer;
using gcp::testing::TemporaryFile;
using gcp::testing::TestCertificates;
using nlohmann::json;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using ::testing::HasSubstr;
using testing::ScriptedWriteService;

constexpr char kStream[] = "projects/p/datasets/d/tables/t/streams/_default";
const TableName kTable{"p", "d", "t"};

base::Endpoint localEndpoint(int port) { return {"127.0.0.1", static_cast<uint16_t>(port)}; }

absl::StatusOr<WriteStreamInfo> getWriteStream(TableAdmin& admin, bool fullView = false,
                                               base::Duration timeout = 20s) {
  std::promise<absl::StatusOr<WriteStreamInfo>> promise;
  admin.getWriteStream(
      kStream, fullView, timeout, /*failFast=*/true,
      [&promise](absl::StatusOr<WriteStreamInfo> info) { promise.set_value(std::move(info)); });
  return promise.get_future().get();
}

std::pair<AdminError, TableInfo> getTable(TableAdmin& admin) {
  std::promise<std::pair<AdminError, TableInfo>> promise;
  admin.getTable(kTable, 20s, [&promise](AdminError error, TableInfo info) {
    promise.set_value({std::move(error), std::move(info)});
  });
  return promise.get_future().get();
}

AdminError createTable(TableAdmin& admin) {
  TableSchema schema;
  schema.columns.push_back({.name = "x", .type = ColumnType::kString});
  std::promise<AdminError> promise;
  admin.createTable(kTable, schema, {},
                    [&promise](AdminError error) { promise.set_value(std::move(error)); });
  return promise.get_future().get();
}

/// What a call ended with.
class EndOfCall final : public AppendCallEvents {
 public:
  void onMessage(AppendResponse) override {}
  void onWriteDone(bool) override {}
  void onDone(absl::Status status, StorageErrorCode) override { end_.set_value(status); }
  absl::Status wait() { return end_.get_future().get(); }

 private:
  std::promise<absl::Status> end_;
};

/// A value that the service's threads leave for the test.
template <typename Value>
class Left {
 public:
  void set(Value value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_ = std::move(value);
  }
  Value get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  Value value_{};
};

std::string metadataOf(const grpc::ServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  return found == context.client_metadata().end()
             ? "none"
             : std::string(found->second.data(), found->second.size());
}

std::string serviceAccountFile(const std::string& tokenUri) {
  return json{{"type", "service_account"},
              {"client_email", "loader@p.iam.gserviceaccount.com"},
              {"private_key", gcp::testing::makeKeyPair().privatePem},
              {"token_uri", tokenUri}}
      .dump();
}

/// An emulator: gRPC and REST in the clear.
class EmulatedServiceTest : public ::testing::Test {
 protected:
  ~EmulatedServiceTest() override { write_.stop(); }

  std::shared_ptr<Service> connect() {
    write_.start();
    // A leftover credentials variable must not matter.
    auto service = Service::connect({.emulatorEndpoint = localEndpoint(write_.port()),
                                     .emulatorRestEndpoint = localEndpoint(rest_.port())},
                                    {.applicationCredentials = "/no/such/file"});
    EXPECT_TRUE(service.ok()) << service.status();
    return service.ok() ? *service : nullptr;
  }

  Left<std::string> seen_;
  ScriptedWriteService write_;
  ScriptedAnswer answer_;
  ScriptedHttpServer rest_{[this](const ReceivedRequest&) { return answer_; }};
};

TEST_F(EmulatedServiceTest, AsksForAStreamWithoutCredentials) {  // BASE-007, BQW-192
  write_.onGetWriteStream = [this](grpc::ServerContext& context,
                                   const ScriptedWriteService::GetWriteStreamQuery& query,
                                   ScriptedWriteService::WriteStream& stream) {
    seen_.set(metadataOf(context, "authorization") + " " +
              metadataOf(context, "x-goog-request-params"));
    stream.set_name(query.name());
    stream.set_location("EU");
    return grpc::Status::OK;
  };
  const auto service = connect();
  EXPECT_TRUE(service->isEmulator());
  const auto info = getWriteStream(*service->tableAdmin());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name, kStream);
  EXPECT_EQ(info->location, "EU");
  EXPECT_FALSE(info->schema.has_value());
  EXPECT_FALSE(info->announcesPenstock);
  EXPECT_EQ(seen_.get(), "none name=projects%2Fp%2Fdatasets%2Fd%2Ftables%2Ft%2Fstreams%2F_default");
}

TEST_F(EmulatedServiceTest, TheFullViewBringsTheSchemaAndOurEmulatorAnnouncesItself) {
  write_.onGetWriteStream = [](grpc::ServerContext& context,
                               const ScriptedWriteService::GetWriteStreamQuery& query,
                               ScriptedWriteService::WriteStream& stream) {
    context.AddInitialMetadata("x-penstock-emulator", "0.1.0");
    if (query.view() == google::cloud::bigquery::storage::v1::FULL) {
      auto* field = stream.mutable_table_schema()->add_fields();
      field->set_name("x");
      field->set_type(google::cloud::bigquery::storage::v1::TableFieldSchema::STRING);
    }
    return grpc::Status::OK;
  };
  const auto service = connect();
  const auto info = getWriteStream(*service->tableAdmin(), /*fullView=*/true);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_TRUE(info->announcesPenstock);   // BQW-193
  ASSERT_TRUE(info->schema.has_value());  // BQW-166
  EXPECT_EQ(info->schema->columns.at(0).name, "x");
}

TEST_F(EmulatedServiceTest, AStreamThatIsNotThereKeepsTheServicesCodeAndWords) {
  write_.onGetWriteStream = [](grpc::ServerContext&,
                               const ScriptedWriteService::GetWriteStreamQuery&,
                               ScriptedWriteService::WriteStream&) {
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "it may not exist");
  };
  const auto service = connect();
  EXPECT_EQ(getWriteStream(*service->tableAdmin()).status(),
            absl::PermissionDeniedError("it may not exist"));
}

TEST_F(EmulatedServiceTest, AStreamRequestEndsAtItsDeadline) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  write_.onGetWriteStream = [released](grpc::ServerContext&,
                                       const ScriptedWriteService::GetWriteStreamQuery&,
                                       ScriptedWriteService::WriteStream&) {
    released.wait();
    return grpc::Status::OK;
  };
  const auto service = connect();
  const auto info = getWriteStream(*service->tableAdmin(), false, 100ms);
  EXPECT_EQ(info.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(base::messageOf(info.status())), HasSubstr(write_.address()));
  release.set_value();
}

TEST_F(EmulatedServiceTest, ARefusedConnectionFailsAtOnceAndNamesTheAddress) {
  const auto service = connect();
  write_.stop();
  const auto info = getWriteStream(*service->tableAdmin());
  EXPECT_EQ(info.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(base::messageOf(info.status())), HasSubstr(write_.address()));
}

/// Names a proxy that nobody serves, for every scheme.
class DeadProxy {
 public:
  DeadProxy() {
    for (const char* name : kNames) ::setenv(name, "http://127.0.0.1:1", 1);
  }
  ~DeadProxy() {
    for (const char* name : kNames) ::unsetenv(name);
  }

 private:
  static constexpr const char* kNames[] = {"http_proxy", "https_proxy", "grpc_proxy"};
};

TEST_F(EmulatedServiceTest, IsReachedPastTheEnvironmentsProxy) {
  const DeadProxy proxy;
  write_.onGetWriteStream = [](grpc::ServerContext&,
                               const ScriptedWriteService::GetWriteStreamQuery&,
                               ScriptedWriteService::WriteStream&) { return grpc::Status::OK; };
  answer_ = {.body = "{}"};
  const auto service = connect();
  EXPECT_TRUE(getWriteStream(*service->tableAdmin()).ok());
  EXPECT_TRUE(getTable(*service->tableAdmin()).first.status.ok());
}

TEST_F(EmulatedServiceTest, GetsATableOverRest) {
  answer_ = {.body = R"({"etag": "e", "numRows": "3",
                         "schema": {"fields": [{"name": "x", "type": "STRING"}]}})"};
  const auto service = connect();
  const auto [error, info] = getTable(*service->tableAdmin());
  EXPECT_TRUE(error.status.ok()) << error.status;
  EXPECT_EQ(info.numRows, 3);
  EXPECT_EQ(info.schema.columns.at(0).name, "x");
  EXPECT_EQ(rest_.received().at(0).target, "/bigquery/v2/projects/p/datasets/d/tables/t");
}

TEST_F(EmulatedServiceTest, CreatesATableOverRestAndReportsARefusalWithItsReason) {
  const auto service = connect();
  EXPECT_TRUE(createTable(*service->tableAdmin()).status.ok());
  const ReceivedRequest request = rest_.received().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/bigquery/v2/projects/p/datasets/d/tables");
  EXPECT_EQ(json::parse(request.body)["tableReference"]["tableId"], "t");

  answer_ = {.code = 409, .body = R"({"error": {"message": "Already Exists", "errors": [{"reason":
                        "duplicate"}]}})"};
  const AdminError error = createTable(*service->tableAdmin());  // BQW-152
  EXPECT_EQ(error.httpCode, 409);
  EXPECT_EQ(error.reason, "duplicate");
  EXPECT_EQ(error.status,
            absl::AlreadyExistsError("tables.insert of p.d.t: Already Exists (duplicate)"));
}

TEST_F(EmulatedServiceTest, ChangesTheColumnsUnderTheEtagThatWasRead) {  // BQW-160
  const auto service = connect();
  const auto update = [&](const std::string& etag) {
    std::promise<AdminError> promise;
    service->tableAdmin()->updateSchema(
        kTable, etag, R"({"fields":[]})",
        [&promise](AdminError error) { promise.set_value(std::move(error)); });
    return promise.get_future().get();
  };
  EXPECT_TRUE(update("\"e1\"").status.ok());
  const ReceivedRequest request = rest_.received().at(0);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/bigquery/v2/projects/p/datasets/d/tables/t");
  EXPECT_EQ(request.headers.at("if-match"), "\"e1\"");
  EXPECT_EQ(request.body, R"({"schema":{"fields":[]}})");

  answer_ = {.code = 412, .body = R"({"error": {"message": "Precondition Failed", "errors":
                        [{"reason": "conditionNotMet"}]}})"};
  const AdminError error = update("");
  EXPECT_FALSE(rest_.received().at(1).headers.contains("if-match"));
  EXPECT_EQ(error.httpCode, 412);
  EXPECT_EQ(error.reason, "conditionNotMet");
  EXPECT_THAT(std::string(base::messageOf(error.status)), HasSubstr("tables.patch of"));
}

/// The real service's way: TLS with a test authority, and a token endpoint.
class TlsServiceTest : public ::testing::Test {
 protected:
  TlsServiceTest() {
    write_.onGetWriteStream = [this](grpc::ServerContext& context,
                                     const ScriptedWriteService::GetWriteStreamQuery&,
                                     ScriptedWriteService::WriteStream&) {
      seen_.set(metadataOf(context, "authorization"));
      return grpc::Status::OK;
    };
    write_.onAppendRows = [this](grpc::ServerContext& context,
                                 ScriptedWriteService::AppendStream&) {
      seen_.set(metadataOf(context, "authorization"));
      return grpc::Status::OK;
    };
    grpc::SslServerCredentialsOptions tls;
    tls.pem_key_cert_pairs.push_back(
        {certificates_.serverKeyPem(), certificates_.serverCertificatePem()});
    write_.start(grpc::SslServerCredentials(tls));
  }
  ~TlsServiceTest() override { write_.stop(); }

  [[nodiscard]] ServiceOptions options() const {
    return {.serviceAccountKeyFile = keyFile_.path(),
            .serviceEndpoint = localEndpoint(write_.port()),
            .serviceRestEndpoint = localEndpoint(rest_.port()),
            .caFile = certificates_.authorityFile()};
  }

  const TestCertificates certificates_;
  Left<std::string> seen_;
  ScriptedWriteService write_;
  ScriptedHttpServer rest_{[](const ReceivedRequest&) { return ScriptedAnswer{.body = "{}"}; },
                           certificates_.serverCertificatePem(), certificates_.serverKeyPem()};
  ScriptedAnswer token_{.body = R"({"access_token": "the-token", "expires_in": 3600})"};
  ScriptedHttpServer tokens_{[this](const ReceivedRequest&) { return token_; }};
  const TemporaryFile keyFile_{serviceAccountFile("http://" + tokens_.address() + "/token")};
};

TEST_F(TlsServiceTest, OneTokenServesGrpcAndRest) {  // BASE-045, BASE-046, BQW-190
  const auto service = Service::connect(options());
  ASSERT_TRUE(service.ok()) << service.status();
  EXPECT_FALSE((*service)->isEmulator());
  const auto info = getWriteStream(*(*service)->tableAdmin());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(seen_.get(), "Bearer the-token");
  seen_.set("");
  EXPECT_TRUE(getTable(*(*service)->tableAdmin()).first.status.ok());
  EXPECT_EQ(rest_.received().at(0).headers.at("authorization"), "Bearer the-token");

  const auto events = std::make_shared<EndOfCall>();
  const auto call = (*service)->appendCalls()->create({}, events);
  call->start();
  EXPECT_TRUE(events->wait().ok());
  EXPECT_EQ(seen_.get(), "Bearer the-token");
  EXPECT_EQ(tokens_.received().size(), 1u);
}

TEST_F(TlsServiceTest, AnAppendCallFetchesItsTokenFirst) {
  const auto service = Service::connect(options());
  ASSERT_TRUE(service.ok()) << service.status();
  const auto events = std::make_shared<EndOfCall>();
  const auto call = (*service)->appendCalls()->create({}, events);
  call->start();
  EXPECT_TRUE(events->wait().ok());
  EXPECT_EQ(seen_.get(), "Bearer the-token");
}

TEST_F(TlsServiceTest, ARefusedTokenEndsEveryKindOfCallAsUnauthenticated) {
  token_ = {.code = 401, .body = R"({"error": "invalid_grant"})"};
  const auto service = Service::connect(options());
  ASSERT_TRUE(service.ok()) << service.status();
  EXPECT_EQ(getWriteStream(*(*service)->tableAdmin()).status().code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(getTable(*(*service)->tableAdmin()).first.status.code(),
            absl::StatusCode::kUnauthenticated);
  const auto events = std::make_shared<EndOfCall>();
  const auto call = (*service)->appendCalls()->create({}, events);
  call->start();
  EXPECT_EQ(events->wait().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(rest_.received().empty());
}

TEST_F(TlsServiceTest, WithoutTheAuthorityNothingIsSent) {
  ServiceOptions distrusting = options();
  distrusting.caFile.reset();
  const auto service = Service::connect(distrusting);
  ASSERT_TRUE(service.ok()) << service.status();
  EXPECT_EQ(getWriteStream(*(*service)->tableAdmin()).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(getTable(*(*service)->tableAdmin()).first.status.code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(rest_.received().empty());
}

TEST(ServiceOptions, AKeyFileIsRefusedTogetherWithAnEmulator) {
  for (const bool grpc : {false, true}) {
    ServiceOptions options{.serviceAccountKeyFile = "/no/such/file"};
    (grpc ? options.emulatorEndpoint : options.emulatorRestEndpoint) = localEndpoint(1);
    const absl::Status status = Service::connect(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr("emulator"));
  }
}

TEST(ServiceOptions, ErrorsOfFilesUseTheCallersNameForTheSetting) {  // BASE-009
  const absl::Status key = Service::connect({.serviceAccountKeyFile = "/no/such/file",
                                             .keyFileSetting = "--service-account-key-file"})
                               .status();
  EXPECT_THAT(std::string(base::messageOf(key)),
              ::testing::StartsWith("--service-account-key-file "));
  const absl::Status ca =
      Service::connect({.caFile = "/no/such/file", .caFileSetting = "--ca-file"}).status();
  EXPECT_EQ(ca.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(base::messageOf(ca)), ::testing::StartsWith("--ca-file "));
}

TEST(ServiceOptions, WithOneEmulatorEndpointTheOtherApiIsStillTheRealService) {  // BQW-192
  const gcp::Environment nothing;
  const auto service = Service::connect({.emulatorEndpoint = localEndpoint(1)}, nothing);
  ASSERT_TRUE(service.ok()) << service.status();
  EXPECT_EQ((*service)->rest()->endpoint().baseUrl, "https://bigquery.googleapis.com");
  EXPECT_FALSE((*service)->rest()->endpoint().emulator);
  const auto bad = Service::connect({.emulatorEndpoint = localEndpoint(1)},
                                    {.applicationCredentials = "/no/such/file"});
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument)
      << "the real service needs credentials";
}

}  // namespace
}  // namespace penstock::bigquery
