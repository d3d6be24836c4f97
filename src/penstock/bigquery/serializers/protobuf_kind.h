#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>

namespace penstock::bigquery {

/// What a field's values are, which also says how they stand on the wire.
enum class ProtobufKind : uint8_t {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kSint32,
  kSint64,
  kFixed32,
  kFixed64,
  kSfixed32,
  kSfixed64,
  kFloat,
  kDouble,
  kBool,
  kString,
  kBytes,
  kEnum,
  kNull,  ///< google.protobuf.NullValue
  kMessage,
  kGroup,
};

[[nodiscard]] ProtobufKind kindOf(const google::protobuf::FieldDescriptor& field);

/// The wire type of one value that is not packed with others.
[[nodiscard]] uint32_t wireTypeOf(ProtobufKind kind);

/// Whether a repeated field's values can be packed; parsers take both forms from any field.
[[nodiscard]] bool canBePacked(ProtobufKind kind);

}  // namespace penstock::bigquery
