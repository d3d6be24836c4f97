#include "penstock/runtime/files/read_buffer.h"

#include <cstring>
#include <utility>

#include "penstock/runtime/record_batch.h"

namespace penstock::runtime {
namespace {

std::unique_ptr<char[]> allocate(size_t capacity) {
  return std::make_unique_for_overwrite<char[]>(capacity + kRecordPadding);
}

}  // namespace

ReadBuffer::ReadBuffer(std::unique_ptr<ByteStream> stream, uint64_t offset, size_t usualBytes)
    : stream_(std::move(stream)),
      offset_(offset),
      usualBytes_(usualBytes),
      capacity_(usualBytes),
      memory_(allocate(usualBytes)) {
  std::memset(memory_.get(), 0, kRecordPadding);
}

void ReadBuffer::makeRoom() {
  const size_t left = size();
  size_t wanted = capacity_;
  if (left == capacity_) {
    wanted = capacity_ * 2;
  } else if (capacity_ > usualBytes_ && left < usualBytes_) {
    wanted = usualBytes_;  // the long record is gone
  }
  if (wanted == capacity_) {
    std::memmove(memory_.get(), data(), left);
  } else {
    std::unique_ptr<char[]> memory = allocate(wanted);
    std::memcpy(memory.get(), data(), left);
    memory_ = std::move(memory);
    capacity_ = wanted;
  }
  begin_ = 0;
  end_ = left;
}

absl::StatusOr<ByteStream::State> ReadBuffer::fill(const ReadWait& wait) {
  if (ended_) return ByteStream::State::kEnd;
  makeRoom();
  absl::StatusOr<ByteStream::Piece> piece =
      stream_->read(memory_.get() + end_, capacity_ - end_, wait);
  if (!piece.ok()) return std::move(piece).status();
  end_ += piece->size;
  ended_ = piece->state == ByteStream::State::kEnd;
  std::memset(memory_.get() + end_, 0, kRecordPadding);
  return piece->state;
}

void ReadBuffer::consume(size_t bytes) {
  begin_ += bytes;
  offset_ += bytes;
}

}  // namespace penstock::runtime
