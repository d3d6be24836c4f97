// Bytes as an AppendRowsRequest and as a row: whatever they are, nothing is read outside them, and
// the quick look passes no row that the close one would refuse.
#include <google/protobuf/descriptor.pb.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "penstock/emulator/service/append_request.h"
#include "penstock/emulator/service/row_validator.h"

namespace penstock::emulator {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;

struct Target {
  Schema schema;
  DescriptorProto descriptor;

  Field& add(FieldType type, FieldDescriptorProto::Type protoType,
             FieldMode mode = FieldMode::kNullable) {
    Field field;
    field.name = "c" + std::to_string(schema.fields.size() + 1);
    field.type = type;
    field.mode = mode;
    FieldDescriptorProto& row = *descriptor.add_field();
    row.set_name(field.name);
    row.set_number(descriptor.field_size());
    row.set_type(protoType);
    row.set_label(mode == FieldMode::kRepeated ? FieldDescriptorProto::LABEL_REPEATED
                                               : FieldDescriptorProto::LABEL_OPTIONAL);
    schema.fields.push_back(std::move(field));
    return schema.fields.back();
  }
};

/// A column of every type, some with what columns may ask for.
Target makeTarget(int depth) {
  Target target;
  target.descriptor.set_name("Row" + std::to_string(depth));
  target.add(FieldType::kInt64, FieldDescriptorProto::TYPE_INT64, FieldMode::kRequired);
  target.add(FieldType::kString, FieldDescriptorProto::TYPE_STRING).maxLength = 4;
  target.add(FieldType::kBytes, FieldDescriptorProto::TYPE_BYTES).maxLength = 4;
  target.add(FieldType::kFloat64, FieldDescriptorProto::TYPE_DOUBLE);
  target.add(FieldType::kFloat64, FieldDescriptorProto::TYPE_FLOAT, FieldMode::kRepeated);
  target.add(FieldType::kBool, FieldDescriptorProto::TYPE_BOOL);
  target.add(FieldType::kDate, FieldDescriptorProto::TYPE_INT32, FieldMode::kRepeated);
  target.add(FieldType::kTime, FieldDescriptorProto::TYPE_INT64);
  target.add(FieldType::kDatetime, FieldDescriptorProto::TYPE_INT64);
  target.add(FieldType::kTimestamp, FieldDescriptorProto::TYPE_INT64);
  target.add(FieldType::kTimestamp, FieldDescriptorProto::TYPE_STRING);
  target.add(FieldType::kNumeric, FieldDescriptorProto::TYPE_BYTES);
  Field& decimal = target.add(FieldType::kBignumeric, FieldDescriptorProto::TYPE_BYTES);
  decimal.precision = 5;
  decimal.scale = 2;
  target.add(FieldType::kNumeric, FieldDescriptorProto::TYPE_DOUBLE);
  target.add(FieldType::kJson, FieldDescriptorProto::TYPE_STRING);
  target.add(FieldType::kGeography, FieldDescriptorProto::TYPE_STRING);
  target.add(FieldType::kInterval, FieldDescriptorProto::TYPE_STRING);
  if (depth == 0) return target;
  for (const FieldMode mode : {FieldMode::kNullable, FieldMode::kRepeated}) {
    const Target inner = makeTarget(depth - 1);
    target.add(FieldType::kStruct, FieldDescriptorProto::TYPE_MESSAGE, mode).fields =
        inner.schema.fields;
    target.descriptor.mutable_field()->rbegin()->set_type_name(inner.descriptor.name());
    if (mode == FieldMode::kNullable) *target.descriptor.add_nested_type() = inner.descriptor;
  }
  return target;
}

RowValidator& validator() {
  static RowValidator* const instance = [] {
    const Target target = makeTarget(1);
    auto plan = RowPlan::compile(target.descriptor, target.schema);
    if (!plan.ok()) std::abort();
    return new RowValidator(std::make_shared<const RowChecks>(*std::move(plan)));
  }();
  return *instance;
}

}  // namespace
}  // namespace penstock::emulator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  penstock::emulator::AppendRequest request;
  request.parse(bytes).IgnoreError();
  penstock::emulator::RowValidator& validator = penstock::emulator::validator();
  if (validator.check(bytes) != validator.checkClosely(bytes)) std::abort();
  return 0;
}
