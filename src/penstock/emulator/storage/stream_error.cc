#include "penstock/emulator/storage/stream_error.h"

#include <absl/strings/cord.h>

namespace penstock::emulator {
namespace {

constexpr const char* kPayload = "penstock/stream-error";

absl::StatusCode statusCodeOf(StreamErrorCode code) {
  switch (code) {
    case StreamErrorCode::kTableNotFound:
    case StreamErrorCode::kStreamNotFound:
      return absl::StatusCode::kNotFound;
    case StreamErrorCode::kOffsetAlreadyExists:
    case StreamErrorCode::kStreamAlreadyCommitted:
      return absl::StatusCode::kAlreadyExists;
    case StreamErrorCode::kOffsetOutOfRange:
      return absl::StatusCode::kOutOfRange;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

}  // namespace

absl::Status streamError(StreamErrorCode code, std::string_view message) {
  return withStreamErrorCode(
      absl::Status(statusCodeOf(code), absl::string_view(message.data(), message.size())), code);
}

absl::Status withStreamErrorCode(absl::Status status, StreamErrorCode code) {
  status.SetPayload(kPayload, absl::Cord(std::string(1, static_cast<char>(code))));
  return status;
}

StreamErrorCode streamErrorCodeOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value() || payload->size() != 1) return StreamErrorCode::kNone;
  return static_cast<StreamErrorCode>((*payload)[0]);
}

}  // namespace penstock::emulator
