#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/emulator/storage/stream_error.h"
#include "penstock/emulator/storage/stream_state.h"
#include "penstock/emulator/storage/table_rows.h"

namespace penstock::emulator {

/// A stream as it is at one moment.
struct StreamView {
  StreamType type = StreamType::kCommitted;
  int64_t createdMicros = 0;  ///< since the Unix epoch
  uint64_t rows = 0;          ///< appended, so the offset of the next row
  uint64_t visibleRows = 0;   ///< that the table shows
  bool finalized = false;
  bool committed = false;       ///< PENDING only
  int64_t committedMicros = 0;  ///< since the Unix epoch
};

/// A stream made by CreateWriteStream: its rules (which calls its type takes, offsets, flush
/// cursor, finalize, commit) and what a restart needs of it. Rows of PENDING and BUFFERED streams
/// lie in segments of their own until the table refers to them; those of COMMITTED streams go to
/// the table's. Every call that returned OK outlasts a kill of the process.
///
/// Thread-safe. Errors: those of streamError(), and those of RowStore.
class WriteStream {
 public:
  /// `table`: the rows of the stream's table. The stream's files are read when it is first used.
  WriteStream(std::shared_ptr<TableRows> table, StreamNumber number,
              const RowStoreOptions& options);

  /// Makes the files of a new stream.
  static absl::Status create(const TableRows& table, StreamNumber number, StreamType type,
                             int64_t createdMicros);

  [[nodiscard]] StreamNumber number() const { return number_; }
  /// What stands behind `streams/` in the stream's name.
  [[nodiscard]] std::string id() const;
  /// The number of a stream with this id; nothing when no stream has such an id.
  [[nodiscard]] static std::optional<StreamNumber> numberOf(std::string_view id);

  absl::StatusOr<StreamView> view();

  /// Whether an append at `offset` (unset = at the end) could be taken now.
  absl::Status checkAppend(std::optional<int64_t> offset);
  /// Adds rows and gives the offset of the first.
  absl::StatusOr<uint64_t> append(std::optional<int64_t> offset, const DescriptorHash& descriptor,
                                  const FramedRows& rows);
  /// Ends the stream; the number of its rows. A finalized stream stays as it is.
  absl::StatusOr<uint64_t> finalize();
  /// Makes the rows up to the one with this offset visible.
  absl::Status flush(int64_t offset);

  /// Makes the rows of all of these streams of one table visible at once. When any cannot be
  /// committed nothing happens, and each that cannot has its error in the result, in their order.
  static absl::StatusOr<std::vector<absl::Status>> commit(
      TableRows& table, const std::vector<std::shared_ptr<WriteStream>>& streams,
      int64_t committedMicros);

  /// Whether commit() could take the stream now.
  absl::Status checkCommit();

  /// The table is gone: later calls fail.
  absl::Status drop();
  /// The segments that appends of this stream write to.
  absl::StatusOr<std::shared_ptr<TableRows>> writtenRows();

 private:
  absl::Status load() PENSTOCK_REQUIRES(mutex_);
  absl::StatusOr<uint64_t> rowCount() PENSTOCK_REQUIRES(mutex_);
  absl::Status checkAppend(std::optional<int64_t> offset, uint64_t end) const
      PENSTOCK_REQUIRES(mutex_);
  absl::Status checkFlush(int64_t offset, uint64_t end) const PENSTOCK_REQUIRES(mutex_);
  absl::Status checkCommittable() const PENSTOCK_REQUIRES(mutex_);
  absl::Status appendVisibly(const DescriptorHash& descriptor, const FramedRows& rows)
      PENSTOCK_REQUIRES(mutex_);

  /// One stream on its way through commit(): nobody else writes its state meanwhile.
  struct Commit {
    absl::Status problem;
    RowReference rows;
    StreamState next;
  };
  Commit beginCommit(int64_t committedMicros);
  absl::Status noteCommit(Commit& commit, std::optional<uint64_t> recordRow) const;
  void endCommit(const Commit& commit, bool committed);

  const StreamNumber number_;
  const std::shared_ptr<TableRows> table_;
  const std::shared_ptr<TableRows> own_;
  const std::string statePath_;

  base::Mutex mutex_;
  StreamState state_ PENSTOCK_GUARDED_BY(mutex_);  ///< what is true; `conditional` plays no part
  bool loaded_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool dropped_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool committing_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator
