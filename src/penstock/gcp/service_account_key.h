#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"

namespace penstock::gcp {

/// Whether secrets may be sent to `uri`: https, or this machine.
[[nodiscard]] bool isAcceptableTokenUri(std::string_view uri);

/// A service account's private key, ready to sign.
class ServiceAccountKey {
 public:
  /// From the JSON text of a key file of type `service_account`. The error is for the caller to
  /// replace: it says nothing about the text (BASE-009).
  [[nodiscard]] static absl::StatusOr<ServiceAccountKey> parse(std::string_view json);

  [[nodiscard]] const std::string& email() const { return email_; }
  /// Where a signed assertion is exchanged for an access token.
  [[nodiscard]] const std::string& tokenUri() const { return tokenUri_; }

  /// A JWT (RS256) that asks `tokenUri` for a token of `scope`, good for an hour from `now`.
  [[nodiscard]] absl::StatusOr<std::string> signAssertion(std::string_view scope,
                                                          base::WallTime now) const;

 private:
  ServiceAccountKey() = default;
  std::string email_;
  std::string keyId_;
  std::string tokenUri_;
  std::shared_ptr<void> privateKey_;  // an EVP_PKEY
};

}  // namespace penstock::gcp
