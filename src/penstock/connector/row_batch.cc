#include "penstock/connector/row_batch.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace penstock::connector {
namespace {

size_t varintBytes(size_t value) {
  size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

char* writeVarint(char* to, size_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

const char* readVarint(const char* from, size_t* value) {
  size_t result = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*from++);
    result |= static_cast<size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  *value = result;
  return from;
}

}  // namespace

void RowEncoder::grow(size_t bytes) { batch_->moveOpenRow(bytes); }

RowBatch::~RowBatch() {
  for (Segment& segment : segments_) segment.chunk->release();
}

void RowBatch::clear() {
  for (Segment& segment : segments_) segment.chunk->release();
  segments_.clear();
  origins_.clear();
  chunkBegin_ = end_ = chunkEnd_ = lastRow_ = nullptr;
  closedBytes_ = 0;
  rowCount_ = 0;
  rowBytes_ = 0;
  openLengthBytes_ = 0;
  nextOrigin_ = RowOrigin::kUnknown;
}

void RowBatch::shrink() {
  assert(empty() && segments_.empty());
  segments_ = {};
  origins_ = {};
}

// --- chunks
// ---------------------------------------------------------------------------------------

void RowBatch::addSegment(size_t minimum) {
  if (!segments_.empty()) {
    segments_.back().used = usedBytes(segments_.back());
    closedBytes_ += segments_.back().used;
  }
  // Chunks grow with the batch: a destination with few rows holds 4 KiB, a busy one 64 KiB pieces,
  // and none much more than it has rows.
  size_t wanted = base::ChunkPool::kSmallest;
  if (!segments_.empty()) wanted = base::ChunkPool::kMiddle;
  if (closedBytes_ >= 49152) wanted = base::ChunkPool::kLargestPooled;
  segments_.push_back({pool_.acquire(std::max(wanted, minimum)), 0});
  useLastSegment();
}

base::Chunk* RowBatch::removeLastSegment() {
  base::Chunk* const chunk = segments_.back().chunk;
  segments_.pop_back();
  if (segments_.empty()) {
    chunkBegin_ = end_ = chunkEnd_ = nullptr;
  } else {
    closedBytes_ -= segments_.back().used;
    useLastSegment();
  }
  return chunk;
}

void RowBatch::useLastSegment() {
  const Segment& last = segments_.back();
  chunkBegin_ = last.chunk->data();
  end_ = chunkBegin_ + last.used;
  chunkEnd_ = chunkBegin_ + last.chunk->capacity();
  encoder_.limit_ = chunkEnd_ - kLengthSlack;
}

// --- rows
// -----------------------------------------------------------------------------------------

RowEncoder& RowBatch::beginRowElsewhere(size_t expectedBytes) {
  const size_t lengthBytes = expectedBytes != 0 ? varintBytes(expectedBytes) : lastLengthBytes_;
  if (static_cast<size_t>(chunkEnd_ - end_) < kRoomToBegin) addSegment(kRoomToBegin);
  placeEncoder(lengthBytes);
  return encoder_;
}

void RowBatch::moveOpenRow(size_t moreBytes) {
  const size_t written = encoder_.size();
  const char* from = encoder_.rowData_;
  const size_t lengthBytes = openLengthBytes_;
  // A row that has already outgrown a chunk is likely to go on growing: double.
  const size_t minimum =
      1 + lengthBytes + std::max(written + moreBytes, written * 2) + kLengthSlack;
  base::Chunk* const abandoned = end_ == chunkBegin_ ? removeLastSegment() : nullptr;
  addSegment(minimum);
  placeEncoder(lengthBytes);
  std::memcpy(encoder_.rowData_, from, written);
  encoder_.cursor_ = encoder_.rowData_ + written;
  if (abandoned != nullptr) abandoned->release();
}

void RowBatch::commitRowOfOtherLength(size_t rowSize) {
  const size_t lengthBytes = varintBytes(rowSize);
  if (lengthBytes != openLengthBytes_) {
    std::memmove(end_ + 1 + lengthBytes, encoder_.rowData_, rowSize);
  }
  end_[0] = static_cast<char>(kRowTag);
  writeVarint(end_ + 1, rowSize);
  noteCommitted(rowSize, lengthBytes);
}

void RowBatch::discardRow() {
  assert(openLengthBytes_ != 0);
  openLengthBytes_ = 0;
  if (end_ == chunkBegin_) removeLastSegment()->release();
}

void RowBatch::appendRow(std::string_view bytes, RowOrigin origin) {
  RowEncoder& encoder = beginRow(std::max<size_t>(bytes.size(), 1));
  encoder.append(bytes);
  commitRow(origin);
}

size_t RowBatch::appendRows(std::span<const std::string_view> rows, RowOrigin first,
                            size_t maxFramedBytes) {
  assert(openLengthBytes_ == 0);
  size_t taken = 0;
  while (taken < rows.size() && framedBytes() <= maxFramedBytes) {
    // Rows that fit the chunk, in one go; what does not takes the general way.
    const size_t left = maxFramedBytes - framedBytes();
    const char* const last = left < static_cast<size_t>(chunkEnd_ - end_) ? end_ + left : chunkEnd_;
    const size_t before = taken;
    const RowOrigin origin = advanced(first, taken);
    char* end = end_;
    char* lastRow = end;
    for (; taken < rows.size() && end <= last; ++taken) {
      const std::string_view row = rows[taken];
      if (static_cast<size_t>(chunkEnd_ - end) < 1 + kLengthSlack + row.size()) break;
      lastRow = end;
      *end++ = static_cast<char>(kRowTag);
      end = writeVarint(end, row.size());
      if (!row.empty()) std::memcpy(end, row.data(), row.size());
      end += row.size();
      rowBytes_ += row.size();
      prefetchBehind(end);
    }
    if (taken == before) {
      appendRow(rows[taken++], origin);
      continue;
    }
    if (origin != nextOrigin_) beginOrigins(origin);
    nextOrigin_ = advanced(origin, taken - before);
    end_ = end;
    lastRow_ = lastRow;
    rowCount_ += taken - before;
  }
  return taken;
}

void RowBatch::moveLastRowTo(RowBatch& other) {
  assert(openLengthBytes_ == 0 && lastRow_ != nullptr);
  std::string_view rest(lastRow_, static_cast<size_t>(end_ - lastRow_));
  const std::string_view bytes = takeRow(rest);
  const RowOrigin origin = originOf(rowCount_ - 1);
  other.appendRow(bytes, origin);
  rowBytes_ -= bytes.size();
  --rowCount_;
  end_ = std::exchange(lastRow_, nullptr);
  if (!origins_.empty() && origins_.back().firstRow == rowCount_) origins_.pop_back();
  nextOrigin_ = rowCount_ == 0 ? RowOrigin::kUnknown : following(originOf(rowCount_ - 1));
  if (end_ == chunkBegin_) removeLastSegment()->release();
}

void RowBatch::copyRowsTo(RowBatch& other, std::span<const size_t> excluded) const {
  auto next = excluded.begin();
  forEachRow([&](size_t index, std::string_view bytes) {
    if (next != excluded.end() && *next == index) {
      ++next;
    } else {
      other.appendRow(bytes, originOf(index));
    }
  });
}

std::string_view RowBatch::takeRow(std::string_view& rest) {
  size_t size = 0;
  const char* data = readVarint(rest.data() + 1, &size);
  rest.remove_prefix(static_cast<size_t>(data - rest.data()) + size);
  return {data, size};
}

std::string_view RowBatch::row(size_t index) const {
  std::string_view found;
  forEachRow([&](size_t at, std::string_view bytes) {
    if (at == index) found = bytes;
  });
  return found;
}

// --- origins
// --------------------------------------------------------------------------------------

void RowBatch::beginOrigins(RowOrigin origin) {
  origins_.push_back({rowCount_, origin});
  nextOrigin_ = origin;
}

RowOrigin RowBatch::originOf(size_t index) const {
  auto run = std::upper_bound(
      origins_.begin(), origins_.end(), index,
      [](size_t row, const Origins& candidate) { return row < candidate.firstRow; });
  if (run == origins_.begin()) return RowOrigin::kUnknown;
  --run;
  return advanced(run->first, index - run->firstRow);
}

std::vector<RowBatch::Slice> RowBatch::slices() const {
  std::vector<Slice> result;
  result.reserve(segments_.size());
  forEachSlice([&](const Slice& slice) { result.push_back(slice); });
  return result;
}

}  // namespace penstock::connector
