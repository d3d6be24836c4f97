#pragma once

#include <cstdint>
#include <string>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// What a created stream makes of its rows.
enum class StreamType : uint8_t {
  kCommitted = 1,  ///< the table's at once
  kPending = 2,    ///< the table's when the stream is committed
  kBuffered = 3,   ///< the table's up to the offset that was flushed last
};

/// What is kept of a stream besides its rows.
///
/// Rows of a stream become visible by a record in the table's own segments (rows that a COMMITTED
/// stream brings, or references to rows). The state is written first and names the place that the
/// record is about to get, so that a crash between the two is seen afterwards: what the state says
/// holds if the record stands there and is the stream's, else the record was never written.
struct StreamState {
  StreamType type = StreamType::kCommitted;
  int64_t createdMicros = 0;  ///< since the Unix epoch
  uint64_t version = 0;       ///< grows with each write
  bool finalized = false;
  bool committed = false;       ///< of kPending; if `conditional`, only if the record is there
  int64_t committedMicros = 0;  ///< since the Unix epoch
  uint64_t visibleRows = 0;     ///< rows of the stream that the table shows, without that record
  bool conditional = false;
  uint64_t recordRow = 0;        ///< where the record is: index in the table of its first row
  uint64_t nextVisibleRows = 0;  ///< with it
};

/// Makes the file of a new stream; the folder is there.
[[nodiscard]] absl::Status createStreamState(const std::string& path, const StreamState& state);
/// Writes the state with the next version. A crash leaves either this state or the one before.
[[nodiscard]] absl::Status writeStreamState(const std::string& path, StreamState& state);
/// kNotFound when there is no such file, kDataLoss when it is not what was written.
[[nodiscard]] absl::StatusOr<StreamState> readStreamState(const std::string& path);

}  // namespace penstock::emulator
