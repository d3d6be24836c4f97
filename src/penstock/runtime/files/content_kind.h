#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "penstock/runtime/input_file.h"

/// What a file is, told from its first bytes.
namespace penstock::runtime {

/// Bytes that must be there (or the file's end) for the functions below.
inline constexpr size_t kMagicBytes = 4;

[[nodiscard]] Compression compressionOf(std::string_view rawHead);

/// "UTF-16, little endian" etc., from a byte-order mark or from the zeros that ASCII characters
/// have in these encodings; none for UTF-8.
[[nodiscard]] std::optional<std::string_view> wideEncodingOf(std::string_view head);

[[nodiscard]] inline bool startsWithUtf8Mark(std::string_view head) {
  return head.starts_with("\xEF\xBB\xBF");
}

/// The blanks of JSON.
[[nodiscard]] inline bool isBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// For a message about content that is not JSON: "a Parquet file", `"id,name" (looks like CSV)`,
/// ... `head` begins with the first non-blank byte.
[[nodiscard]] std::string describeForeignContent(std::string_view head);

/// `text` with what is not printable ASCII as escapes, cut to `limit` bytes.
[[nodiscard]] std::string printable(std::string_view text, size_t limit);

}  // namespace penstock::runtime
