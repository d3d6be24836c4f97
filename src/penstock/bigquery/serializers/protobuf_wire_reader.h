#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "penstock/bigquery/encoding/wire.h"

/// Protobuf's wire format, read by hand on the hot path. Every reader takes where it stands and
/// where its input ends, and returns one past what it took; null: the input is malformed.
namespace penstock::bigquery {

/// A varint of nine or ten bytes, or near the end of the input.
[[nodiscard]] const char* readAnyVarint(const char* at, const char* end, uint64_t* value);

/// Where the varint ends whose first eight bytes are `word`: 0 if it has more of them.
[[nodiscard]] inline unsigned varintBytesIn(uint64_t word) {
  const uint64_t lastBytes = ~word & 0x8080808080808080;
  return lastBytes == 0 ? 0 : static_cast<unsigned>(std::countr_zero(lastBytes) / 8 + 1);
}

[[nodiscard]] inline const char* readVarint(const char* at, const char* end, uint64_t* value) {
  static_assert(std::endian::native == std::endian::little, "other byte orders need a swap here");
  if (at == end) return nullptr;
  const auto first = static_cast<uint8_t>(*at);
  if (first < 0x80) {
    *value = first;
    return at + 1;
  }
  uint64_t word;
  if (static_cast<size_t>(end - at) < sizeof word) return readAnyVarint(at, end, value);
  std::memcpy(&word, at, sizeof word);
  const unsigned bytes = varintBytesIn(word);
  if (bytes == 0) return readAnyVarint(at, end, value);
  // The groups of seven bits are moved together in three steps, eight to four to two to one.
  word &= ~uint64_t{0} >> (64 - bytes * 8);
  word = (word & 0x7F007F007F007F00) >> 1 | (word & 0x007F007F007F007F);
  word = (word & 0x3FFF00003FFF0000) >> 2 | (word & 0x00003FFF00003FFF);
  *value = (word & 0x0FFFFFFF00000000) >> 4 | (word & 0x000000000FFFFFFF);
  return at + bytes;
}

/// Passes over a varint.
[[nodiscard]] inline const char* skipVarint(const char* at, const char* end) {
  uint64_t word;
  if (static_cast<size_t>(end - at) >= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    const unsigned bytes = varintBytesIn(word);
    if (bytes != 0) return at + bytes;
  }
  return readAnyVarint(at, end, &word);
}

/// writeVarint for values that as a rule take several bytes: the same time for all below 2^56.
/// Touches `kMaxVarintBytes` bytes.
inline char* writeLongVarint(char* to, uint64_t value) {
  if (value >> 56 != 0) return writeVarint(to, value);
  const auto bytes = static_cast<unsigned>(varintSize(value));
  uint64_t word = (value & 0x00FFFFFFF0000000) << 4 | (value & 0x000000000FFFFFFF);
  word = (word & 0x0FFFC0000FFFC000) << 2 | (word & 0x00003FFF00003FFF);
  word = (word & 0x3F803F803F803F80) << 1 | (word & 0x007F007F007F007F);
  word |= 0x8080808080808080 & ((uint64_t{1} << (bytes - 1) * 8) - 1);
  std::memcpy(to, &word, sizeof word);
  return to + bytes;
}

/// A tag: field number (never 0) and wire type in 32 bits.
[[nodiscard]] inline const char* readTag(const char* at, const char* end, uint32_t* tag) {
  uint64_t value;
  at = readVarint(at, end, &value);
  if (at == nullptr || value > UINT32_MAX || value < 8) return nullptr;
  *tag = static_cast<uint32_t>(value);
  return at;
}

/// The length in front of a string, bytes or message: that many bytes are there.
[[nodiscard]] inline const char* readLength(const char* at, const char* end, size_t* size) {
  uint64_t value;
  at = readVarint(at, end, &value);
  if (at == nullptr || value > static_cast<uint64_t>(end - at)) return nullptr;
  *size = static_cast<size_t>(value);
  return at;
}

template <typename Value>
[[nodiscard]] const char* readFixed(const char* at, const char* end, Value* value) {
  if (static_cast<size_t>(end - at) < sizeof *value) return nullptr;
  std::memcpy(value, at, sizeof *value);
  return at + sizeof *value;
}

[[nodiscard]] constexpr int64_t decodeZigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

/// Groups: wire types that protobuf has given up, but that proto2 messages still use.
inline constexpr uint32_t kStartGroup = 3;
inline constexpr uint32_t kEndGroup = 4;
/// Groups of unknown fields may stand in each other this deep: protobuf's own limit.
inline constexpr int kMaxGroupDepth = 100;

constexpr uint32_t wireTypeOf(uint32_t tag) { return tag & 7; }
constexpr uint32_t fieldNumberOf(uint32_t tag) { return tag >> 3; }

/// Passes over the value behind `tag`. Of a group, `*contentEnd` (if asked for) is where its
/// content ends, before the tag that closes it.
[[nodiscard]] const char* skipValue(const char* at, const char* end, uint32_t tag,
                                    int depth = kMaxGroupDepth, const char** contentEnd = nullptr);

/// memcpy without a call for the few bytes that runs mostly have.
inline void copyBytes(char* to, const char* from, size_t size) {
  const auto copyEnds = [&](auto piece) {  // two pieces, which may overlap
    auto last = piece;
    std::memcpy(&piece, from, sizeof piece);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &piece, sizeof piece);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  using Piece16 = std::array<uint64_t, 2>;
  using Piece32 = std::array<uint64_t, 4>;
  if (size < 8 || size > 64) {
    std::memcpy(to, from, size);
  } else if (size <= 16) {
    copyEnds(uint64_t{});
  } else if (size <= 32) {
    copyEnds(Piece16{});
  } else {
    copyEnds(Piece32{});
  }
}

/// A hash of the key of a map's entry, together with the tag of the map. Equal keys written in
/// different ways may differ.
[[nodiscard]] uint64_t hashMapKey(uint32_t mapTag, const char* at, const char* end);

/// Takes the hashes from `from` on out of `keys`; false if two of them are the same.
[[nodiscard]] bool takeDistinctKeys(std::vector<uint64_t>& keys, size_t from);

/// Whether all of the text is UTF-8.
[[nodiscard]] bool isUtf8Text(const char* text, size_t size);

[[nodiscard]] inline bool isUtf8(const char* text, size_t size) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t seen = 0;
  if (size >= sizeof seen) {
    size_t at = 0;
    uint64_t word;
    for (; at + sizeof word <= size; at += sizeof word) {
      std::memcpy(&word, text + at, sizeof word);
      seen |= word;
    }
    std::memcpy(&word, text + size - sizeof word, sizeof word);
    seen |= word;
  } else {
    for (size_t at = 0; at < size; ++at) seen |= static_cast<uint8_t>(text[at]);
  }
  if ((seen & kHighBits) == 0) [[likely]]
    return true;
  return isUtf8Text(text, size);
}

}  // namespace penstock::bigquery
