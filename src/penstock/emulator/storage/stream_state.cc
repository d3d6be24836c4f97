#include "penstock/emulator/storage/stream_state.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "penstock/emulator/storage/crc32c.h"
#include "penstock/emulator/storage/file.h"

namespace penstock::emulator {
namespace {

// The file is a head that never changes and two slots that are written in turn, each sealed by a
// checksum: whatever becomes of one, the other holds the state before. Little-endian.
constexpr uint32_t kHeadMagic = 0x53575350;  // "PSWS"
constexpr uint32_t kSlotMagic = 0x4C535350;  // "PSSL"
constexpr uint64_t kBlockBytes = 64;
constexpr uint32_t kFinalized = 1;
constexpr uint32_t kCommitted = 2;
constexpr uint32_t kConditional = 4;

struct Head {
  uint32_t magic;
  uint32_t type;
  int64_t createdMicros;
};
struct Slot {
  uint32_t magic;
  uint32_t flags;
  uint64_t version;
  int64_t committedMicros;
  uint64_t visibleRows;
  uint64_t recordRow;
  uint64_t nextVisibleRows;
};

template <typename Block>
std::string sealed(const Block& block) {
  std::string bytes(reinterpret_cast<const char*>(&block), sizeof block);
  bytes.resize(kBlockBytes - sizeof(uint32_t));
  const uint32_t checksum = crc32c(bytes);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return bytes;
}

template <typename Block>
std::optional<Block> opened(std::string_view file, uint64_t offset, uint32_t magic) {
  if (file.size() < offset + kBlockBytes) return std::nullopt;
  const std::string_view bytes = file.substr(offset, kBlockBytes);
  const size_t covered = kBlockBytes - sizeof(uint32_t);
  uint32_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + covered, sizeof checksum);
  Block block;
  std::memcpy(&block, bytes.data(), sizeof block);
  if (block.magic != magic || checksum != crc32c(bytes.substr(0, covered))) return std::nullopt;
  return block;
}

std::string slotBytes(const StreamState& state) {
  const uint32_t flags = (state.finalized ? kFinalized : 0) | (state.committed ? kCommitted : 0) |
                         (state.conditional ? kConditional : 0);
  return sealed(Slot{kSlotMagic, flags, state.version, state.committedMicros, state.visibleRows,
                     state.recordRow, state.nextVisibleRows});
}

uint64_t slotOffset(uint64_t version) { return kBlockBytes * (1 + version % 2); }

}  // namespace

absl::Status createStreamState(const std::string& path, const StreamState& state) {
  StreamState first = state;
  first.version = 0;
  const Head head{kHeadMagic, static_cast<uint32_t>(state.type), state.createdMicros};
  return writeWholeFile(path, sealed(head) + slotBytes(first));
}

absl::Status writeStreamState(const std::string& path, StreamState& state) {
  PENSTOCK_ASSIGN_OR_RETURN(File file, File::openForChange(path));
  StreamState next = state;
  ++next.version;
  const std::string bytes = slotBytes(next);
  // After a failure the same slot is written again, since the other holds what is true meanwhile.
  PENSTOCK_RETURN_IF_ERROR(
      file.writeAt(slotOffset(next.version), std::array<std::string_view, 1>{bytes}));
  state.version = next.version;
  return absl::OkStatus();
}

absl::StatusOr<StreamState> readStreamState(const std::string& path) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string file, readWholeFile(path));
  const std::optional<Head> head = opened<Head>(file, 0, kHeadMagic);
  std::optional<Slot> latest;
  for (const uint64_t version : {0, 1}) {
    const std::optional<Slot> slot = opened<Slot>(file, slotOffset(version), kSlotMagic);
    if (slot.has_value() && (!latest.has_value() || slot->version > latest->version)) latest = slot;
  }
  if (!head.has_value() || !latest.has_value()) {
    return base::makeStatus(absl::StatusCode::kDataLoss, "{} is damaged", path);
  }
  StreamState state;
  state.type = static_cast<StreamType>(head->type);
  state.createdMicros = head->createdMicros;
  state.version = latest->version;
  state.finalized = (latest->flags & kFinalized) != 0;
  state.committed = (latest->flags & kCommitted) != 0;
  state.conditional = (latest->flags & kConditional) != 0;
  state.committedMicros = latest->committedMicros;
  state.visibleRows = latest->visibleRows;
  state.recordRow = latest->recordRow;
  state.nextVisibleRows = latest->nextVisibleRows;
  return state;
}

}  // namespace penstock::emulator
