#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// AppendRowsRequest.MissingValueInterpretation; other numbers may come, too.
enum class MissingValue : uint64_t { kUnspecified = 0, kNull = 1, kDefault = 2 };

/// An AppendRowsRequest taken apart without copying: everything points into the message's bytes,
/// which outlives it. A message that gives a part twice is read as protobuf reads it.
struct AppendRequest {
  AppendRequest() = default;
  AppendRequest(const AppendRequest&) = delete;
  AppendRequest& operator=(const AppendRequest&) = delete;

  std::string_view writeStream;
  std::optional<int64_t> offset;
  bool hasProtoRows = false;
  bool hasArrowRows = false;
  /// proto_rows.writer_schema.proto_descriptor, when it is there.
  std::optional<std::string_view> descriptor;
  /// Contents of proto_rows.rows: framed rows, perhaps with unknown fields between them.
  std::vector<std::string_view> rows;
  std::string_view traceId;
  /// missing_value_interpretations as it stands in the message: a later entry of a column goes
  /// before an earlier one.
  std::vector<std::pair<std::string_view, MissingValue>> missingValues;
  /// default_missing_value_interpretation, when it is there.
  std::optional<MissingValue> defaultMissingValue;

  /// Reads `message`; kInvalidArgument when it is not one. What was there before is gone.
  absl::Status parse(std::string_view message);

 private:
  void clear();
  absl::Status parseProtoData(std::string_view message);
  absl::Status parseWriterSchema(std::string_view message);
  absl::Status parseMissingValue(std::string_view entry);

  std::string merged_;  ///< a descriptor that came in several parts
};

}  // namespace penstock::emulator
