#include "penstock/formats/json/json_string.h"

#include <cstdint>
#include <cstring>

namespace penstock::formats {
namespace {

constexpr size_t kMaxUtf8Bytes = 4;

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The unit of `\uXXXX` at `at`; -1 if there is none.
int32_t readUnit(const char* at, const char* end) {
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
  int32_t unit = 0;
  for (int index = 2; index < 6; ++index) {
    const int digit = hexDigit(at[index]);
    if (digit < 0) return -1;
    unit = unit << 4 | digit;
  }
  return unit;
}

size_t writeUtf8(uint32_t codePoint, char* out) {
  if (codePoint < 0x80) {
    out[0] = static_cast<char>(codePoint);
    return 1;
  }
  if (codePoint < 0x800) {
    out[0] = static_cast<char>(0xC0 | codePoint >> 6);
    out[1] = static_cast<char>(0x80 | (codePoint & 0x3F));
    return 2;
  }
  if (codePoint < 0x10000) {
    out[0] = static_cast<char>(0xE0 | codePoint >> 12);
    out[1] = static_cast<char>(0x80 | (codePoint >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (codePoint & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | codePoint >> 18);
  out[1] = static_cast<char>(0x80 | (codePoint >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (codePoint >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (codePoint & 0x3F));
  return 4;
}

constexpr bool isHighSurrogate(int32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
constexpr bool isLowSurrogate(int32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// The character that a two-byte escape stands for; 0 if there is no such escape.
char shortEscape(char c) {
  switch (c) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

/// One escape at `at`: the end of it, and its UTF-8 at `out`. nullptr: `fault` says why.
const char* readEscape(const char* at, const char* end, char* out, size_t* size, JsonFault* fault) {
  if (end - at >= 2) {
    if (const char plain = shortEscape(at[1]); plain != 0) {
      *out = plain;
      *size = 1;
      return at + 2;
    }
  }
  const int32_t unit = readUnit(at, end);
  if (unit < 0) {
    (*fault)(at, "an escape that JSON does not know");
    return nullptr;
  }
  if (isHighSurrogate(unit)) {
    const int32_t low = readUnit(at + 6, end);
    if (isLowSurrogate(low)) {
      const uint32_t codePoint = 0x10000 + (static_cast<uint32_t>(unit - 0xD800) << 10) +
                                 static_cast<uint32_t>(low - 0xDC00);
      *size = writeUtf8(codePoint, out);
      return at + 12;
    }
  }
  if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
    (*fault)(at, "a lone surrogate, which no UTF-8 text can hold");
    return nullptr;
  }
  *size = writeUtf8(static_cast<uint32_t>(unit), out);
  return at + 6;
}

}  // namespace

bool unescapeString(std::string_view raw, char* out, size_t* size, JsonFault* fault) {
  const char* at = raw.data();
  const char* const end = at + raw.size();
  char* to = out;
  while (at < end) {
    const auto* escape =
        static_cast<const char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)));
    const size_t plain = static_cast<size_t>((escape == nullptr ? end : escape) - at);
    std::memcpy(to, at, plain);
    to += plain;
    if (escape == nullptr) break;
    size_t written = 0;
    at = readEscape(escape, end, to, &written, fault);
    if (at == nullptr) return false;
    to += written;
  }
  *size = static_cast<size_t>(to - out);
  return true;
}

bool unescapeString(std::string_view raw, std::string* out, JsonFault* fault) {
  out->resize(raw.size());
  size_t size = 0;
  if (!unescapeString(raw, out->data(), &size, fault)) return false;
  out->resize(size);
  return true;
}

bool checkEscapes(std::string_view raw, JsonFault* fault) {
  const char* at = raw.data();
  const char* const end = at + raw.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)));
    if (at == nullptr) return true;
    char character[kMaxUtf8Bytes];
    size_t size = 0;
    at = readEscape(at, end, character, &size, fault);
    if (at == nullptr) return false;
  }
  return true;
}

}  // namespace penstock::formats
