#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/base/status.h"
#include "penstock/runtime/files/byte_stream.h"

namespace penstock::runtime {

/// A window over a stream: what was read and not yet consumed, contiguous, with `kRecordPadding`
/// readable bytes behind. Pointers into it stay valid until the next `fill`.
class ReadBuffer {
 public:
  /// `offset` is that of the stream's next byte in the content. Reads `usualBytes` at a time.
  ReadBuffer(std::unique_ptr<ByteStream> stream, uint64_t offset, size_t usualBytes);

  /// Moves what is left to the front and reads once; grows when there is no room. Once the stream
  /// has ended the state is kEnd, with bytes or without.
  [[nodiscard]] absl::StatusOr<ByteStream::State> fill(const ReadWait& wait);
  void consume(size_t bytes);

  [[nodiscard]] const char* data() const { return memory_.get() + begin_; }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Offset of data() in the content.
  [[nodiscard]] uint64_t offset() const { return offset_; }

 private:
  void makeRoom();

  std::unique_ptr<ByteStream> stream_;
  uint64_t offset_;
  size_t usualBytes_;
  size_t capacity_;
  std::unique_ptr<char[]> memory_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool ended_ = false;
};

}  // namespace penstock::runtime
