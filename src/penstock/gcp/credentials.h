#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/gcp/environment.h"
#include "penstock/gcp/http_client.h"
#include "penstock/gcp/token_source.h"

/// Where access tokens come from. Every token is for the scope cloud-platform. Errors never show a
/// path, a file's contents or a parser's words; they name the setting that led to the file
/// (BASE-009).
namespace penstock::gcp {

struct CredentialsContext {
  std::shared_ptr<HttpClient> http;  ///< asks the token endpoint and the metadata server
  base::Clock* clock = nullptr;      ///< must outlive the token source
};

/// A service account's key file, read now and once (BASE-008). `setting` is what the user called
/// it: "serviceAccountKeyFile", "--service-account-key-file". INVALID_ARGUMENT when it cannot be
/// read, is not JSON, not of type `service_account`, or its key is unusable; one message for all.
[[nodiscard]] absl::StatusOr<std::shared_ptr<TokenSource>> serviceAccountCredentials(
    const std::string& path, std::string_view setting, const CredentialsContext& context);

/// Application-default credentials (BASE-045): the file that GOOGLE_APPLICATION_CREDENTIALS names;
/// else gcloud's well-known file; else the metadata server, which is asked for a token at first
/// use, not here. Files may hold a `service_account` or an `authorized_user`; other kinds are
/// UNIMPLEMENTED, by name.
[[nodiscard]] absl::StatusOr<std::shared_ptr<TokenSource>> applicationDefaultCredentials(
    const Environment& environment, const CredentialsContext& context);

}  // namespace penstock::gcp
