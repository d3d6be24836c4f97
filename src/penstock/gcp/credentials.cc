#include "penstock/gcp/credentials.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "penstock/gcp/caching_token_source.h"
#include "penstock/gcp/service_account_key.h"

namespace penstock::gcp {
namespace {

using Json = nlohmann::json;

constexpr char kScope[] = "https://www.googleapis.com/auth/cloud-platform";
constexpr char kUserTokenUri[] = "https://oauth2.googleapis.com/token";
constexpr char kDefaultMetadataHost[] = "metadata.google.internal";
constexpr char kWellKnownFile[] = "gcloud's application-default credentials";
constexpr std::streamsize kLargestFile = 1 << 20;
constexpr base::Duration kTokenTimeout = std::chrono::seconds(15);
constexpr base::Duration kMetadataConnectTimeout = std::chrono::seconds(3);

std::optional<std::string> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content(static_cast<size_t>(kLargestFile) + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad() || file.gcount() == 0 || file.gcount() > kLargestFile) return std::nullopt;
  content.resize(static_cast<size_t>(file.gcount()));
  return content;
}

bool exists(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0;
}

absl::Status unusableKeyFile(std::string_view setting) {
  return base::invalidArgument(
      "{} does not name a readable key file of a service account (JSON of type "
      "\"service_account\" with a private key)",
      setting);
}

absl::Status unusableCredentialsFile(std::string_view setting) {
  return base::invalidArgument(
      "{}: not a readable credentials file (JSON of type \"service_account\" or "
      "\"authorized_user\")",
      setting);
}

std::string stringOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// What an OAuth token endpoint or the metadata server answered, as a token. `what` begins every
/// error.
absl::StatusOr<AccessToken> readToken(const absl::StatusOr<HttpResponse>& response,
                                      std::string_view what) {
  if (!response.ok()) return base::withContext(response.status(), what);
  const Json json = Json::parse(response->body, nullptr, /*allow_exceptions=*/false);
  if (response->code == 200) {
    AccessToken token;
    if (json.is_object()) token.value = stringOf(json, "access_token");
    if (token.value.empty()) {
      return base::makeStatus(absl::StatusCode::kUnavailable, "{}: the answer holds no token",
                              what);
    }
    const auto lifetime = json.find("expires_in");
    constexpr int64_t kDay = 24 * 3600;
    token.lifetime =
        std::chrono::seconds(lifetime != json.end() && lifetime->is_number()
                                 ? std::clamp<int64_t>(lifetime->get<int64_t>(), 0, kDay)
                                 : 3600);
    return token;
  }
  const bool refused = response->code >= 400 && response->code < 500 && response->code != 429 &&
                       response->code != 408;
  std::string reason;
  if (json.is_object()) {
    reason = stringOf(json, "error");
    const std::string description = stringOf(json, "error_description");
    if (!description.empty()) reason += (reason.empty() ? "" : ": ") + description;
  }
  return base::makeStatus(
      refused ? absl::StatusCode::kUnauthenticated : absl::StatusCode::kUnavailable,
      "{}: HTTP {}{}{}", what, response->code, reason.empty() ? "" : ", ", reason);
}

HttpRequest tokenRequest(std::string url, std::string form) {
  HttpRequest request;
  request.method = "POST";
  request.url = std::move(url);
  request.headers = {"Content-Type: application/x-www-form-urlencoded"};
  request.body = std::move(form);
  request.timeout = kTokenTimeout;
  return request;
}

class ServiceAccountFetcher final : public TokenFetcher {
 public:
  ServiceAccountFetcher(ServiceAccountKey key, std::string_view setting,
                        const CredentialsContext& context)
      : key_(std::move(key)),
        what_(fmt::format("no access token for the service account of {}", setting)),
        http_(context.http),
        clock_(*context.clock) {}

  void fetchToken(Callback callback) override {
    const absl::StatusOr<std::string> assertion = key_.signAssertion(kScope, clock_.wallNow());
    if (!assertion.ok()) {
      http_->run([callback = std::move(callback),
                  status = base::withContext(assertion.status(), what_)] { callback(status); });
      return;
    }
    const std::string form =
        fmt::format("grant_type={}&assertion={}",
                    urlEncode("urn:ietf:params:oauth:grant-type:jwt-bearer"), *assertion);
    http_->send(
        tokenRequest(key_.tokenUri(), form),
        [what = what_, callback = std::move(callback)](
            const absl::StatusOr<HttpResponse>& response) { callback(readToken(response, what)); });
  }

 private:
  const ServiceAccountKey key_;
  const std::string what_;
  const std::shared_ptr<HttpClient> http_;
  base::Clock& clock_;
};

class AuthorizedUserFetcher final : public TokenFetcher {
 public:
  AuthorizedUserFetcher(std::string form, std::string tokenUri, std::string_view setting,
                        std::shared_ptr<HttpClient> http)
      : form_(std::move(form)),
        tokenUri_(std::move(tokenUri)),
        what_(fmt::format("no access token for the user of {} (`gcloud auth application-default "
                          "login` renews it)",
                          setting)),
        http_(std::move(http)) {}

  void fetchToken(Callback callback) override {
    http_->send(tokenRequest(tokenUri_, form_), [what = what_, callback = std::move(callback)](
                                                    const absl::StatusOr<HttpResponse>& response) {
      callback(readToken(response, what));
    });
  }

 private:
  const std::string form_;
  const std::string tokenUri_;
  const std::string what_;
  const std::shared_ptr<HttpClient> http_;
};

class MetadataFetcher final : public TokenFetcher {
 public:
  MetadataFetcher(const std::string& host, std::shared_ptr<HttpClient> http)
      : url_(fmt::format("http://{}/computeMetadata/v1/instance/service-accounts/default/token"
                         "?scopes={}",
                         host, urlEncode(kScope))),
        http_(std::move(http)) {}

  void fetchToken(Callback callback) override {
    HttpRequest request;
    request.url = url_;
    request.headers = {"Metadata-Flavor: Google"};
    request.timeout = kTokenTimeout;
    request.connectTimeout = kMetadataConnectTimeout;
    request.withoutProxy = true;
    http_->send(std::move(request),
                [callback = std::move(callback)](const absl::StatusOr<HttpResponse>& response) {
                  if (!response.ok() && response.status().code() != absl::StatusCode::kCancelled) {
                    return callback(noCredentials(response.status()));
                  }
                  callback(readToken(response, "no access token from the metadata server"));
                });
  }

 private:
  /// Nothing else was found, so this machine most likely is not on Google Cloud.
  static absl::Status noCredentials(const absl::Status& cause) {
    return base::makeStatus(
        absl::StatusCode::kUnauthenticated,
        "there are no application-default credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, "
        "gcloud has stored none (`gcloud auth application-default login` does), and no metadata "
        "server answers ({})",
        base::messageOf(cause));
  }

  const std::string url_;
  const std::shared_ptr<HttpClient> http_;
};

std::shared_ptr<TokenSource> cached(std::unique_ptr<TokenFetcher> fetcher, std::string quotaProject,
                                    const CredentialsContext& context) {
  return std::make_shared<CachingTokenSource>(std::move(fetcher), std::move(quotaProject),
                                              *context.clock);
}

/// The kinds of credentials files there are besides those understood; no other text of a file is
/// ever shown.
constexpr std::array kOtherKinds = {
    std::string_view("external_account"), std::string_view("external_account_authorized_user"),
    std::string_view("gdch_service_account"), std::string_view("impersonated_service_account")};

absl::StatusOr<std::shared_ptr<TokenSource>> authorizedUser(const Json& json,
                                                            std::string_view setting,
                                                            std::string quotaProject,
                                                            const CredentialsContext& context) {
  const std::string clientId = stringOf(json, "client_id");
  const std::string clientSecret = stringOf(json, "client_secret");
  const std::string refreshToken = stringOf(json, "refresh_token");
  std::string tokenUri = stringOf(json, "token_uri");
  if (tokenUri.empty()) tokenUri = kUserTokenUri;
  if (clientId.empty() || clientSecret.empty() || refreshToken.empty() ||
      !isAcceptableTokenUri(tokenUri)) {
    return unusableCredentialsFile(setting);
  }
  std::string form =
      fmt::format("grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                  urlEncode(clientId), urlEncode(clientSecret), urlEncode(refreshToken));
  return cached(std::make_unique<AuthorizedUserFetcher>(std::move(form), std::move(tokenUri),
                                                        setting, context.http),
                std::move(quotaProject), context);
}

absl::StatusOr<std::shared_ptr<TokenSource>> fromFile(const std::string& path,
                                                      std::string_view setting,
                                                      const Environment& environment,
                                                      const CredentialsContext& context) {
  const std::optional<std::string> text = readFile(path);
  const Json json = text.has_value() ? Json::parse(*text, nullptr, /*allow_exceptions=*/false)
                                     : Json(Json::value_t::discarded);
  if (!json.is_object()) return unusableCredentialsFile(setting);
  const std::string type = stringOf(json, "type");
  std::string quotaProject = environment.quotaProject;
  if (quotaProject.empty()) quotaProject = stringOf(json, "quota_project_id");
  if (type == "service_account") {
    absl::StatusOr<ServiceAccountKey> key = ServiceAccountKey::parse(*text);
    if (!key.ok()) return unusableCredentialsFile(setting);
    return cached(std::make_unique<ServiceAccountFetcher>(*std::move(key), setting, context),
                  std::move(quotaProject), context);
  }
  if (type == "authorized_user") {
    return authorizedUser(json, setting, std::move(quotaProject), context);
  }
  if (std::find(kOtherKinds.begin(), kOtherKinds.end(), type) != kOtherKinds.end()) {
    return base::notSupported(
        "{}: credentials of type \"{}\" are not supported yet; use a \"service_account\" or an "
        "\"authorized_user\"",
        setting, type);
  }
  return unusableCredentialsFile(setting);
}

std::string wellKnownFile(const Environment& environment) {
  if (!environment.cloudSdkConfig.empty()) {
    return environment.cloudSdkConfig + "/application_default_credentials.json";
  }
  if (environment.home.empty()) return {};
  return environment.home + "/.config/gcloud/application_default_credentials.json";
}

}  // namespace

absl::StatusOr<std::shared_ptr<TokenSource>> serviceAccountCredentials(
    const std::string& path, std::string_view setting, const CredentialsContext& context) {
  const std::optional<std::string> text = readFile(path);
  if (!text.has_value()) return unusableKeyFile(setting);
  absl::StatusOr<ServiceAccountKey> key = ServiceAccountKey::parse(*text);
  if (!key.ok()) return unusableKeyFile(setting);
  return cached(std::make_unique<ServiceAccountFetcher>(*std::move(key), setting, context),
                /*quotaProject=*/{}, context);
}

absl::StatusOr<std::shared_ptr<TokenSource>> applicationDefaultCredentials(
    const Environment& environment, const CredentialsContext& context) {
  if (!environment.applicationCredentials.empty()) {
    return fromFile(environment.applicationCredentials, "GOOGLE_APPLICATION_CREDENTIALS",
                    environment, context);
  }
  const std::string wellKnown = wellKnownFile(environment);
  if (!wellKnown.empty() && exists(wellKnown)) {
    return fromFile(wellKnown, kWellKnownFile, environment, context);
  }
  const std::string& host =
      environment.metadataHost.empty() ? kDefaultMetadataHost : environment.metadataHost;
  return cached(std::make_unique<MetadataFetcher>(host, context.http), environment.quotaProject,
                context);
}

}  // namespace penstock::gcp
