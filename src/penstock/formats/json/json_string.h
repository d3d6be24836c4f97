#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "penstock/formats/json/json_cursor.h"

namespace penstock::formats {

/// Writes what the string literal's inside `raw` (no quotes) stands for to `out`, which has room
/// for `raw.size()` bytes, and stores the number of bytes in `*size`. Refuses unknown escapes and
/// lone surrogates (BQT-050); `fault` then points into `raw`.
[[nodiscard]] bool unescapeString(std::string_view raw, char* out, size_t* size, JsonFault* fault);

/// The same into a string, which keeps its capacity.
[[nodiscard]] bool unescapeString(std::string_view raw, std::string* out, JsonFault* fault);

/// Whether every escape in `raw` is one of JSON's and stands for a whole character.
[[nodiscard]] bool checkEscapes(std::string_view raw, JsonFault* fault);

/// Whether `raw` has an escape at all.
inline bool hasEscape(std::string_view raw) { return raw.find('\\') != std::string_view::npos; }

}  // namespace penstock::formats
