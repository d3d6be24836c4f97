#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/emulator/storage/descriptor_store.h"
#include "penstock/emulator/storage/file.h"
#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/storage/segment.h"

namespace penstock::emulator {

/// Rows in one folder of segments, a table's or those of a stream that keeps its rows apart: the
/// list of segments and the end of the last one. Its files are examined when it is first used. A
/// table may hold references to the rows of its streams, which lie in `streams/<id>/` below it.
/// Thread-safe: appends wait for each other, reads for nobody.
class TableRows {
 public:
  TableRows(std::string directory, const RowStoreOptions& options)
      : directory_(std::move(directory)), options_(options) {}

  /// Called with the index that a record's first row is about to get, before the record is written
  /// and with no other append in between; nothing is written when it fails.
  using Prepare = std::function<absl::Status(uint64_t firstRow)>;

  /// `stream`: the COMMITTED stream by which the rows come, 0 = none.
  absl::Status append(const DescriptorHash& descriptor, const FramedRows& rows,
                      StreamNumber stream = 0, const Prepare& prepare = nullptr);
  /// Makes rows of the table's streams the table's own, all or none; there is at least one row.
  /// `rowBytes`: of all of them.
  absl::Status appendReferences(std::span<const RowReference> references, uint64_t rowBytes,
                                const Prepare& prepare);
  absl::StatusOr<uint64_t> read(uint64_t startRow, uint64_t maxRows, DescriptorStore& descriptors,
                                const RowStore::RowVisitor& visitor);
  absl::StatusOr<TableSize> size();
  /// The bytes of the rows in front of `row`, which is not past the end.
  absl::StatusOr<uint64_t> bytesBefore(uint64_t row);
  /// Whether the record that begins with the row of this index holds or refers to rows of `stream`.
  absl::StatusOr<bool> belongsTo(StreamNumber stream, uint64_t firstRow);

  /// Lets go of the file that is open for appending; the next append opens it again.
  void closeFiles();
  /// Removes the files; later calls see an empty table and refuse to append.
  absl::Status drop();

  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  /// What a reader needs: everything up to here is whole and never changes.
  struct Snapshot {
    std::vector<uint64_t> firstRows;  ///< of the segments from the one that holds the start row on
    uint64_t endRow = 0;
    uint64_t endOffset = 0;  ///< of the last segment
  };
  struct ReadProgress;
  /// A record and where it lies.
  struct FoundRecord {
    RecordHeader header;
    uint64_t firstRow = 0;  ///< index in the table
    uint64_t rowBytesBefore = 0;
    std::string payload;
  };

  absl::Status examine() PENSTOCK_REQUIRES(mutex_);
  absl::Status recoverLastSegment() PENSTOCK_REQUIRES(mutex_);
  absl::Status openForAppending() PENSTOCK_REQUIRES(mutex_);
  absl::Status write(RecordHeader& header, std::vector<std::string_view> pieces,
                     const Prepare& prepare);
  absl::Status startSegment() PENSTOCK_REQUIRES(mutex_);
  void extendIndex() PENSTOCK_REQUIRES(mutex_);
  absl::StatusOr<Snapshot> snapshot(uint64_t startRow);
  absl::StatusOr<FoundRecord> find(uint64_t row);
  static absl::Status readSegments(const std::string& directory, const Snapshot& view,
                                   ReadProgress& progress);
  static absl::Status readSegment(const std::string& directory, uint64_t firstRow, uint64_t endRow,
                                  uint64_t endOffset, ReadProgress& progress);
  static absl::Status readRecord(const std::string& directory, const RecordHeader& header,
                                 std::string_view payload, uint64_t recordFirst,
                                 ReadProgress& progress);
  static absl::Status readReferences(const std::string& directory, std::string_view payload,
                                     uint64_t skip, ReadProgress& progress);
  [[nodiscard]] std::string pathOf(const std::string& name) const {
    return directory_ + "/" + name;
  }
  [[nodiscard]] uint64_t rowCount() const PENSTOCK_REQUIRES(mutex_);

  const std::string directory_;
  const RowStoreOptions& options_;

  base::Mutex mutex_;
  bool examined_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool dropped_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::vector<uint64_t> firstRows_ PENSTOCK_GUARDED_BY(mutex_);  ///< of each segment, ascending
  SegmentStart lastStart_ PENSTOCK_GUARDED_BY(mutex_);
  SegmentPosition end_ PENSTOCK_GUARDED_BY(mutex_);  ///< of the last segment
  uint64_t indexedOffset_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  File active_ PENSTOCK_GUARDED_BY(mutex_);  ///< the last segment while it is open for appending
};

/// The folder, below a table's, of a stream's rows and state.
[[nodiscard]] std::string streamDirectory(const std::string& tableDirectory, StreamNumber stream);

}  // namespace penstock::emulator
