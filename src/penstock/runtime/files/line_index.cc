#include "penstock/runtime/files/line_index.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "penstock/runtime/files/byte_stream.h"

namespace penstock::runtime {
namespace {

constexpr uint64_t kAnchorDistance = uint64_t{1} << 20;

}  // namespace

std::optional<TextPlace> LineIndex::placeOf(uint64_t offset) {
  base::MutexLock lock(mutex_);
  const auto nearest = std::prev(anchors_.upper_bound(offset));
  uint64_t at = nearest->first;
  Anchor here = nearest->second;
  absl::StatusOr<FileDescriptor> file = openForReading(file_.path);
  if (!file.ok()) return std::nullopt;
  const auto stream = makeFileStream(*std::move(file), file_.path, at, file_.size);
  std::vector<char> buffer(64 * 1024);
  uint64_t lastAnchor = at;
  while (at < offset) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), offset - at);
    const absl::StatusOr<ByteStream::Piece> piece = stream->read(buffer.data(), wanted, ReadWait());
    if (!piece.ok() || piece->state != ByteStream::State::kData) return std::nullopt;
    const char* end = buffer.data() + piece->size;
    const char* from = buffer.data();
    while (const void* found = std::memchr(from, '\n', static_cast<size_t>(end - from))) {
      from = static_cast<const char*>(found) + 1;
      ++here.line;
      here.lineBegin = at + static_cast<uint64_t>(from - buffer.data());
    }
    at += piece->size;
    if (at - lastAnchor >= kAnchorDistance) {
      anchors_[at] = here;
      lastAnchor = at;
    }
  }
  return TextPlace{here.line, offset - here.lineBegin + 1};
}

}  // namespace penstock::runtime
