#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

namespace penstock::bigquery {

/// Bytes that `decodeBase64` may write for a text of that size.
constexpr size_t decodedBase64Bound(size_t textSize) { return textSize / 4 * 3 + 3; }

/// Decodes base64 for a BYTES column (BQT-057): the standard alphabet, or the URL-safe one if the
/// text has a '-' or '_'. Padding is optional; left-over bits of the last character are ignored, as
/// the official client does. `out` has room for `decodedBase64Bound(text.size())` bytes and may be
/// where `text` begins (decoding in place).
ParseResult decodeBase64(std::string_view text, char* out, size_t* size);

/// Standard alphabet, padded.
[[nodiscard]] std::string encodeBase64(std::string_view bytes);
/// URL-safe alphabet, unpadded.
[[nodiscard]] std::string encodeBase64Url(std::string_view bytes);

}  // namespace penstock::bigquery
