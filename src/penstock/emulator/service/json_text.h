#pragma once

#include <string_view>

namespace penstock::emulator {

/// A JSON document (RFC 8259) in valid UTF-8, nested no deeper than the service takes (500 levels).
[[nodiscard]] bool isJsonText(std::string_view text);

}  // namespace penstock::emulator
