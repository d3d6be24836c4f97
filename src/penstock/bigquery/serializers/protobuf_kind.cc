#include "penstock/bigquery/serializers/protobuf_kind.h"

#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {

using google::protobuf::FieldDescriptor;

ProtobufKind kindOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_INT32:
      return ProtobufKind::kInt32;
    case FieldDescriptor::TYPE_INT64:
      return ProtobufKind::kInt64;
    case FieldDescriptor::TYPE_UINT32:
      return ProtobufKind::kUint32;
    case FieldDescriptor::TYPE_UINT64:
      return ProtobufKind::kUint64;
    case FieldDescriptor::TYPE_SINT32:
      return ProtobufKind::kSint32;
    case FieldDescriptor::TYPE_SINT64:
      return ProtobufKind::kSint64;
    case FieldDescriptor::TYPE_FIXED32:
      return ProtobufKind::kFixed32;
    case FieldDescriptor::TYPE_FIXED64:
      return ProtobufKind::kFixed64;
    case FieldDescriptor::TYPE_SFIXED32:
      return ProtobufKind::kSfixed32;
    case FieldDescriptor::TYPE_SFIXED64:
      return ProtobufKind::kSfixed64;
    case FieldDescriptor::TYPE_FLOAT:
      return ProtobufKind::kFloat;
    case FieldDescriptor::TYPE_DOUBLE:
      return ProtobufKind::kDouble;
    case FieldDescriptor::TYPE_BOOL:
      return ProtobufKind::kBool;
    case FieldDescriptor::TYPE_STRING:
      return ProtobufKind::kString;
    case FieldDescriptor::TYPE_BYTES:
      return ProtobufKind::kBytes;
    case FieldDescriptor::TYPE_ENUM:
      return field.enum_type()->full_name() == "google.protobuf.NullValue" ? ProtobufKind::kNull
                                                                           : ProtobufKind::kEnum;
    case FieldDescriptor::TYPE_GROUP:
      return ProtobufKind::kGroup;
    case FieldDescriptor::TYPE_MESSAGE:
      return ProtobufKind::kMessage;
  }
  return ProtobufKind::kMessage;
}

uint32_t wireTypeOf(ProtobufKind kind) {
  switch (kind) {
    case ProtobufKind::kFixed32:
    case ProtobufKind::kSfixed32:
    case ProtobufKind::kFloat:
      return static_cast<uint32_t>(WireType::kFixed32);
    case ProtobufKind::kFixed64:
    case ProtobufKind::kSfixed64:
    case ProtobufKind::kDouble:
      return static_cast<uint32_t>(WireType::kFixed64);
    case ProtobufKind::kString:
    case ProtobufKind::kBytes:
    case ProtobufKind::kMessage:
      return static_cast<uint32_t>(WireType::kLengthDelimited);
    case ProtobufKind::kGroup:
      return kStartGroup;
    default:
      return static_cast<uint32_t>(WireType::kVarint);
  }
}

bool canBePacked(ProtobufKind kind) {
  return wireTypeOf(kind) != static_cast<uint32_t>(WireType::kLengthDelimited) &&
         kind != ProtobufKind::kGroup;
}

}  // namespace penstock::bigquery
