#include "penstock/bigquery/encoding/base64.h"

#include <array>
#include <cstdint>

namespace penstock::bigquery {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr uint8_t kInvalid = 0xFF;
using Values = std::array<uint8_t, 256>;

constexpr Values valuesOf(std::string_view alphabet) {
  Values values{};
  values.fill(kInvalid);
  for (size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}
constexpr Values kStandardValues = valuesOf(kStandard);
constexpr Values kUrlSafeValues = valuesOf(kUrlSafe);

constexpr ParseResult kNotBase64("not base64");

/// The text without the padding that completes its last group of four; nothing if it is padded
/// wrongly.
bool dropPadding(std::string_view* text) {
  size_t padding = 0;
  while (padding < text->size() && (*text)[text->size() - 1 - padding] == '=') ++padding;
  if (padding == 0) return true;
  if (padding > 2 || text->size() % 4 != 0) return false;
  text->remove_suffix(padding);
  return true;
}

std::string encode(std::string_view bytes, std::string_view alphabet, bool padded) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k <= count; ++k) text.push_back(alphabet[group >> (18 - 6 * k) & 0x3F]);
    if (padded) text.append(3 - count, '=');
  }
  return text;
}

}  // namespace

ParseResult decodeBase64(std::string_view text, char* out, size_t* size) {
  const bool urlSafe =
      text.find('-') != std::string_view::npos || text.find('_') != std::string_view::npos;
  const Values& values = urlSafe ? kUrlSafeValues : kStandardValues;
  if (!dropPadding(&text) || text.size() % 4 == 1) return kNotBase64;

  const char* const begin = out;
  unsigned invalid = 0;
  const auto valueAt = [&](size_t index) -> uint32_t {
    const uint8_t value = values[static_cast<unsigned char>(text[index])];
    invalid |= value;  // 0xFF alone has bits above the sixth
    return value;
  };
  const size_t whole = text.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    const uint32_t group =
        valueAt(i) << 18 | valueAt(i + 1) << 12 | valueAt(i + 2) << 6 | valueAt(i + 3);
    *out++ = static_cast<char>(group >> 16);
    *out++ = static_cast<char>(group >> 8);
    *out++ = static_cast<char>(group);
  }
  const size_t rest = text.size() - whole;
  if (rest >= 2) {
    uint32_t group = valueAt(whole) << 18 | valueAt(whole + 1) << 12;
    if (rest == 3) group |= valueAt(whole + 2) << 6;
    *out++ = static_cast<char>(group >> 16);
    if (rest == 3) *out++ = static_cast<char>(group >> 8);
  }
  if (invalid > 0x3F) return kNotBase64;
  *size = static_cast<size_t>(out - begin);
  return ParseResult();
}

std::string encodeBase64(std::string_view bytes) { return encode(bytes, kStandard, true); }

std::string encodeBase64Url(std::string_view bytes) { return encode(bytes, kUrlSafe, false); }

}  // namespace penstock::bigquery
