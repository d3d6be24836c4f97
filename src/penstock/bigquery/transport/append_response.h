#pragma once

#include <string>
#include <string_view>

#include "penstock/bigquery/sink/append_call.h"

/// From the wire to what the sink acts on: AppendRowsResponse, and the status a call ends with.
namespace penstock::bigquery {

/// Decodes one serialized AppendRowsResponse. A plain acknowledgement, by far the most common, is
/// read without a message object. Bytes that are no such message give an INTERNAL status: what
/// became of the append is unknown.
[[nodiscard]] AppendResponse decodeAppendResponse(std::string_view bytes);

struct CallStatus {
  absl::Status status;
  StorageErrorCode storageError = StorageErrorCode::kNone;
};

/// The status of an ended call. `details` is the serialized google.rpc.Status of the trailer
/// grpc-status-details-bin, empty if there was none. A code that gRPC does not define becomes
/// DATA_LOSS, which nobody retries, with the number in the message (BQW-041).
[[nodiscard]] CallStatus decodeCallStatus(int code, std::string_view message,
                                          std::string_view details);

}  // namespace penstock::bigquery
