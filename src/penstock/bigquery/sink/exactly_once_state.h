#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/base/status.h"
#include "penstock/bigquery/table_name.h"
#include "penstock/connector/writer_core.h"

/// What the exactly-once sink leaves with its host between two runs, and the bytes of it: a letter
/// for the kind, one byte for the version, a message of exactly_once_state.proto.
namespace penstock::bigquery {

/// One destination of one writer at a checkpoint.
struct BufferedStreamState {
  static constexpr int kVersion = 2;  ///< 1 belongs to another program

  TableName table;
  std::string stream;      ///< projects/P/datasets/D/tables/T/streams/ID; empty = none
  int64_t nextOffset = 0;  ///< rows of the stream that the checkpoint covers
  connector::CheckpointId checkpoint = 0;
  /// Rows that a committable has named; less than nextOffset if a snapshot came without a prepare.
  int64_t preparedOffset = 0;

  friend bool operator==(const BufferedStreamState&, const BufferedStreamState&) = default;
};

/// Rows of a stream that a completed checkpoint makes visible.
struct StreamCommittable {
  static constexpr int kVersion = 1;

  std::string stream;
  int64_t flushOffset = 0;  ///< of the last row, inclusive
  int32_t subtask = 0;      ///< that wrote them; only for people

  friend bool operator==(const StreamCommittable&, const StreamCommittable&) = default;
};

[[nodiscard]] connector::WriterState encodeState(const BufferedStreamState& state);
[[nodiscard]] connector::Committable encodeCommittable(const StreamCommittable& committable);

/// Any version up to the present one. UNIMPLEMENTED: of a newer version; DATA_LOSS: not ours, cut,
/// or not consistent. The message does not say where the bytes came from.
[[nodiscard]] absl::StatusOr<BufferedStreamState> decodeState(const connector::WriterState& state);
[[nodiscard]] absl::StatusOr<StreamCommittable> decodeCommittable(
    const connector::Committable& committable);

/// Whether `stream` is one that CreateWriteStream made for `table`.
[[nodiscard]] bool isStreamOf(const TableName& table, std::string_view stream);

}  // namespace penstock::bigquery
