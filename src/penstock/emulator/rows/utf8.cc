#include "penstock/emulator/rows/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace penstock::emulator {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080ULL;

bool isContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of the character that starts at `text`, or 0 when none does.
size_t characterLength(const unsigned char* text, size_t left) {
  const unsigned char first = text[0];
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return left >= 2 && isContinuation(text[1]) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (left < 3 || !isContinuation(text[1]) || !isContinuation(text[2])) return 0;
    const bool overlong = first == 0xE0 && text[1] < 0xA0;
    const bool surrogate = first == 0xED && text[1] >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (left < 4 || !isContinuation(text[1]) || !isContinuation(text[2]) ||
        !isContinuation(text[3]))
      return 0;
    const bool overlong = first == 0xF0 && text[1] < 0x90;
    const bool tooHigh = first == 0xF4 && text[1] >= 0x90;
    return overlong || tooHigh ? 0 : 4;
  }
  return 0;
}

}  // namespace

bool isValidUtf8(std::string_view bytes) {
  const auto* text = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  while (left > 0) {
    uint64_t eight = 0;
    if (left >= sizeof eight) {
      std::memcpy(&eight, text, sizeof eight);
      if ((eight & kHighBits) == 0) {
        text += sizeof eight;
        left -= sizeof eight;
        continue;
      }
    }
    const size_t length = characterLength(text, left);
    if (length == 0) return false;
    text += length;
    left -= length;
  }
  return true;
}

size_t characterCount(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace penstock::emulator
