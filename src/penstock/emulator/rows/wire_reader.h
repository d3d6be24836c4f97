#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace penstock::emulator {

/// Takes a protobuf message apart, field by field. Every call answers false when the bytes are not
/// what it was asked for, or end too early; nothing can be read after that.
class WireReader {
 public:
  enum WireType : uint32_t {
    kVarint = 0,
    kFixed64 = 1,
    kLength = 2,
    kStartGroup = 3,
    kEndGroup = 4,
    kFixed32 = 5
  };

  explicit WireReader(std::string_view bytes)
      : position_(bytes.data()), end_(position_ + bytes.size()) {}

  [[nodiscard]] bool atEnd() const { return position_ == end_; }
  [[nodiscard]] const char* position() const { return position_; }

  /// As protobuf reads one: five bytes at most, of which 32 bits count.
  bool readTag(uint32_t& number, uint32_t& wireType) {
    constexpr ptrdiff_t kMaxTagBytes = 5;
    const char* const start = position_;
    uint64_t wide = 0;
    if (!readVarint(wide) || position_ - start > kMaxTagBytes) return false;
    const auto tag = static_cast<uint32_t>(wide);
    number = tag >> 3;
    wireType = tag & 7;
    return number != 0;
  }

  bool readVarint(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position_ == end_) return false;
      const auto byte = static_cast<unsigned char>(*position_++);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool readFixed64(uint64_t& value) { return readFixed(value); }

  bool readFixed32(uint32_t& value) { return readFixed(value); }

  bool readBytes(std::string_view& bytes) {
    uint64_t length = 0;
    if (!readVarint(length) || length > static_cast<uint64_t>(end_ - position_)) return false;
    bytes = {position_, static_cast<size_t>(length)};
    position_ += length;
    return true;
  }

  /// The content of a group whose start tag was just read.
  bool readGroup(uint32_t number, std::string_view& bytes) {
    const char* const start = position_;
    while (true) {
      const char* const beforeTag = position_;
      uint32_t inner = 0;
      uint32_t wireType = 0;
      if (!readTag(inner, wireType)) return false;
      if (wireType == kEndGroup) {
        bytes = {start, static_cast<size_t>(beforeTag - start)};
        return inner == number;
      }
      if (!skip(inner, wireType)) return false;
    }
  }

  bool skip(uint32_t number, uint32_t wireType) {
    uint64_t wide = 0;
    uint32_t narrow = 0;
    std::string_view bytes;
    switch (wireType) {
      case kVarint:
        return readVarint(wide);
      case kFixed64:
        return readFixed64(wide);
      case kFixed32:
        return readFixed32(narrow);
      case kLength:
        return readBytes(bytes);
      case kStartGroup:
        return ++depth_ <= kMaxGroupDepth && readGroup(number, bytes) && depth_-- > 0;
      default:
        return false;
    }
  }

 private:
  static constexpr int kMaxGroupDepth = 100;

  template <typename Value>
  bool readFixed(Value& value) {
    if (static_cast<size_t>(end_ - position_) < sizeof(Value)) return false;
    std::memcpy(&value, position_, sizeof(Value));  // little-endian, like the machines we build for
    position_ += sizeof(Value);
    return true;
  }

  const char* position_;
  const char* end_;
  int depth_ = 0;
};

}  // namespace penstock::emulator
