// Any bytes as a checkpoint's metadata file, and as the document in one whose checksum is right:
// what is accepted survives being written again.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "penstock/runtime/checkpoint_store.h"

namespace {

void check(std::string_view text) {
  using namespace penstock::runtime;
  const auto checkpoint = decodeCheckpoint(text);
  if (!checkpoint.ok()) return;
  const std::string written = encodeCheckpoint(*checkpoint);
  const auto again = decodeCheckpoint(written);
  if (!again.ok() || encodeCheckpoint(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  const auto checksum = static_cast<uint32_t>(crc32_z(0, data, size));
  check(fmt::format("penstock-checkpoint 1 {:08x} {}\n{}", checksum, size, text));
  return 0;
}
