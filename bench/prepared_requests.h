#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <string_view>
#include <vector>

#include "bench/measurement.h"

namespace penstock::bench {

/// Tag and length in front of a field of `size` bytes.
[[nodiscard]] std::string lengthDelimited(int field, size_t size);

/// AppendRowsRequest { `head` proto_rows { `schema` rows { `rows` } } } in slices of the sink's
/// size: `head`, `schema` (fields of ProtoData) and `rows` (framed) are protobuf bytes.
[[nodiscard]] grpc::ByteBuffer requestOf(std::string_view rows, std::string_view head = "",
                                         std::string_view schema = "");

/// Requests for one AppendRows call.
struct PreparedRequests {
  std::vector<grpc::ByteBuffer> first;   ///< sent once, to begin with; may be empty
  std::vector<grpc::ByteBuffer> others;  ///< sent round and round
  size_t rowsPerRequest = 0;
  size_t rowBytesPerRequest = 0;
};

/// Sends them as fast as the barest loop around gRPC's generic stub on one thread can, at most 100
/// unanswered; warms up, then measures for about `duration`. An answer that refuses a request ends
/// the measurement with an error.
[[nodiscard]] absl::StatusOr<Measurement> sendRequests(const std::string& server,
                                                       const PreparedRequests& requests,
                                                       base::Duration duration);

/// Appends a length-delimited field.
void putText(int field, std::string_view text, std::string& out);

}  // namespace penstock::bench
