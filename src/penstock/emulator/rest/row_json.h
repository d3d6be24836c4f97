#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/emulator/rest/field_selection.h"
#include "penstock/emulator/rows/row_decoder.h"

namespace penstock::emulator {

/// How TIMESTAMP values are written.
enum class TimestampForm : uint8_t {
  kSeconds,  ///< "1.785027723456789E9": seconds, the API's form of old
  kMicros,   ///< "1785027723456789": formatOptions.useInt64Timestamp
  kIso8601,  ///< "2026-07-26T01:02:03.456789Z": formatOptions.timestampOutputFormat=ISO8601_STRING
};

/// Appends the row that the decoder holds in the form of tabledata.list: {"f":[{"v":...},...]},
/// every scalar as a string, NULL as null, a STRUCT as {"f":...} and a REPEATED column as a list of
/// {"v":...}.
void appendRowJson(const RowDecoder& decoder, const FieldSelection& selection,
                   TimestampForm timestamps, std::string& out);

/// Appends the text as a JSON string.
void appendJsonString(std::string_view text, std::string& out);

/// A FLOAT64 as the service writes it: shortest digits that read back the same, "1.5", "1.0E10",
/// "NaN", "Infinity", "-Infinity".
[[nodiscard]] std::string floatText(double value);

/// Microseconds since the epoch as seconds, exactly: "1.785027723456789E9", "0.0", "-1.0E-6".
[[nodiscard]] std::string timestampSecondsText(int64_t micros);

}  // namespace penstock::emulator
