#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <string_view>

#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// "0A 05 61" as bytes.
[[nodiscard]] std::string bytesOf(std::string_view hex);

[[nodiscard]] Field column(std::string name, FieldType type, FieldMode mode = FieldMode::kNullable);

/// A DescriptorProto out of protobuf's text format; a test fails when it cannot be read.
[[nodiscard]] google::protobuf::DescriptorProto descriptorOf(std::string_view text);

/// Builds a protobuf message field by field.
class MessageBytes {
 public:
  MessageBytes& varint(uint32_t number, uint64_t value);
  MessageBytes& fixed64(uint32_t number, uint64_t value);
  MessageBytes& fixed32(uint32_t number, uint32_t value);
  MessageBytes& real(uint32_t number, double value);
  /// A string, bytes, message or packed list.
  MessageBytes& bytes(uint32_t number, std::string_view value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  MessageBytes& raw(uint64_t value);
  std::string text_;
};

}  // namespace penstock::emulator
