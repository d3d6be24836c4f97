#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Protobuf's wire format, written by hand on the hot path (BQT-007, BQT-095). Every writer stores
/// at `to` and returns one past the last byte; the caller has made room (`kMaxVarintBytes` and so
/// on).
namespace penstock::bigquery {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

/// A varint of 64 bits; negative int32 and int64 values take all ten.
inline constexpr size_t kMaxVarintBytes = 10;
/// A tag: field numbers have 29 bits.
inline constexpr size_t kMaxTagBytes = 5;
/// The length of a message or string below 2 GiB.
inline constexpr size_t kMaxLengthBytes = 5;

constexpr uint32_t makeTag(uint32_t fieldNumber, WireType type) {
  return fieldNumber << 3 | static_cast<uint32_t>(type);
}

constexpr size_t varintSize(uint64_t value) {
  const auto bits = static_cast<unsigned>(std::bit_width(value | 1));
  return (bits * 9 + 64) / 64;
}

inline char* writeVarint(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

/// int32, int64, and DATE, TIME, DATETIME and TIMESTAMP values: sign-extended to 64 bits (BQT-090).
inline char* writeSignedVarint(char* to, int64_t value) {
  return writeVarint(to, static_cast<uint64_t>(value));
}

/// A tag whose value is known: `makeTag(number, type)`.
inline char* writeTag(char* to, uint32_t tag) { return writeVarint(to, tag); }

/// Eight bytes, little-endian.
inline char* writeFixed64(char* to, uint64_t value) {
  static_assert(std::endian::native == std::endian::little, "other byte orders need a swap here");
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

/// A DOUBLE: IEEE 754, little-endian.
inline char* writeDouble(char* to, double value) {
  return writeFixed64(to, std::bit_cast<uint64_t>(value));
}

inline char* writeBytes(char* to, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

/// Length and bytes of a string, bytes or message field (without its tag).
inline char* writeLengthDelimited(char* to, std::string_view bytes) {
  return writeBytes(writeVarint(to, bytes.size()), bytes);
}

/// Writes `size` as the length of that many bytes, which stand `laidOut` bytes behind `length`.
/// They are moved if its varint has another number of bytes than that; there is room for
/// kMaxLengthBytes behind them then. Returns one past the last of them.
inline char* writeLengthBefore(char* length, size_t laidOut, size_t size) {
  const size_t needed = varintSize(size);
  if (needed != laidOut) std::memmove(length + needed, length + laidOut, size);
  writeVarint(length, size);
  return length + needed + size;
}

}  // namespace penstock::bigquery
