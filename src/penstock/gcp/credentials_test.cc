#include "penstock/gcp/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "penstock/gcp/testing/scripted_http_server.h"
#include "penstock/gcp/testing/temporary_file.h"
#include "penstock/gcp/testing/test_certificates.h"

namespace penstock::gcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReceivedRequest;
using testing::ScriptedAnswer;
using testing::ScriptedHttpServer;
using ::testing::StartsWith;
using testing::TemporaryFile;

constexpr char kSetting[] = "serviceAccountKeyFile";
constexpr char kVariable[] = "GOOGLE_APPLICATION_CREDENTIALS";

const testing::TestKeyPair& keyPair() {
  static const testing::TestKeyPair pair = testing::makeKeyPair();
  return pair;
}

json serviceAccount(const std::string& tokenUri) {
  return {{"type", "service_account"},
          {"client_email", "loader@project.iam.gserviceaccount.com"},
          {"private_key_id", "key-1"},
          {"private_key", keyPair().privatePem},
          {"token_uri", tokenUri}};
}

ScriptedAnswer tokenAnswer(const std::string& token) {
  return {.body = json{{"access_token", token}, {"expires_in", 3599}}.dump()};
}

absl::StatusOr<Authorization> fetchAndWait(TokenSource& source) {
  std::promise<absl::StatusOr<Authorization>> promise;
  source.fetch(
      [&promise](absl::StatusOr<Authorization> token) { promise.set_value(std::move(token)); });
  return promise.get_future().get();
}

std::map<std::string, std::string> formOf(const std::string& body) {
  std::map<std::string, std::string> form;
  std::istringstream fields(body);
  for (std::string field; std::getline(fields, field, '&');) {
    form[field.substr(0, field.find('='))] = field.substr(field.find('=') + 1);
  }
  return form;
}

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsContext context_{.http = std::make_shared<HttpClient>(HttpClientOptions{}),
                              .clock = &base::systemClock()};
  ScriptedAnswer answer_ = tokenAnswer("the-token");
  ScriptedHttpServer endpoint_{[this](const ReceivedRequest&) { return answer_; }};
  const std::string tokenUri_ = "http://" + endpoint_.address() + "/token";
};

TEST_F(CredentialsTest, AServiceAccountSignsAnAssertionForTheScopeCloudPlatform) {  // BASE-008
  const TemporaryFile file(serviceAccount(tokenUri_).dump());
  const auto source = serviceAccountCredentials(file.path(), kSetting, context_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_FALSE((*source)->current().has_value());
  const absl::StatusOr<Authorization> token = fetchAndWait(**source);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->bearer, "Bearer the-token");
  EXPECT_EQ((*source)->current()->bearer, "Bearer the-token");

  auto form = formOf(endpoint_.received().at(0).body);
  EXPECT_EQ(form["grant_type"], urlEncode("urn:ietf:params:oauth:grant-type:jwt-bearer"));
  const std::string assertion = form["assertion"];
  const size_t first = assertion.find('.');
  const size_t last = assertion.rfind('.');
  EXPECT_TRUE(testing::verifyRs256(keyPair().publicPem, assertion.substr(0, last),
                                   testing::decodeBase64Url(assertion.substr(last + 1))));
  const json header = json::parse(testing::decodeBase64Url(assertion.substr(0, first)));
  EXPECT_EQ(header, json({{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "key-1"}}));
  const json claims =
      json::parse(testing::decodeBase64Url(assertion.substr(first + 1, last - first - 1)));
  EXPECT_EQ(claims["iss"], "loader@project.iam.gserviceaccount.com");
  EXPECT_EQ(claims["aud"], tokenUri_);
  EXPECT_EQ(claims["scope"], "https://www.googleapis.com/auth/cloud-platform");
  EXPECT_EQ(claims["exp"].get<int64_t>() - claims["iat"].get<int64_t>(), 3600);
}

TEST_F(CredentialsTest, EveryUnusableKeyFileGivesTheSameErrorWhichShowsNothingOfIt) {  // BASE-009
  json noKey = serviceAccount(tokenUri_);
  noKey["private_key"] = "-----BEGIN PRIVATE KEY-----\nSECRETSECRET\n-----END PRIVATE KEY-----\n";
  json otherType = serviceAccount(tokenUri_);
  otherType["type"] = "authorized_user";
  json plaintextTokenUri = serviceAccount("http://example.com/token");
  json numberForText = serviceAccount(tokenUri_);
  numberForText["client_email"] = 7;
  std::vector<std::unique_ptr<TemporaryFile>> files;
  for (const std::string& content :
       {std::string(), std::string("SECRET"), std::string("{\"type\":\"SECRET"), std::string("[]"),
        noKey.dump(), otherType.dump(), plaintextTokenUri.dump(), numberForText.dump(),
        std::string(2 << 20, ' ')}) {
    files.push_back(std::make_unique<TemporaryFile>(content));
  }
  std::vector<std::string> paths = {"/no/such/file", "/tmp"};
  for (const auto& file : files) paths.push_back(file->path());
  for (const std::string& path : paths) {
    const absl::Status status = serviceAccountCredentials(path, kSetting, context_).status();
    EXPECT_EQ(status,
              absl::InvalidArgumentError(
                  "serviceAccountKeyFile does not name a readable key file of a service account "
                  "(JSON of type \"service_account\" with a private key)"))
        << path;
  }
}

TEST_F(CredentialsTest, ARefusedAssertionSaysWhatTheEndpointSaid) {
  answer_ = {.code = 400,
             .body = R"({"error":"invalid_grant","error_description":"Invalid JWT Signature."})"};
  const TemporaryFile file(serviceAccount(tokenUri_).dump());
  const auto source = serviceAccountCredentials(file.path(), kSetting, context_);
  const absl::Status status = fetchAndWait(**source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  const std::string message(base::messageOf(status));
  EXPECT_THAT(message, HasSubstr("invalid_grant: Invalid JWT Signature."));
  EXPECT_THAT(message, HasSubstr(kSetting));
  EXPECT_THAT(message, Not(HasSubstr(file.path())));
}

TEST_F(CredentialsTest, ATokenEndpointInTroubleIsUnavailable) {
  answer_ = {.code = 503};
  const TemporaryFile file(serviceAccount(tokenUri_).dump());
  const auto source = serviceAccountCredentials(file.path(), kSetting, context_);
  EXPECT_EQ(fetchAndWait(**source).status().code(), absl::StatusCode::kUnavailable);
  answer_ = {.code = 200, .body = "{}"};
  EXPECT_EQ(fetchAndWait(**source).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(CredentialsTest, DefaultCredentialsComeFirstFromTheFileOfTheVariable) {  // BASE-045
  const TemporaryFile file(serviceAccount(tokenUri_).dump());
  const auto source = applicationDefaultCredentials(
      {.applicationCredentials = file.path(), .quotaProject = "billed"}, context_);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto token = fetchAndWait(**source);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->bearer, "Bearer the-token");
  EXPECT_EQ(token->quotaProject, "billed");
}

TEST_F(CredentialsTest, AFileOfTheVariableThatCannotBeUsedIsAnErrorNotPassedOver) {  // BASE-009
  const TemporaryFile file("SECRET");
  for (const std::string& path : {file.path(), std::string("/no/such/file")}) {
    const absl::Status status =
        applicationDefaultCredentials({.applicationCredentials = path}, context_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string message(base::messageOf(status));
    EXPECT_THAT(message, StartsWith(kVariable));
    EXPECT_THAT(message, Not(HasSubstr(path)));
    EXPECT_THAT(message, Not(HasSubstr("SECRET")));
  }
}

TEST_F(CredentialsTest, OtherKindsAreNotSupportedByName) {  // BASE-045
  const TemporaryFile file(R"({"type": "external_account", "audience": "SECRET"})");
  const absl::Status status =
      applicationDefaultCredentials({.applicationCredentials = file.path()}, context_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr("external_account"));
  const TemporaryFile unknown(R"({"type": "SECRET"})");
  EXPECT_EQ(applicationDefaultCredentials({.applicationCredentials = unknown.path()}, context_)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CredentialsTest, ThenFromGcloudsWellKnownFileOfAUser) {  // BASE-045
  const std::filesystem::path home =
      std::filesystem::temp_directory_path() / ("penstock-home-" + std::to_string(::getpid()));
  std::filesystem::create_directories(home / ".config/gcloud");
  std::ofstream(home / ".config/gcloud/application_default_credentials.json") << json{
      {"type", "authorized_user"},   {"client_id", "id"},      {"client_secret", "se/cret"},
      {"refresh_token", "re+fresh"}, {"token_uri", tokenUri_}, {"quota_project_id", "billed"}};
  const auto source = applicationDefaultCredentials({.home = home.string()}, context_);
  std::filesystem::remove_all(home);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto token = fetchAndWait(**source);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->bearer, "Bearer the-token");
  EXPECT_EQ(token->quotaProject, "billed");
  auto form = formOf(endpoint_.received().at(0).body);
  EXPECT_EQ(form["grant_type"], "refresh_token");
  EXPECT_EQ(form["client_secret"], "se%2Fcret");
  EXPECT_EQ(form["refresh_token"], "re%2Bfresh");
}

TEST_F(CredentialsTest, ThenFromTheMetadataServer) {  // BASE-045
  const auto source =
      applicationDefaultCredentials({.metadataHost = endpoint_.address()}, context_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(endpoint_.received().empty()) << "asked at first use only";
  const auto token = fetchAndWait(**source);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->bearer, "Bearer the-token");
  const ReceivedRequest request = endpoint_.received().at(0);
  EXPECT_EQ(request.headers.at("metadata-flavor"), "Google");
  EXPECT_THAT(request.target,
              StartsWith("/computeMetadata/v1/instance/service-accounts/default/token"));
}

TEST_F(CredentialsTest, WithoutAnyCredentialsTheErrorSaysWhereTheyWereLookedFor) {
  std::string nobody;
  {
    const ScriptedHttpServer gone([](const ReceivedRequest&) { return ScriptedAnswer{}; });
    nobody = gone.address();
  }
  const auto source = applicationDefaultCredentials({.metadataHost = nobody}, context_);
  ASSERT_TRUE(source.ok());
  const absl::Status status = fetchAndWait(**source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr(kVariable));
  EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr("gcloud auth"));
}

TEST(TokenUri, IsUsedOverTlsOrOnThisMachineOnly) {
  const testing::TestKeyPair& pair = keyPair();
  static_cast<void>(pair);
  for (const char* uri : {"http://example.com/t", "http://127.0.0.1:1@example.com/", "ftp://x"}) {
    const TemporaryFile file(serviceAccount(uri).dump());
    CredentialsContext context{.http = std::make_shared<HttpClient>(HttpClientOptions{}),
                               .clock = &base::systemClock()};
    EXPECT_FALSE(serviceAccountCredentials(file.path(), kSetting, context).ok()) << uri;
  }
}

}  // namespace
}  // namespace penstock::gcp
