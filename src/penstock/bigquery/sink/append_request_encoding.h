#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The few bytes in front of the rows of an AppendRowsRequest, built by hand: no request object, no
/// copy of the rows.
namespace penstock::bigquery {

struct AppendRequestHeader {
  std::string_view stream;        ///< empty = omitted
  std::string_view descriptor;    ///< serialized DescriptorProto; empty = omitted
  std::optional<int64_t> offset;  ///< where the stream must end now; unset = wherever it does
  std::string_view traceId;       ///< empty = omitted
  std::string_view fields;        ///< further fields of the request, encoded
  size_t framedRowBytes = 0;      ///< bytes of the rows with their tags and lengths
};

/// The header; the framed rows follow it directly and complete the request.
[[nodiscard]] std::string encodeAppendHeader(const AppendRequestHeader& header);

/// Bytes of the whole request (header and rows).
[[nodiscard]] size_t appendRequestBytes(const AppendRequestHeader& header);

}  // namespace penstock::bigquery
