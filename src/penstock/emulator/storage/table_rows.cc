#include "penstock/emulator/storage/table_rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>

#include "penstock/base/log.h"
#include "penstock/emulator/storage/crc32c.h"

namespace penstock::emulator {
namespace {

constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

/// The first rows of the segments whose files stand in `directory`, ascending.
absl::StatusOr<std::vector<uint64_t>> listSegments(const std::string& directory) {
  std::vector<uint64_t> firstRows;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  if (error == std::errc::no_such_file_or_directory) return firstRows;
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const uint64_t firstRow = name.size() > 5 ? std::strtoull(name.c_str() + 5, nullptr, 10) : 0;
    if (name == segmentName(firstRow)) firstRows.push_back(firstRow);
  }
  if (error) return fileError("list", directory, error.value());
  std::sort(firstRows.begin(), firstRows.end());
  return firstRows;
}

uint32_t checksumOf(std::span<const std::string_view> pieces, uint64_t& bytes) {
  uint32_t checksum = 0;
  bytes = 0;
  for (const std::string_view piece : pieces) {
    checksum = crc32c(piece, checksum);
    bytes += piece.size();
  }
  return checksum;
}

absl::Status damagedAt(const File& file, uint64_t offset) {
  return base::makeStatus(absl::StatusCode::kDataLoss, "{} is damaged at offset {}", file.path(),
                          offset);
}

/// The payload of the record at `offset`, if it is whole.
absl::StatusOr<std::string_view> payloadAt(SegmentReader& reader, const File& file, uint64_t offset,
                                           const RecordHeader& header) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string_view payload,
                            reader.bytesAt(offset + kRecordHeaderBytes, header.payloadBytes));
  if (payload.size() < header.payloadBytes || crc32c(payload) != header.payloadChecksum) {
    return damagedAt(file, offset);
  }
  return payload;
}

}  // namespace

std::string streamDirectory(const std::string& tableDirectory, StreamNumber stream) {
  return fmt::format("{}/streams/{:016x}", tableDirectory, stream);
}

/// Where a read stands.
struct TableRows::ReadProgress {
  uint64_t nextRow = 0;   ///< index in the table of the next row to visit
  uint64_t rowsLeft = 0;  ///< that may be visited
  uint64_t visited = 0;
  DescriptorStore& descriptors;
  const RowStore::RowVisitor& visitor;
};

uint64_t TableRows::rowCount() const { return lastStart_.firstRow + end_.rows; }

absl::Status TableRows::examine() {
  if (examined_) return absl::OkStatus();
  PENSTOCK_ASSIGN_OR_RETURN(firstRows_, listSegments(directory_));
  PENSTOCK_RETURN_IF_ERROR(recoverLastSegment());
  examined_ = true;
  return absl::OkStatus();
}

absl::Status TableRows::recoverLastSegment() {
  for (; !firstRows_.empty(); firstRows_.pop_back()) {
    const std::string path = pathOf(segmentName(firstRows_.back()));
    PENSTOCK_ASSIGN_OR_RETURN(File segment, File::openForWriting(path));
    std::string header(kSegmentHeaderBytes, '\0');
    PENSTOCK_ASSIGN_OR_RETURN(const size_t count, segment.readAt(0, header.data(), header.size()));
    PENSTOCK_ASSIGN_OR_RETURN(const uint64_t fileSize, segment.size());
    if (!decode(std::string_view(header).substr(0, count), lastStart_)) {
      if (fileSize > kSegmentHeaderBytes) {
        return base::makeStatus(absl::StatusCode::kDataLoss, "{} is damaged at its head", path);
      }
      std::filesystem::remove(path);  // the process was killed while it began this segment
      continue;
    }
    PENSTOCK_ASSIGN_OR_RETURN(end_, findEnd(segment, pathOf(indexName(firstRows_.back()))));
    if (end_.offset < fileSize) {
      base::logWarning("{}: cut {} bytes of an append that was never acknowledged", path,
                       fileSize - end_.offset);
      PENSTOCK_RETURN_IF_ERROR(segment.truncate(end_.offset));
    }
    indexedOffset_ =
        lookUpIndex(pathOf(indexName(firstRows_.back())), kWholeFile, end_.offset).offset;
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status TableRows::openForAppending() {
  if (firstRows_.empty() || end_.offset >= options_.segmentBytes) return startSegment();
  if (active_.isOpen()) return absl::OkStatus();
  PENSTOCK_ASSIGN_OR_RETURN(active_, File::openForWriting(pathOf(segmentName(firstRows_.back()))));
  return absl::OkStatus();
}

absl::Status TableRows::startSegment() {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return fileError("create", directory_, error.value());
  if (!firstRows_.empty()) extendIndex();  // so that the sealed segment's end is found at once
  const SegmentStart start{rowCount(), lastStart_.rowBytesBefore + end_.rowBytes};
  PENSTOCK_ASSIGN_OR_RETURN(File file, File::openForWriting(pathOf(segmentName(start.firstRow))));
  const std::string header = encode(start);
  PENSTOCK_RETURN_IF_ERROR(file.writeAt(0, std::array<std::string_view, 1>{header}));
  active_ = std::move(file);
  firstRows_.push_back(start.firstRow);
  lastStart_ = start;
  end_ = {kSegmentHeaderBytes, 0, 0};
  indexedOffset_ = kSegmentHeaderBytes;
  return absl::OkStatus();
}

void TableRows::extendIndex() {
  const std::string path = pathOf(indexName(firstRows_.back()));
  const std::string entry = encode(end_);
  absl::StatusOr<File> file = File::openForWriting(path);
  absl::Status written = file.status();
  if (written.ok()) {
    // A torn entry at the end is written over: what follows one is never read.
    const absl::StatusOr<uint64_t> size = file->size();
    const uint64_t offset = size.ok() ? *size / kIndexEntryBytes * kIndexEntryBytes : 0;
    written = file->writeAt(offset, std::array<std::string_view, 1>{entry});
  }
  // Without the entry, readers walk further: nothing is lost.
  if (!written.ok()) base::logWarning("{}", base::messageOf(written));
  indexedOffset_ = end_.offset;
}

absl::Status TableRows::append(const DescriptorHash& descriptor, const FramedRows& rows,
                               StreamNumber stream, const Prepare& prepare) {
  RecordHeader header;
  header.rowCount = rows.rowCount;
  header.rowBytes = rows.rowBytes;
  header.descriptor = descriptor;
  header.stream = stream;
  std::vector<std::string_view> pieces;
  pieces.reserve(rows.pieces.size() + 1);
  pieces.emplace_back();
  pieces.insert(pieces.end(), rows.pieces.begin(), rows.pieces.end());
  return write(header, std::move(pieces), prepare);
}

absl::Status TableRows::appendReferences(std::span<const RowReference> references,
                                         uint64_t rowBytes, const Prepare& prepare) {
  RecordHeader header;
  header.kind = RecordHeader::Kind::kReferences;
  header.rowBytes = rowBytes;
  for (const RowReference& reference : references) header.rowCount += reference.rowCount;
  const std::string payload = encode(references);
  return write(header, {{}, payload}, prepare);
}

/// `pieces` has the payload from its second entry on; the first becomes the header.
absl::Status TableRows::write(RecordHeader& header, std::vector<std::string_view> pieces,
                              const Prepare& prepare) {
  uint64_t payloadBytes = 0;
  header.payloadChecksum = checksumOf(std::span(pieces).subspan(1), payloadBytes);
  if (payloadBytes > std::numeric_limits<uint32_t>::max()) {
    return base::invalidArgument("an append of {} bytes is too large", payloadBytes);
  }
  header.payloadBytes = static_cast<uint32_t>(payloadBytes);
  const std::string headerBytes = encode(header);
  pieces.front() = headerBytes;

  const base::MutexLock lock(mutex_);
  if (dropped_) return base::makeStatus(absl::StatusCode::kNotFound, "the table was dropped");
  PENSTOCK_RETURN_IF_ERROR(examine());
  PENSTOCK_RETURN_IF_ERROR(openForAppending());
  if (prepare != nullptr) PENSTOCK_RETURN_IF_ERROR(prepare(rowCount()));
  absl::Status written = active_.writeAt(end_.offset, pieces);
  if (!written.ok()) {
    // The next append overwrites what stands there; the cut only keeps the file tidy meanwhile.
    active_.truncate(end_.offset).IgnoreError();
    return written;
  }
  end_.offset += kRecordHeaderBytes + payloadBytes;
  end_.rows += header.rowCount;
  end_.rowBytes += header.rowBytes;
  if (end_.offset - indexedOffset_ >= options_.indexInterval) extendIndex();
  return absl::OkStatus();
}

absl::StatusOr<TableSize> TableRows::size() {
  const base::MutexLock lock(mutex_);
  if (dropped_) return TableSize{};
  PENSTOCK_RETURN_IF_ERROR(examine());
  return TableSize{rowCount(), lastStart_.rowBytesBefore + end_.rowBytes};
}

void TableRows::closeFiles() {
  const base::MutexLock lock(mutex_);
  active_.close();
}

absl::Status TableRows::drop() {
  const base::MutexLock lock(mutex_);
  dropped_ = true;
  active_.close();
  firstRows_.clear();
  std::error_code error;
  std::filesystem::remove_all(directory_, error);
  if (error) return fileError("remove", directory_, error.value());
  return absl::OkStatus();
}

absl::StatusOr<TableRows::Snapshot> TableRows::snapshot(uint64_t startRow) {
  const base::MutexLock lock(mutex_);
  if (dropped_) return Snapshot{};
  PENSTOCK_RETURN_IF_ERROR(examine());
  Snapshot snapshot;
  if (firstRows_.empty() || startRow >= rowCount()) return snapshot;
  const auto after = std::upper_bound(firstRows_.begin(), firstRows_.end(), startRow);
  snapshot.firstRows.assign(after - 1, firstRows_.end());
  snapshot.endRow = rowCount();
  snapshot.endOffset = end_.offset;
  return snapshot;
}

absl::StatusOr<uint64_t> TableRows::read(uint64_t startRow, uint64_t maxRows,
                                         DescriptorStore& descriptors,
                                         const RowStore::RowVisitor& visitor) {
  PENSTOCK_ASSIGN_OR_RETURN(const Snapshot view, snapshot(startRow));
  ReadProgress progress{startRow, maxRows, 0, descriptors, visitor};
  const absl::Status status = readSegments(directory_, view, progress);
  if (status.code() == absl::StatusCode::kNotFound) {
    const base::MutexLock lock(mutex_);
    if (dropped_) return progress.visited;
  }
  PENSTOCK_RETURN_IF_ERROR(status);
  return progress.visited;
}

absl::Status TableRows::readSegments(const std::string& directory, const Snapshot& view,
                                     ReadProgress& progress) {
  for (size_t index = 0; index < view.firstRows.size() && progress.rowsLeft > 0; ++index) {
    const bool last = index + 1 == view.firstRows.size();
    PENSTOCK_RETURN_IF_ERROR(readSegment(directory, view.firstRows[index],
                                         last ? view.endRow : view.firstRows[index + 1],
                                         last ? view.endOffset : kWholeFile, progress));
  }
  return absl::OkStatus();
}

absl::Status TableRows::readSegment(const std::string& directory, uint64_t firstRow,
                                    uint64_t endRow, uint64_t endOffset, ReadProgress& progress) {
  PENSTOCK_ASSIGN_OR_RETURN(const File file,
                            File::openForReading(directory + "/" + segmentName(firstRow)));
  SegmentPosition at =
      lookUpIndex(directory + "/" + indexName(firstRow), progress.nextRow - firstRow, endOffset);
  SegmentReader reader(file);
  while (progress.rowsLeft > 0 && progress.nextRow < endRow) {
    RecordHeader header;
    PENSTOCK_ASSIGN_OR_RETURN(const std::string_view headerBytes,
                              reader.bytesAt(at.offset, kRecordHeaderBytes));
    if (!decode(headerBytes, header)) return damagedAt(file, at.offset);
    if (firstRow + at.rows + header.rowCount > progress.nextRow) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::string_view payload,
                                payloadAt(reader, file, at.offset, header));
      PENSTOCK_RETURN_IF_ERROR(
          readRecord(directory, header, payload, firstRow + at.rows, progress));
    }
    at.offset += kRecordHeaderBytes + header.payloadBytes;
    at.rows += header.rowCount;
  }
  return absl::OkStatus();
}

absl::Status TableRows::readRecord(const std::string& directory, const RecordHeader& header,
                                   std::string_view payload, uint64_t recordFirst,
                                   ReadProgress& progress) {
  if (header.kind == RecordHeader::Kind::kReferences) {
    return readReferences(directory, payload, progress.nextRow - recordFirst, progress);
  }
  PENSTOCK_ASSIGN_OR_RETURN(const RowDescriptorPtr descriptor,
                            progress.descriptors.find(header.descriptor));
  uint64_t row = recordFirst;
  return visitFramedRows(payload, [&](std::string_view bytes) {
    if (row++ < progress.nextRow || progress.rowsLeft == 0) return absl::OkStatus();
    ++progress.nextRow;
    --progress.rowsLeft;
    ++progress.visited;
    return progress.visitor(bytes, descriptor);
  });
}

/// Rows that a table refers to are whole and never change, so that they are read beside whoever
/// appends to their stream.
absl::Status TableRows::readReferences(const std::string& directory, std::string_view payload,
                                       uint64_t skip, ReadProgress& progress) {
  for (const RowReference& reference : decodeReferences(payload)) {
    if (progress.rowsLeft == 0) break;
    if (skip >= reference.rowCount) {
      skip -= reference.rowCount;
      continue;
    }
    const std::string source = streamDirectory(directory, reference.stream);
    const uint64_t from = reference.firstRow + skip;
    ReadProgress inner{from, std::min(progress.rowsLeft, reference.rowCount - skip), 0,
                       progress.descriptors, progress.visitor};
    Snapshot view;
    PENSTOCK_ASSIGN_OR_RETURN(view.firstRows, listSegments(source));
    if (view.firstRows.empty()) {
      return base::makeStatus(absl::StatusCode::kNotFound, "the rows in {} are missing", source);
    }
    view.firstRows.erase(view.firstRows.begin(),
                         std::upper_bound(view.firstRows.begin(), view.firstRows.end(), from) - 1);
    view.endRow = reference.firstRow + reference.rowCount;
    view.endOffset = kWholeFile;
    const absl::Status status = readSegments(source, view, inner);
    progress.nextRow += inner.visited;
    progress.rowsLeft -= inner.visited;
    progress.visited += inner.visited;
    PENSTOCK_RETURN_IF_ERROR(status);
    skip = 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<TableRows::FoundRecord> TableRows::find(uint64_t row) {
  PENSTOCK_ASSIGN_OR_RETURN(const Snapshot view, snapshot(row));
  if (view.firstRows.empty()) {
    return base::makeStatus(absl::StatusCode::kOutOfRange, "{} has no row {}", directory_, row);
  }
  const uint64_t segmentRow = view.firstRows.front();
  const uint64_t endOffset = view.firstRows.size() == 1 ? view.endOffset : kWholeFile;
  PENSTOCK_ASSIGN_OR_RETURN(const File file, File::openForReading(pathOf(segmentName(segmentRow))));
  SegmentReader reader(file);
  PENSTOCK_ASSIGN_OR_RETURN(const std::string_view startBytes,
                            reader.bytesAt(0, kSegmentHeaderBytes));
  SegmentStart start;
  if (!decode(startBytes, start)) return damagedAt(file, 0);
  SegmentPosition at = lookUpIndex(pathOf(indexName(segmentRow)), row - segmentRow, endOffset);
  FoundRecord found;
  for (;;) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string_view headerBytes,
                              reader.bytesAt(at.offset, kRecordHeaderBytes));
    if (!decode(headerBytes, found.header)) return damagedAt(file, at.offset);
    if (segmentRow + at.rows + found.header.rowCount > row) break;
    at.offset += kRecordHeaderBytes + found.header.payloadBytes;
    at.rows += found.header.rowCount;
    at.rowBytes += found.header.rowBytes;
  }
  PENSTOCK_ASSIGN_OR_RETURN(found.payload, payloadAt(reader, file, at.offset, found.header));
  found.firstRow = segmentRow + at.rows;
  found.rowBytesBefore = start.rowBytesBefore + at.rowBytes;
  return found;
}

absl::StatusOr<uint64_t> TableRows::bytesBefore(uint64_t row) {
  PENSTOCK_ASSIGN_OR_RETURN(const TableSize whole, size());
  if (row >= whole.rows) return whole.bytes;
  PENSTOCK_ASSIGN_OR_RETURN(const FoundRecord found, find(row));
  uint64_t bytes = found.rowBytesBefore;
  uint64_t index = found.firstRow;
  PENSTOCK_RETURN_IF_ERROR(visitFramedRows(found.payload, [&](std::string_view stored) {
    if (index++ < row) bytes += stored.size();
    return absl::OkStatus();
  }));
  return bytes;
}

absl::StatusOr<bool> TableRows::belongsTo(StreamNumber stream, uint64_t firstRow) {
  PENSTOCK_ASSIGN_OR_RETURN(const TableSize whole, size());
  if (firstRow >= whole.rows) return false;
  PENSTOCK_ASSIGN_OR_RETURN(const FoundRecord found, find(firstRow));
  if (found.firstRow != firstRow) return false;
  if (found.header.kind == RecordHeader::Kind::kRows) return found.header.stream == stream;
  const std::vector<RowReference> references = decodeReferences(found.payload);
  return std::any_of(references.begin(), references.end(),
                     [&](const RowReference& reference) { return reference.stream == stream; });
}

}  // namespace penstock::emulator
