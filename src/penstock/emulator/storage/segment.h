#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/emulator/storage/file.h"
#include "penstock/emulator/storage/row_store.h"

/// The files of one table's rows. A segment file (`rows-<index of its first row>.seg`) is a header
/// and records; its sidecar (`.idx`) holds a position of every few hundred KiB, so that neither
/// opening a table nor reading from its middle needs to walk a whole segment. The sidecar is a
/// hint: what it lacks is found by walking. All numbers are little-endian.
namespace penstock::emulator {

using DescriptorHash = std::array<uint8_t, 16>;

/// A place between two records.
struct SegmentPosition {
  uint64_t offset = 0;    ///< in the file
  uint64_t rows = 0;      ///< of the segment in front of it
  uint64_t rowBytes = 0;  ///< of the segment in front of it
};

/// What the header of a segment file says.
struct SegmentStart {
  uint64_t firstRow = 0;        ///< index in the table
  uint64_t rowBytesBefore = 0;  ///< of the table in front of the segment
};

/// Names a created stream within a data directory; 0 = none, as for the default stream's rows.
using StreamNumber = uint64_t;

/// In front of each record's payload.
struct RecordHeader {
  enum class Kind : uint8_t {
    kRows,        ///< the payload is framed rows
    kReferences,  ///< the payload is RowReferences: rows of streams that became the table's here
  };
  Kind kind = Kind::kRows;
  uint32_t payloadBytes = 0;
  uint64_t rowCount = 0;  ///< below 2^32 in a record of rows, as is rowBytes
  uint64_t rowBytes = 0;
  uint32_t payloadChecksum = 0;
  DescriptorHash descriptor{};  ///< of kRows
  StreamNumber stream = 0;      ///< of kRows: the COMMITTED stream that the rows came by
};

/// Rows of a stream's own segments, by their offsets in the stream.
struct RowReference {
  StreamNumber stream = 0;
  uint64_t firstRow = 0;
  uint64_t rowCount = 0;
};

inline constexpr uint64_t kSegmentHeaderBytes = 32;
inline constexpr uint64_t kRecordHeaderBytes = 48;
inline constexpr uint64_t kIndexEntryBytes = 32;
inline constexpr uint64_t kRowReferenceBytes = 24;

[[nodiscard]] std::string segmentName(uint64_t firstRow);
[[nodiscard]] std::string indexName(uint64_t firstRow);

[[nodiscard]] std::string encode(const SegmentStart& start);
[[nodiscard]] std::string encode(const RecordHeader& header);
[[nodiscard]] std::string encode(const SegmentPosition& position);
[[nodiscard]] std::string encode(std::span<const RowReference> references);

/// False when the bytes are not whole: too few, or a checksum that does not match.
[[nodiscard]] bool decode(std::string_view bytes, SegmentStart& start);
[[nodiscard]] bool decode(std::string_view bytes, RecordHeader& header);
[[nodiscard]] bool decode(std::string_view bytes, SegmentPosition& position);
/// The payload of a record of references, whose checksum was right.
[[nodiscard]] std::vector<RowReference> decodeReferences(std::string_view payload);

/// Reads a segment in the order of its records through a window of a bounded size.
class SegmentReader {
 public:
  explicit SegmentReader(const File& file) : file_(file) {}

  /// Up to `size` bytes at `offset`, fewer only at the file's end; valid until the next call.
  absl::StatusOr<std::string_view> bytesAt(uint64_t offset, uint64_t size);

 private:
  const File& file_;
  std::string window_;
  uint64_t windowOffset_ = 0;
};

/// The last position of the sidecar at `path` whose row index is not past `row` and whose offset
/// not past `end`; the segment's start when there is none or no sidecar.
[[nodiscard]] SegmentPosition lookUpIndex(const std::string& path, uint64_t row, uint64_t end);

/// Where the whole records of a segment end, starting the walk at the sidecar's last position.
/// kDataLoss when a damaged record is followed by further bytes, which a kill cannot leave behind.
[[nodiscard]] absl::StatusOr<SegmentPosition> findEnd(const File& segment,
                                                      const std::string& indexPath);

/// Splits framed rows; stops early when `visit` returns a status that is not OK. kDataLoss when the
/// bytes are not framed rows.
[[nodiscard]] absl::Status visitFramedRows(
    std::string_view framed, const std::function<absl::Status(std::string_view row)>& visit);

}  // namespace penstock::emulator
