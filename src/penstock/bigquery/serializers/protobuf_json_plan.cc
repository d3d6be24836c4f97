#include "penstock/bigquery/serializers/protobuf_json_plan.h"

#include <algorithm>

#include "penstock/bigquery/schema/protobuf_well_known.h"

namespace penstock::bigquery {
namespace {

using google::protobuf::FieldDescriptor;

ProtobufJsonForm formOf(ProtobufWellKnown known) {
  switch (known) {
    case ProtobufWellKnown::kNone:
      return ProtobufJsonForm::kObject;
    case ProtobufWellKnown::kTimestamp:
      return ProtobufJsonForm::kTimestamp;
    case ProtobufWellKnown::kDuration:
      return ProtobufJsonForm::kDuration;
    case ProtobufWellKnown::kFieldMask:
      return ProtobufJsonForm::kFieldMask;
    case ProtobufWellKnown::kWrapper:
      return ProtobufJsonForm::kWrapper;
    case ProtobufWellKnown::kStruct:
      return ProtobufJsonForm::kStruct;
    case ProtobufWellKnown::kValue:
      return ProtobufJsonForm::kValue;
    case ProtobufWellKnown::kListValue:
      return ProtobufJsonForm::kListValue;
    case ProtobufWellKnown::kAny:
      return ProtobufJsonForm::kAny;
  }
  return ProtobufJsonForm::kObject;
}

}  // namespace

const ProtobufJsonField* ProtobufJsonLevel::find(uint32_t number) const {
  const auto at = std::lower_bound(
      fields.begin(), fields.end(), number,
      [](const ProtobufJsonField& field, uint32_t wanted) { return field.number < wanted; });
  return at != fields.end() && at->number == number ? &*at : nullptr;
}

const ProtobufJsonLevel* ProtobufJsonPlan::of(const google::protobuf::Descriptor& type) {
  std::unique_ptr<ProtobufJsonLevel>& slot = levels_[&type];
  if (slot != nullptr) return slot.get();  // perhaps still being filled: a type within itself
  slot = std::make_unique<ProtobufJsonLevel>();
  ProtobufJsonLevel* const level = slot.get();
  level->form = formOf(wellKnownType(type));
  level->typeName = type.full_name();
  for (int i = 0; i < type.field_count(); ++i) level->fields.push_back(makeField(*type.field(i)));
  std::sort(level->fields.begin(), level->fields.end(),
            [](const auto& one, const auto& other) { return one.number < other.number; });
  return level;
}

ProtobufJsonField ProtobufJsonPlan::makeField(const FieldDescriptor& field) {
  ProtobufJsonField result;
  result.number = static_cast<uint32_t>(field.number());
  result.kind = kindOf(field);
  result.wireType = wireTypeOf(result.kind);
  result.isRepeated = field.is_repeated();
  result.isMap = field.is_map();
  result.hasPresence = field.has_presence();
  result.key = "\"" + field.json_name() + "\":";
  result.name = field.name();
  result.isOfValue = wellKnownType(*field.containing_type()) == ProtobufWellKnown::kValue;
  if (const auto* oneof = field.real_containing_oneof(); oneof != nullptr) {
    result.oneofBit = uint64_t{1} << (oneof->index() % 64);
  }
  if (field.message_type() != nullptr) result.level = of(*field.message_type());
  if (field.enum_type() != nullptr) {
    result.enumNames = enums_->of(*field.enum_type());
    result.isClosedEnum = field.file()->syntax() != google::protobuf::FileDescriptor::SYNTAX_PROTO3;
  }
  return result;
}

}  // namespace penstock::bigquery
