#include "penstock/emulator/testing/row_bytes.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace penstock::emulator {

std::string bytesOf(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() == 2) {
      bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  return bytes;
}

Field column(std::string name, FieldType type, FieldMode mode) {
  Field field;
  field.name = std::move(name);
  field.type = type;
  field.mode = mode;
  return field;
}

google::protobuf::DescriptorProto descriptorOf(std::string_view text) {
  google::protobuf::DescriptorProto descriptor;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &descriptor))
      << text;
  return descriptor;
}

MessageBytes& MessageBytes::raw(uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
  text_ += static_cast<char>(value);
  return *this;
}

MessageBytes& MessageBytes::varint(uint32_t number, uint64_t value) {
  return raw(number << 3).raw(value);
}

MessageBytes& MessageBytes::fixed64(uint32_t number, uint64_t value) {
  raw(number << 3 | 1);
  text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

MessageBytes& MessageBytes::fixed32(uint32_t number, uint32_t value) {
  raw(number << 3 | 5);
  text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

MessageBytes& MessageBytes::real(uint32_t number, double value) {
  return fixed64(number, std::bit_cast<uint64_t>(value));
}

MessageBytes& MessageBytes::bytes(uint32_t number, std::string_view value) {
  raw(number << 3 | 2).raw(value.size());
  text_ += value;
  return *this;
}

}  // namespace penstock::emulator
