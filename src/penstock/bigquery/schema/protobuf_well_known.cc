#include "penstock/bigquery/schema/protobuf_well_known.h"

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <string_view>

namespace penstock::bigquery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

bool hasSingular(const Descriptor& type, const char* name, FieldDescriptor::CppType kind) {
  const FieldDescriptor* field = type.FindFieldByName(name);
  return field != nullptr && !field->is_repeated() && field->cpp_type() == kind;
}

bool isSecondsAndNanos(const Descriptor& type) {
  const FieldDescriptor* seconds = type.FindFieldByName("seconds");
  const FieldDescriptor* nanos = type.FindFieldByName("nanos");
  return seconds != nullptr && !seconds->is_repeated() &&
         seconds->type() == FieldDescriptor::TYPE_INT64 && nanos != nullptr &&
         !nanos->is_repeated() && nanos->type() == FieldDescriptor::TYPE_INT32;
}

bool isFieldMask(const Descriptor& type) {
  const FieldDescriptor* paths = type.FindFieldByName("paths");
  return paths != nullptr && paths->is_repeated() && paths->type() == FieldDescriptor::TYPE_STRING;
}

bool isWrapper(const Descriptor& type) {
  const FieldDescriptor* value = type.FindFieldByName("value");
  return value != nullptr && !value->is_repeated() &&
         value->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
         value->cpp_type() != FieldDescriptor::CPPTYPE_ENUM;
}

bool hasMap(const Descriptor& type, const char* name) {
  const FieldDescriptor* field = type.FindFieldByName(name);
  return field != nullptr && field->is_map();
}

bool isRepeatedMessage(const Descriptor& type, const char* name) {
  const FieldDescriptor* field = type.FindFieldByName(name);
  return field != nullptr && field->is_repeated() &&
         field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool isValue(const Descriptor& type) {
  return type.FindFieldByName("null_value") != nullptr &&
         hasSingular(type, "number_value", FieldDescriptor::CPPTYPE_DOUBLE) &&
         hasSingular(type, "string_value", FieldDescriptor::CPPTYPE_STRING) &&
         hasSingular(type, "bool_value", FieldDescriptor::CPPTYPE_BOOL) &&
         hasSingular(type, "struct_value", FieldDescriptor::CPPTYPE_MESSAGE) &&
         hasSingular(type, "list_value", FieldDescriptor::CPPTYPE_MESSAGE);
}

bool isAny(const Descriptor& type) {
  return hasSingular(type, "type_url", FieldDescriptor::CPPTYPE_STRING) &&
         hasSingular(type, "value", FieldDescriptor::CPPTYPE_STRING);
}

}  // namespace

bool isMapEntry(const Descriptor& type) {
  if (!type.options().map_entry() || type.field_count() != 2) return false;
  const FieldDescriptor& key = *type.field(0);
  const FieldDescriptor& value = *type.field(1);
  return key.number() == 1 && key.name() == "key" && key.is_optional() &&
         key.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
         key.type() != FieldDescriptor::TYPE_BYTES && value.number() == 2 &&
         value.name() == "value" && value.is_optional();
}

ProtobufWellKnown wellKnownType(const Descriptor& type) {
  constexpr std::string_view kPackage = "google.protobuf.";
  const std::string& fullName = type.full_name();
  if (!fullName.starts_with(kPackage)) return ProtobufWellKnown::kNone;
  const std::string_view name = std::string_view(fullName).substr(kPackage.size());
  const auto ifShaped = [](bool hasShape, ProtobufWellKnown known) {
    return hasShape ? known : ProtobufWellKnown::kNone;
  };
  if (name == "Timestamp") return ifShaped(isSecondsAndNanos(type), ProtobufWellKnown::kTimestamp);
  if (name == "Duration") return ifShaped(isSecondsAndNanos(type), ProtobufWellKnown::kDuration);
  if (name == "FieldMask") return ifShaped(isFieldMask(type), ProtobufWellKnown::kFieldMask);
  if (name == "Struct") return ifShaped(hasMap(type, "fields"), ProtobufWellKnown::kStruct);
  if (name == "Value") return ifShaped(isValue(type), ProtobufWellKnown::kValue);
  if (name == "ListValue") {
    return ifShaped(isRepeatedMessage(type, "values"), ProtobufWellKnown::kListValue);
  }
  if (name == "Any") return ifShaped(isAny(type), ProtobufWellKnown::kAny);
  if (name == "Int32Value" || name == "Int64Value" || name == "UInt32Value" ||
      name == "UInt64Value" || name == "FloatValue" || name == "DoubleValue" ||
      name == "BoolValue" || name == "StringValue" || name == "BytesValue") {
    return ifShaped(isWrapper(type), ProtobufWellKnown::kWrapper);
  }
  return ProtobufWellKnown::kNone;
}

}  // namespace penstock::bigquery
