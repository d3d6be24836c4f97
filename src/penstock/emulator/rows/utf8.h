#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::emulator {

/// Whether the bytes are well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] bool isValidUtf8(std::string_view bytes);

/// Characters of well-formed UTF-8.
[[nodiscard]] size_t characterCount(std::string_view text);

}  // namespace penstock::emulator
