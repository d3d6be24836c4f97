#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/base/chunk_pool.h"

namespace penstock::connector {

class RowBatch;

/// Where a record came from, as its host numbers places (a file's number in the upper bits, the
/// line below, say): opaque here, kept with the row, and given back with a row that fails later on.
/// Rows whose origins follow one another cost nothing to keep.
enum class RowOrigin : uint64_t { kUnknown = 0 };

/// The origin `records` further on; unknown stays unknown.
constexpr RowOrigin advanced(RowOrigin origin, size_t records) {
  const auto number = static_cast<uint64_t>(origin);
  return RowOrigin{number + (number == 0 ? 0 : records)};
}
constexpr RowOrigin following(RowOrigin origin) { return advanced(origin, 1); }

/// Where one row's bytes are written, in place at the end of a batch. A row is contiguous: when it
/// outgrows its chunk, it moves to the next one, so positions are kept as offsets from `rowData()`,
/// never as pointers across a `reserve`. Not virtual and all inline: this is the hot path.
class RowEncoder {
 public:
  RowEncoder(const RowEncoder&) = delete;
  RowEncoder& operator=(const RowEncoder&) = delete;

  /// Makes room for `bytes` more bytes and returns where they go. May move the row.
  char* reserve(size_t bytes) {
    if (static_cast<size_t>(limit_ - cursor_) < bytes) grow(bytes);
    return cursor_;
  }
  /// Ends what was written after `reserve`: `end` is one past the last byte.
  void setCursor(char* end) { cursor_ = end; }
  [[nodiscard]] char* cursor() const { return cursor_; }
  [[nodiscard]] char* limit() const { return limit_; }

  /// First byte of the row.
  [[nodiscard]] char* rowData() const { return rowData_; }
  /// Bytes of the row so far.
  [[nodiscard]] size_t size() const { return static_cast<size_t>(cursor_ - rowData_); }

  void append(std::string_view bytes) {
    char* to = reserve(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());  // data() may be null then
    cursor_ = to + bytes.size();
  }

 private:
  friend class RowBatch;  // the batch places the encoder at its end
  explicit RowEncoder(RowBatch* batch) : batch_(batch) {}
  void grow(size_t bytes);

  char* cursor_ = nullptr;
  char* limit_ = nullptr;
  char* rowData_ = nullptr;
  RowBatch* batch_;
};

/// Rows in the wire layout of a repeated bytes field with number 1 (tag 0x0A, canonical varint
/// length, bytes), in a chain of pooled chunks. One thread at a time while rows are added; once
/// sealed (held as `shared_ptr<const RowBatch>`) it is immutable and any thread may read it. Chunks
/// return to the pool when the batch and the last transport slice have let go.
///
/// Nothing is kept per row but the row itself: single rows are only looked at when something is
/// wrong with them, and are found by walking the lengths.
class alignas(64) RowBatch {  // begins with a cache line: what each row touches lies in two
 public:
  static constexpr uint8_t kRowTag = 0x0A;

  explicit RowBatch(base::ChunkPool& pool = base::ChunkPool::process()) : pool_(pool) {}
  ~RowBatch();
  RowBatch(const RowBatch&) = delete;
  RowBatch& operator=(const RowBatch&) = delete;

  /// Opens a row at the end; exactly one of commitRow / discardRow must follow. `expectedBytes`
  /// only saves moving: the length prefix is laid out for a row of that size (0 = as the last one).
  RowEncoder& beginRow(size_t expectedBytes = 0) {
    assert(openLengthBytes_ == 0);
    if (expectedBytes != 0 || static_cast<size_t>(chunkEnd_ - end_) < kRoomToBegin) {
      return beginRowElsewhere(expectedBytes);
    }
    placeEncoder(lastLengthBytes_);
    return encoder_;
  }
  /// `origin`: see originOf.
  void commitRow(RowOrigin origin = RowOrigin::kUnknown) {
    assert(openLengthBytes_ != 0);
    if (origin != nextOrigin_) beginOrigins(origin);
    const size_t rowSize = encoder_.size();
    char* const length = encoder_.rowData_ - openLengthBytes_;
    if (openLengthBytes_ == 1 && rowSize < 0x80) {
      length[0] = static_cast<char>(rowSize);
    } else if (openLengthBytes_ == 2 && rowSize >= 0x80 && rowSize < 0x4000) {
      length[0] = static_cast<char>(rowSize | 0x80);
      length[1] = static_cast<char>(rowSize >> 7);
    } else {
      return commitRowOfOtherLength(rowSize);
    }
    length[-1] = static_cast<char>(kRowTag);
    noteCommitted(rowSize, openLengthBytes_);
  }
  /// Behind the last committed row: where the next one goes.
  [[nodiscard]] const char* end() const { return end_; }
  /// Chunks come back from the service's acknowledgement cold: has the memory of the rows after
  /// next brought in for writing while this one is worked on. Worth it where rows follow each other
  /// in one batch.
  void prefetchBehind() const { prefetchBehind(end_); }
  void discardRow();

  /// A row whose bytes are already there.
  void appendRow(std::string_view bytes, RowOrigin origin = RowOrigin::kUnknown);
  /// Several such rows, as long as the batch stays within `maxFramedBytes`: with the row that goes
  /// beyond it ends. Returns how many were taken. `first` is the first row's origin.
  size_t appendRows(std::span<const std::string_view> rows, RowOrigin first, size_t maxFramedBytes);

  /// Takes the row that was committed last, by the call before this one, out of this batch and
  /// appends it to `other`.
  void moveLastRowTo(RowBatch& other);

  /// Appends all rows to `other` but those at `excluded` (sorted, unique, in range).
  void copyRowsTo(RowBatch& other, std::span<const size_t> excluded = {}) const;

  [[nodiscard]] bool empty() const { return rowCount_ == 0; }
  [[nodiscard]] size_t rowCount() const { return rowCount_; }
  /// Sum of the rows' own bytes.
  [[nodiscard]] size_t rowBytes() const { return rowBytes_; }
  /// Bytes of all rows with their tags and lengths: what `slices()` add up to.
  [[nodiscard]] size_t framedBytes() const {
    return closedBytes_ + static_cast<size_t>(end_ - chunkBegin_);
  }
  /// Calls `visit(size_t index, std::string_view row)` for each row in order.
  template <typename Visit>
  void forEachRow(Visit&& visit) const {
    size_t index = 0;
    forEachSlice([&](const Slice& slice) {
      for (std::string_view rest(slice.data, slice.size); !rest.empty();) {
        visit(index++, takeRow(rest));
      }
    });
  }
  /// The bytes of row `index` (without tag and length). Walks there.
  [[nodiscard]] std::string_view row(size_t index) const;
  /// What commitRow was given for row `index`; kUnknown without.
  [[nodiscard]] RowOrigin originOf(size_t index) const;

  /// A run of framed rows inside one chunk.
  struct Slice {
    base::Chunk* chunk;
    const char* data;
    size_t size;
  };
  [[nodiscard]] std::vector<Slice> slices() const;
  /// The same without a vector, for the hot path: calls `visit(const Slice&)` in order.
  template <typename Visit>
  void forEachSlice(Visit&& visit) const {
    for (const Segment& segment : segments_) {
      const size_t used = usedBytes(segment);
      if (used != 0) visit(Slice{segment.chunk, segment.chunk->data(), used});
    }
  }

  /// Back to empty; keeps the capacity of the bookkeeping, gives the chunks back.
  void clear();
  /// Gives the capacity of the bookkeeping back, too. Only of an empty batch.
  void shrink();

 private:
  friend class RowEncoder;  // asks for a larger chunk
  struct Segment {
    base::Chunk* chunk;
    size_t used;  // framed bytes of committed rows in this chunk, once it is not the last
  };
  /// Rows from `firstRow` on have the origins `first`, `first` + 1 and so on.
  struct Origins {
    size_t firstRow;
    RowOrigin first;
  };

  // Kept free behind the open row, so that its length prefix can grow in place.
  static constexpr size_t kLengthSlack = 5;
  // Measured on rows of 100 bytes, where it counts: nearer comes too late, further gains nothing.
  static constexpr size_t kPrefetchDistance = 4096;
  // A chunk with less left is not worth beginning a row in: a tag, a length and 16 bytes.
  static constexpr size_t kRoomToBegin = 1 + kLengthSlack + kLengthSlack + 16;

  /// Takes the first framed row off `rest` and returns it.
  static std::string_view takeRow(std::string_view& rest);
  [[nodiscard]] size_t usedBytes(const Segment& segment) const {
    return &segment == &segments_.back() ? static_cast<size_t>(end_ - chunkBegin_) : segment.used;
  }
  void placeEncoder(size_t lengthBytes) {
    encoder_.rowData_ = end_ + 1 + lengthBytes;
    encoder_.cursor_ = encoder_.rowData_;
    openLengthBytes_ = lengthBytes;
  }
  void noteCommitted(size_t rowSize, size_t lengthBytes) {
    lastRow_ = end_;
    end_ += 1 + lengthBytes + rowSize;
    ++rowCount_;
    rowBytes_ += rowSize;
    lastLengthBytes_ = lengthBytes;
    openLengthBytes_ = 0;
    nextOrigin_ = following(nextOrigin_);
  }
  static void prefetchBehind(const char* end) {
    __builtin_prefetch(end + kPrefetchDistance, 1);
    __builtin_prefetch(end + kPrefetchDistance + 64, 1);
  }
  RowEncoder& beginRowElsewhere(size_t expectedBytes);
  void commitRowOfOtherLength(size_t rowSize);
  void beginOrigins(RowOrigin origin);

  /// Moves the open row into a chunk with room for `moreBytes` behind what is written.
  void moveOpenRow(size_t moreBytes);
  void addSegment(size_t minimum);
  /// Takes the last segment, which has no committed row, out of the batch; the caller releases it.
  base::Chunk* removeLastSegment();
  void useLastSegment();

  // The last chunk: committed rows lie between chunkBegin_ and end_. All null without one.
  char* chunkBegin_ = nullptr;
  char* end_ = nullptr;
  char* chunkEnd_ = nullptr;
  char* lastRow_ = nullptr;  // frame of the row committed last; null when it has moved on
  size_t closedBytes_ = 0;   // framed bytes in the chunks before the last
  size_t rowCount_ = 0;
  size_t rowBytes_ = 0;
  size_t lastLengthBytes_ = 1;  // of the last row's length: what the next one is laid out for
  size_t openLengthBytes_ = 0;  // bytes laid out for the open row's length; 0 = no row is open
  RowOrigin nextOrigin_ = RowOrigin::kUnknown;  // of a row that goes on from the last one
  RowEncoder encoder_{this};
  base::ChunkPool& pool_;
  std::vector<Segment> segments_;
  std::vector<Origins> origins_;
};

}  // namespace penstock::connector
