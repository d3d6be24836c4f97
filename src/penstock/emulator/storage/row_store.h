#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// Names the rows of one table for the table's whole life. The catalog assigns it when the table is
/// created and never uses it again, so that a table created anew under an old name starts empty.
using StoredTableId = uint64_t;

/// How the bytes of a row are read: a serialized google.protobuf.DescriptorProto, kept once per
/// data directory whatever number of appends used it.
struct RowDescriptor {
  std::string id;     ///< 32 hex digits of a hash of `bytes`: equal ids mean equal bytes
  std::string bytes;  ///< serialized DescriptorProto
};
using RowDescriptorPtr = std::shared_ptr<const RowDescriptor>;

/// Rows as they travel in AppendRowsRequest.proto_rows.rows: for each the tag 0x0A, its length as a
/// varint and its bytes. The pieces are read as if they stood one after another.
struct FramedRows {
  std::span<const std::string_view> pieces;
  uint64_t rowCount = 0;
  uint64_t rowBytes = 0;  ///< of the rows alone, without tags and lengths
};

/// What a table holds.
struct TableSize {
  uint64_t rows = 0;
  uint64_t bytes = 0;  ///< of the rows in wire form, without their framing
};

/// Frames rows one by one, for callers whose rows did not arrive framed.
class RowFramer {
 public:
  void add(std::string_view row);
  /// Valid until the next call of add() or the end of the framer.
  [[nodiscard]] FramedRows rows();

 private:
  std::string buffer_;
  std::string_view piece_;
  uint64_t rowCount_ = 0;
  uint64_t rowBytes_ = 0;
};

class WriteStream;
using WriteStreamPtr = std::shared_ptr<WriteStream>;
enum class StreamType : uint8_t;

struct RowStoreOptions {
  uint64_t segmentBytes = 64ull << 20;  ///< a segment file is sealed once it has this size
  uint64_t indexInterval = 256 << 10;   ///< bytes of a segment between two entries of its index
  size_t maxOpenTables = 128;           ///< tables whose files are kept open for appending
};

/// The rows of all tables of a data directory, in append-only segment files; nothing but counts and
/// file positions is in memory.
///
/// A table also has streams (WriteStream), whose rows are the table's at once, when they are
/// flushed, or when the streams are committed; only those count below.
///
/// append() writes one record (header, checksum, rows) to the file system before it returns and
/// never calls fsync: after a kill of the process every append that returned OK is there whole, and
/// another is there whole or not at all, since a torn record at a table's end is cut when the table
/// is first used. The loss of power is not covered.
///
/// Thread-safe. A table's files are opened when it is first used: opening a store costs the same
/// whatever it holds. Errors: kResourceExhausted (disk full), kDataLoss (a record that is not whole
/// in front of the table's end), kInternal (other failures of the file system); the message names
/// the file.
class RowStore {
 public:
  /// Takes what stands in `directory` (created if missing); the caller holds the directory's lock.
  static absl::StatusOr<std::unique_ptr<RowStore>> open(const std::string& directory,
                                                        const RowStoreOptions& options = {});
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  /// The stored descriptor with these bytes; written to the directory when it is new.
  absl::StatusOr<RowDescriptorPtr> internDescriptor(std::string_view serialized);

  /// Adds rows at the end of a table, all or none. A table that was never appended to needs no
  /// creation.
  absl::Status append(StoredTableId table, const RowDescriptor& descriptor, const FramedRows& rows);

  /// Makes a stream of a table; `createdMicros` since the Unix epoch.
  absl::StatusOr<WriteStreamPtr> createStream(StoredTableId table, StreamType type,
                                              int64_t createdMicros);
  /// The table's stream with this id (WriteStream::id()); STREAM_NOT_FOUND as streamError() when
  /// there is none.
  absl::StatusOr<WriteStreamPtr> findStream(StoredTableId table, std::string_view id);
  /// Adds rows to a stream, all or none, and gives the offset of the first; see WriteStream.
  absl::StatusOr<uint64_t> append(WriteStream& stream, std::optional<int64_t> offset,
                                  const RowDescriptor& descriptor, const FramedRows& rows);
  /// Makes the rows of PENDING streams of one table visible at once; see WriteStream::commit().
  absl::StatusOr<std::vector<absl::Status>> commitStreams(
      StoredTableId table, const std::vector<WriteStreamPtr>& streams, int64_t committedMicros);

  /// Sees one row; both arguments are valid during the call only. A status that is not OK ends the
  /// read and is returned from it.
  using RowVisitor = std::function<absl::Status(std::string_view row, const RowDescriptorPtr&)>;

  /// Visits up to `maxRows` rows from the row with index `startRow` (from 0) on, in the order of
  /// their appends, and returns how many; none at or past the end. Rows appended meanwhile may be
  /// left out.
  absl::StatusOr<uint64_t> read(StoredTableId table, uint64_t startRow, uint64_t maxRows,
                                const RowVisitor& visitor);

  /// O(1) once the table was used.
  absl::StatusOr<TableSize> size(StoredTableId table);

  /// Removes a table's rows, streams and files. Reads that are under way end normally.
  absl::Status drop(StoredTableId table);

  /// Tables that have files, in no order: what a catalog compares with its own list after a crash
  /// between the removal of a table and that of its rows.
  [[nodiscard]] absl::StatusOr<std::vector<StoredTableId>> storedTables() const;

 private:
  class Impl;
  explicit RowStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::emulator
