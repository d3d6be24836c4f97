#include "penstock/emulator/storage/descriptor_store.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace penstock::emulator {
namespace {

DescriptorHash hashBytes(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  DescriptorHash hash;
  std::copy_n(digest.begin(), hash.size(), hash.begin());
  return hash;
}

std::string spell(const DescriptorHash& hash) {
  std::string text;
  for (const uint8_t byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

DescriptorHash hashOf(const RowDescriptor& descriptor) {
  DescriptorHash hash{};
  const auto digit = [](char character) {
    return static_cast<uint8_t>(character <= '9' ? character - '0' : character - 'a' + 10);
  };
  for (size_t index = 0; index < hash.size() && 2 * index + 1 < descriptor.id.size(); ++index) {
    hash[index] = static_cast<uint8_t>(digit(descriptor.id[2 * index]) << 4 |
                                       digit(descriptor.id[2 * index + 1]));
  }
  return hash;
}

absl::StatusOr<RowDescriptorPtr> DescriptorStore::intern(std::string_view serialized) {
  auto descriptor = std::make_shared<RowDescriptor>();
  descriptor->id = spell(hashBytes(serialized));
  descriptor->bytes = serialized;
  {
    const base::MutexLock lock(mutex_);
    const auto found = known_.find(descriptor->id);
    if (found != known_.end()) return found->second;
  }
  // Two threads may write the same file at once: the content is the same, and so is either outcome.
  const absl::Status written =
      writeWholeFile(fmt::format("{}/{}", directory_, descriptor->id), serialized);
  if (!written.ok()) return written;
  const base::MutexLock lock(mutex_);
  return known_.emplace(descriptor->id, descriptor).first->second;
}

absl::StatusOr<RowDescriptorPtr> DescriptorStore::find(const DescriptorHash& hash) {
  const std::string id = spell(hash);
  {
    const base::MutexLock lock(mutex_);
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
  }
  const std::string path = fmt::format("{}/{}", directory_, id);
  absl::StatusOr<std::string> bytes = readWholeFile(path);
  if (!bytes.ok() || hashBytes(*bytes) != hash) {
    return base::makeStatus(absl::StatusCode::kDataLoss, "the row descriptor {} {}", path,
                            bytes.ok() ? "is damaged" : "cannot be read");
  }
  auto descriptor = std::make_shared<RowDescriptor>();
  descriptor->id = id;
  descriptor->bytes = *std::move(bytes);
  const base::MutexLock lock(mutex_);
  return known_.emplace(id, descriptor).first->second;
}

}  // namespace penstock::emulator
