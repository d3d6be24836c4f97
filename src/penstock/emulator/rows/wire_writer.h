#pragma once

#include <cstdint>
#include <string>

namespace penstock::emulator {

inline void appendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

}  // namespace penstock::emulator
