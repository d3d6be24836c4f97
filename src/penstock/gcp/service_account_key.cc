#include "penstock/gcp/service_account_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace penstock::gcp {
namespace {

using Json = nlohmann::json;

constexpr char kDefaultTokenUri[] = "https://oauth2.googleapis.com/token";

absl::Status unusable() { return absl::InvalidArgumentError("not a service-account key"); }

std::string stringOr(const Json& json, const char* name, std::string fallback = {}) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : std::move(fallback);
}

/// A key that asks for a pass phrase is refused, not asked about on the terminal.
int refusePassPhrase(char*, int, int, void*) { return -1; }

std::shared_ptr<void> readPrivateKey(const std::string& pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, refusePassPhrase, nullptr);
  if (key == nullptr) return nullptr;
  std::shared_ptr<void> owned(key, [](void* k) { EVP_PKEY_free(static_cast<EVP_PKEY*>(k)); });
  return EVP_PKEY_base_id(key) == EVP_PKEY_RSA ? owned : nullptr;
}

/// Base64 in the URL alphabet, without padding (RFC 7515).
std::string base64Url(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  while (!text.empty() && text.back() == '=') text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace

bool isAcceptableTokenUri(std::string_view uri) {
  if (uri.find('@') != std::string_view::npos)
    return false;  // what looks like the host would not be it
  return uri.starts_with("https://") || uri.starts_with("http://127.0.0.1:") ||
         uri.starts_with("http://localhost:");
}

absl::StatusOr<ServiceAccountKey> ServiceAccountKey::parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || stringOr(json, "type") != "service_account") return unusable();
  ServiceAccountKey key;
  key.email_ = stringOr(json, "client_email");
  key.keyId_ = stringOr(json, "private_key_id");
  key.tokenUri_ = stringOr(json, "token_uri", kDefaultTokenUri);
  key.privateKey_ = readPrivateKey(stringOr(json, "private_key"));
  if (key.email_.empty() || key.privateKey_ == nullptr || !isAcceptableTokenUri(key.tokenUri_)) {
    return unusable();
  }
  return key;
}

absl::StatusOr<std::string> ServiceAccountKey::signAssertion(std::string_view scope,
                                                             base::WallTime now) const {
  constexpr int64_t kLifetimeSeconds = 3600;
  const int64_t issued = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  Json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!keyId_.empty()) header["kid"] = keyId_;
  const Json claims = {{"iss", email_},
                       {"scope", std::string(scope)},
                       {"aud", tokenUri_},
                       {"iat", issued},
                       {"exp", issued + kLifetimeSeconds}};
  std::string assertion = base64Url(header.dump()) + "." + base64Url(claims.dump());

  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  const auto* data = reinterpret_cast<const unsigned char*>(assertion.data());
  size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr,
                         static_cast<EVP_PKEY*>(privateKey_.get())) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, data, assertion.size()) != 1) {
    return absl::InternalError("OpenSSL could not sign with the service account's key");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                     assertion.size()) != 1) {
    return absl::InternalError("OpenSSL could not sign with the service account's key");
  }
  signature.resize(size);
  return assertion + "." + base64Url(signature);
}

}  // namespace penstock::gcp
