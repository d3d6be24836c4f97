#include "penstock/emulator/storage/segment.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "penstock/emulator/storage/crc32c.h"

namespace penstock::emulator {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian and written as they stand in memory");

constexpr uint32_t kSegmentMagic = 0x47535350;     // "PSSG"
constexpr uint32_t kRecordMagic = 0x43525350;      // "PSRC"
constexpr uint32_t kReferencesMagic = 0x46525350;  // "PSRF"
constexpr uint32_t kIndexMagic = 0x58495350;       // "PSIX"
constexpr uint64_t kWindowBytes = 128 << 10;
constexpr char kRowTag = 0x0A;

template <typename Number>
void put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
Number get(std::string_view bytes, size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// Every block ends in the checksum of what stands before it and begins with a word that names its
// kind.
std::string sealed(std::string bytes, uint64_t size) {
  bytes.resize(size - sizeof(uint32_t));
  put(bytes, crc32c(bytes));
  return bytes;
}

bool isSealed(std::string_view bytes, uint64_t size, uint32_t magic) {
  if (bytes.size() < size || get<uint32_t>(bytes, 0) != magic) return false;
  const size_t covered = size - sizeof(uint32_t);
  return get<uint32_t>(bytes, covered) == crc32c(bytes.substr(0, covered));
}

}  // namespace

std::string segmentName(uint64_t firstRow) { return fmt::format("rows-{:020}.seg", firstRow); }
std::string indexName(uint64_t firstRow) { return fmt::format("rows-{:020}.idx", firstRow); }

std::string encode(const SegmentStart& start) {
  std::string bytes;
  put(bytes, kSegmentMagic);
  put(bytes, uint32_t{0});
  put(bytes, start.firstRow);
  put(bytes, start.rowBytesBefore);
  return sealed(std::move(bytes), kSegmentHeaderBytes);
}

bool decode(std::string_view bytes, SegmentStart& start) {
  if (!isSealed(bytes, kSegmentHeaderBytes, kSegmentMagic)) return false;
  start = {get<uint64_t>(bytes, 8), get<uint64_t>(bytes, 16)};
  return true;
}

std::string encode(const RecordHeader& header) {
  std::string bytes;
  if (header.kind == RecordHeader::Kind::kReferences) {
    put(bytes, kReferencesMagic);
    put(bytes, header.payloadBytes);
    put(bytes, header.rowCount);
    put(bytes, header.payloadChecksum);
    put(bytes, header.rowBytes);
    return sealed(std::move(bytes), kRecordHeaderBytes);
  }
  put(bytes, kRecordMagic);
  put(bytes, header.payloadBytes);
  put(bytes, static_cast<uint32_t>(header.rowCount));
  put(bytes, static_cast<uint32_t>(header.rowBytes));
  put(bytes, header.payloadChecksum);
  bytes.append(reinterpret_cast<const char*>(header.descriptor.data()), header.descriptor.size());
  put(bytes, header.stream);
  return sealed(std::move(bytes), kRecordHeaderBytes);
}

bool decode(std::string_view bytes, RecordHeader& header) {
  header = {};
  if (isSealed(bytes, kRecordHeaderBytes, kReferencesMagic)) {
    header.kind = RecordHeader::Kind::kReferences;
    header.payloadBytes = get<uint32_t>(bytes, 4);
    header.rowCount = get<uint64_t>(bytes, 8);
    header.payloadChecksum = get<uint32_t>(bytes, 16);
    header.rowBytes = get<uint64_t>(bytes, 20);
    return true;
  }
  if (!isSealed(bytes, kRecordHeaderBytes, kRecordMagic)) return false;
  header.payloadBytes = get<uint32_t>(bytes, 4);
  header.rowCount = get<uint32_t>(bytes, 8);
  header.rowBytes = get<uint32_t>(bytes, 12);
  header.payloadChecksum = get<uint32_t>(bytes, 16);
  std::memcpy(header.descriptor.data(), bytes.data() + 20, header.descriptor.size());
  header.stream = get<StreamNumber>(bytes, 36);
  return true;
}

std::string encode(std::span<const RowReference> references) {
  std::string bytes;
  for (const RowReference& reference : references) {
    put(bytes, reference.stream);
    put(bytes, reference.firstRow);
    put(bytes, reference.rowCount);
  }
  return bytes;
}

std::vector<RowReference> decodeReferences(std::string_view payload) {
  std::vector<RowReference> references(payload.size() / kRowReferenceBytes);
  for (size_t index = 0; index < references.size(); ++index) {
    const std::string_view bytes = payload.substr(index * kRowReferenceBytes);
    references[index] = {get<StreamNumber>(bytes, 0), get<uint64_t>(bytes, 8),
                         get<uint64_t>(bytes, 16)};
  }
  return references;
}

std::string encode(const SegmentPosition& position) {
  std::string bytes;
  put(bytes, kIndexMagic);
  put(bytes, position.offset);
  put(bytes, position.rows);
  put(bytes, position.rowBytes);
  return sealed(std::move(bytes), kIndexEntryBytes);
}

bool decode(std::string_view bytes, SegmentPosition& position) {
  if (!isSealed(bytes, kIndexEntryBytes, kIndexMagic)) return false;
  position = {get<uint64_t>(bytes, 4), get<uint64_t>(bytes, 12), get<uint64_t>(bytes, 20)};
  return true;
}

absl::StatusOr<std::string_view> SegmentReader::bytesAt(uint64_t offset, uint64_t size) {
  const uint64_t windowEnd = windowOffset_ + window_.size();
  if (offset < windowOffset_ || offset + size > windowEnd) {
    window_.resize(std::max(size, kWindowBytes));
    PENSTOCK_ASSIGN_OR_RETURN(const size_t count,
                              file_.readAt(offset, window_.data(), window_.size()));
    window_.resize(count);
    windowOffset_ = offset;
  }
  return std::string_view(window_).substr(offset - windowOffset_, size);
}

SegmentPosition lookUpIndex(const std::string& path, uint64_t row, uint64_t end) {
  SegmentPosition best{kSegmentHeaderBytes, 0, 0};
  const absl::StatusOr<std::string> content = readWholeFile(path);
  if (!content.ok()) return best;
  std::string_view left = *content;
  SegmentPosition position;
  while (decode(left, position) && position.rows <= row && position.offset <= end) {
    best = position;
    left.remove_prefix(kIndexEntryBytes);
  }
  return best;
}

absl::StatusOr<SegmentPosition> findEnd(const File& segment, const std::string& indexPath) {
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t fileSize, segment.size());
  SegmentPosition end = lookUpIndex(indexPath, UINT64_MAX, fileSize);
  SegmentReader reader(segment);
  while (end.offset < fileSize) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string_view headerBytes,
                              reader.bytesAt(end.offset, kRecordHeaderBytes));
    RecordHeader header;
    if (!decode(headerBytes, header)) break;
    const uint64_t payloadOffset = end.offset + kRecordHeaderBytes;
    PENSTOCK_ASSIGN_OR_RETURN(const std::string_view payload,
                              reader.bytesAt(payloadOffset, header.payloadBytes));
    if (payload.size() < header.payloadBytes) break;
    if (crc32c(payload) != header.payloadChecksum) {
      if (payloadOffset + header.payloadBytes == fileSize) break;
      return base::makeStatus(absl::StatusCode::kDataLoss,
                              "{} is damaged at offset {}: the checksum of a record does not match",
                              segment.path(), end.offset);
    }
    end.offset = payloadOffset + header.payloadBytes;
    end.rows += header.rowCount;
    end.rowBytes += header.rowBytes;
  }
  return end;
}

absl::Status visitFramedRows(std::string_view framed,
                             const std::function<absl::Status(std::string_view row)>& visit) {
  absl::Status damaged = absl::DataLossError("the stored rows are not framed");
  while (!framed.empty()) {
    if (framed.front() != kRowTag) return damaged;
    uint64_t length = 0;
    size_t at = 1;
    for (int shift = 0;; shift += 7) {
      if (at >= framed.size() || shift > 28) return damaged;
      const auto byte = static_cast<uint8_t>(framed[at++]);
      length |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    if (framed.size() - at < length) return damaged;
    PENSTOCK_RETURN_IF_ERROR(visit(framed.substr(at, length)));
    framed.remove_prefix(at + length);
  }
  return absl::OkStatus();
}

}  // namespace penstock::emulator
