#pragma once

#include <memory>
#include <string>

#include "penstock/gcp/testing/temporary_file.h"

namespace penstock::gcp::testing {

/// A certificate authority made for this test run and a server certificate for 127.0.0.1 and
/// localhost that it signed. The authority's certificate is also in a file, which is removed with
/// the object.
class TestCertificates {
 public:
  TestCertificates();

  [[nodiscard]] const std::string& authorityFile() const { return authorityFile_->path(); }
  [[nodiscard]] const std::string& authorityPem() const { return authorityPem_; }
  [[nodiscard]] const std::string& serverCertificatePem() const { return serverCertificatePem_; }
  [[nodiscard]] const std::string& serverKeyPem() const { return serverKeyPem_; }

 private:
  std::string authorityPem_;
  std::string serverCertificatePem_;
  std::string serverKeyPem_;
  std::unique_ptr<TemporaryFile> authorityFile_;
};

/// A new RSA private key in PEM form (PKCS #8), as key files hold it, and its public half.
struct TestKeyPair {
  std::string privatePem;
  std::string publicPem;
};
[[nodiscard]] TestKeyPair makeKeyPair();

/// Whether `signature` is that of `data` under RS256.
[[nodiscard]] bool verifyRs256(const std::string& publicPem, const std::string& data,
                               const std::string& signature);

/// The bytes of base64 text in the URL alphabet, with or without padding.
[[nodiscard]] std::string decodeBase64Url(std::string text);

}  // namespace penstock::gcp::testing
