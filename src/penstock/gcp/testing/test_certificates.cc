#include "penstock/gcp/testing/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>

namespace penstock::gcp::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

constexpr unsigned kKeyBits = 2048;
constexpr long kDay = 24 * 3600;

Key makeKey() { return {EVP_RSA_gen(kKeyBits), EVP_PKEY_free}; }

template <typename Write>
std::string toPem(Write&& write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string privateKeyPem(EVP_PKEY* key) {
  return toPem([&](BIO* bio) {
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

void addExtension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate makeCertificate(const char* commonName, long serial, EVP_PKEY* key) {
  Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDay);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(commonName), -1, -1, 0);
  return certificate;
}

}  // namespace

TestCertificates::TestCertificates() {
  const Key authorityKey = makeKey();
  const Certificate authority = makeCertificate("Penstock test authority", 1, authorityKey.get());
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  addExtension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  addExtension(authority.get(), authority.get(), NID_key_usage, "critical,keyCertSign");
  X509_sign(authority.get(), authorityKey.get(), EVP_sha256());

  const Key serverKey = makeKey();
  const Certificate server = makeCertificate("localhost", 2, serverKey.get());
  X509_set_issuer_name(server.get(), X509_get_subject_name(authority.get()));
  addExtension(server.get(), authority.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_sign(server.get(), authorityKey.get(), EVP_sha256());

  authorityPem_ = toPem([&](BIO* bio) { PEM_write_bio_X509(bio, authority.get()); });
  serverCertificatePem_ = toPem([&](BIO* bio) { PEM_write_bio_X509(bio, server.get()); });
  serverKeyPem_ = privateKeyPem(serverKey.get());
  authorityFile_ = std::make_unique<TemporaryFile>(authorityPem_);
}

TestKeyPair makeKeyPair() {
  const Key key = makeKey();
  return {privateKeyPem(key.get()), toPem([&](BIO* bio) { PEM_write_bio_PUBKEY(bio, key.get()); })};
}

bool verifyRs256(const std::string& publicPem, const std::string& data,
                 const std::string& signature) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      BIO_new_mem_buf(publicPem.data(), static_cast<int>(publicPem.size())), BIO_free);
  const Key key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(data.data()),
                          data.size()) == 1;
}

std::string decodeBase64Url(std::string text) {
  for (char& c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  size_t padding = 0;
  while (text.size() % 4 != 0) {
    text += '=';
    ++padding;
  }
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                  reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace penstock::gcp::testing
