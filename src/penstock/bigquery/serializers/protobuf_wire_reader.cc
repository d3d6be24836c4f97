#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace penstock::bigquery {
namespace {

const char* skipGroup(const char* at, const char* end, uint32_t number, int depth,
                      const char** contentEnd) {
  if (depth == 0) return nullptr;
  for (;;) {
    const char* const tagBegin = at;
    uint32_t tag;
    at = readTag(at, end, &tag);
    if (at == nullptr) return nullptr;
    if (wireTypeOf(tag) == kEndGroup) {
      if (contentEnd != nullptr) *contentEnd = tagBegin;
      return fieldNumberOf(tag) == number ? at : nullptr;
    }
    at = skipValue(at, end, tag, depth - 1);
    if (at == nullptr) return nullptr;
  }
}

}  // namespace

const char* readAnyVarint(const char* at, const char* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at == end) return nullptr;
    const auto byte = static_cast<uint8_t>(*at++);
    result |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

const char* skipValue(const char* at, const char* end, uint32_t tag, int depth,
                      const char** contentEnd) {
  switch (wireTypeOf(tag)) {
    case static_cast<uint32_t>(WireType::kVarint):
      return skipVarint(at, end);
    case static_cast<uint32_t>(WireType::kFixed64):
      return end - at < 8 ? nullptr : at + 8;
    case static_cast<uint32_t>(WireType::kLengthDelimited): {
      size_t size;
      at = readLength(at, end, &size);
      return at == nullptr ? nullptr : at + size;
    }
    case static_cast<uint32_t>(WireType::kFixed32):
      return end - at < 4 ? nullptr : at + 4;
    case kStartGroup:
      return skipGroup(at, end, fieldNumberOf(tag), depth, contentEnd);
    default:
      return nullptr;
  }
}

uint64_t hashMapKey(uint32_t mapTag, const char* at, const char* end) {
  constexpr uint32_t kKeyNumber = 1;
  std::string_view key("", 1);  // that of an entry without one: zero, or a length of zero
  while (at != end) {
    uint32_t tag;
    const char* const value = readTag(at, end, &tag);
    if (value == nullptr) break;
    at = skipValue(value, end, tag);
    if (at == nullptr) break;
    if (fieldNumberOf(tag) == kKeyNumber) key = {value, static_cast<size_t>(at - value)};
  }
  constexpr uint64_t kOddFactor = 0x9E3779B97F4A7C15;
  return std::hash<std::string_view>()(key) + mapTag * kOddFactor;
}

bool takeDistinctKeys(std::vector<uint64_t>& keys, size_t from) {
  const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(from);
  std::sort(begin, keys.end());
  if (std::adjacent_find(begin, keys.end()) != keys.end()) return false;
  keys.resize(from);
  return true;
}

bool isUtf8Text(const char* text, size_t size) { return simdjson::validate_utf8(text, size); }

}  // namespace penstock::bigquery
