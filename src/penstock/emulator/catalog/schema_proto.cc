#include "penstock/emulator/catalog/schema_proto.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;

api::TableFieldSchema::Type protoType(FieldType type) {
  switch (type) {
    case FieldType::kString:
      return api::TableFieldSchema::STRING;
    case FieldType::kBytes:
      return api::TableFieldSchema::BYTES;
    case FieldType::kInt64:
      return api::TableFieldSchema::INT64;
    case FieldType::kFloat64:
      return api::TableFieldSchema::DOUBLE;
    case FieldType::kBool:
      return api::TableFieldSchema::BOOL;
    case FieldType::kTimestamp:
      return api::TableFieldSchema::TIMESTAMP;
    case FieldType::kDate:
      return api::TableFieldSchema::DATE;
    case FieldType::kTime:
      return api::TableFieldSchema::TIME;
    case FieldType::kDatetime:
      return api::TableFieldSchema::DATETIME;
    case FieldType::kNumeric:
      return api::TableFieldSchema::NUMERIC;
    case FieldType::kBignumeric:
      return api::TableFieldSchema::BIGNUMERIC;
    case FieldType::kGeography:
      return api::TableFieldSchema::GEOGRAPHY;
    case FieldType::kJson:
      return api::TableFieldSchema::JSON;
    case FieldType::kInterval:
      return api::TableFieldSchema::INTERVAL;
    case FieldType::kRange:
      return api::TableFieldSchema::RANGE;
    case FieldType::kStruct:
      return api::TableFieldSchema::STRUCT;
  }
  return api::TableFieldSchema::TYPE_UNSPECIFIED;
}

api::TableFieldSchema::Mode protoMode(FieldMode mode) {
  switch (mode) {
    case FieldMode::kNullable:
      return api::TableFieldSchema::NULLABLE;
    case FieldMode::kRequired:
      return api::TableFieldSchema::REQUIRED;
    case FieldMode::kRepeated:
      return api::TableFieldSchema::REPEATED;
  }
  return api::TableFieldSchema::NULLABLE;
}

void writeField(const Field& field, api::TableFieldSchema& proto) {
  proto.set_name(field.name);
  proto.set_type(protoType(field.type));
  proto.set_mode(protoMode(field.mode));
  proto.set_description(field.description);
  proto.set_max_length(field.maxLength);
  proto.set_precision(field.precision);
  proto.set_scale(field.scale);
  proto.set_default_value_expression(field.defaultValueExpression);
  if (field.timestampPrecision != 0) {
    proto.mutable_timestamp_precision()->set_value(field.timestampPrecision);
  }
  if (field.rangeElementType) {
    proto.mutable_range_element_type()->set_type(protoType(*field.rangeElementType));
  }
  for (const Field& child : field.fields) writeField(child, *proto.add_fields());
}

}  // namespace

api::TableSchema toSchemaProto(const Schema& schema) {
  api::TableSchema proto;
  for (const Field& field : schema.fields) writeField(field, *proto.add_fields());
  return proto;
}

}  // namespace penstock::emulator
