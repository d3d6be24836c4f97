#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::emulator {

/// CRC-32C (Castagnoli) of `data`, continuing from `crc`, the result for what stands before it (0 =
/// nothing). Uses the CPU's instruction where there is one.
[[nodiscard]] uint32_t crc32c(std::string_view data, uint32_t crc = 0);

/// The same without the instruction.
[[nodiscard]] uint32_t crc32cPortable(std::string_view data, uint32_t crc = 0);

}  // namespace penstock::emulator
