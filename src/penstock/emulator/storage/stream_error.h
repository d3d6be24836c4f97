#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// What is wrong with a stream or an append to it; the numbers are those of
/// google.cloud.bigquery.storage.v1.StorageError.StorageErrorCode.
enum class StreamErrorCode : uint8_t {
  kNone = 0,
  kTableNotFound = 1,
  kStreamAlreadyCommitted = 2,
  kStreamNotFound = 3,
  kInvalidStreamType = 4,
  kInvalidStreamState = 5,
  kStreamFinalized = 6,
  kSchemaMismatchExtraFields = 7,
  kOffsetAlreadyExists = 8,
  kOffsetOutOfRange = 9,
};

/// A status with the gRPC code that goes with `code`, which it carries along.
[[nodiscard]] absl::Status streamError(StreamErrorCode code, std::string_view message);

/// The status with a code of this kind attached; its gRPC code stays.
[[nodiscard]] absl::Status withStreamErrorCode(absl::Status status, StreamErrorCode code);

/// What streamError() put in; kNone for any other status.
[[nodiscard]] StreamErrorCode streamErrorCodeOf(const absl::Status& status);

}  // namespace penstock::emulator
