#include "penstock/bigquery/schema/schema_proto.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::bigquery {
namespace {

using ProtoField = google::cloud::bigquery::storage::v1::TableFieldSchema;
using ProtoSchema = google::cloud::bigquery::storage::v1::TableSchema;

constexpr std::array<std::pair<ColumnType, ProtoField::Type>, 17> kProtoTypes = {{
    {ColumnType::kUnset, ProtoField::TYPE_UNSPECIFIED},
    {ColumnType::kString, ProtoField::STRING},
    {ColumnType::kInt64, ProtoField::INT64},
    {ColumnType::kDouble, ProtoField::DOUBLE},
    {ColumnType::kStruct, ProtoField::STRUCT},
    {ColumnType::kBytes, ProtoField::BYTES},
    {ColumnType::kBool, ProtoField::BOOL},
    {ColumnType::kTimestamp, ProtoField::TIMESTAMP},
    {ColumnType::kDate, ProtoField::DATE},
    {ColumnType::kTime, ProtoField::TIME},
    {ColumnType::kDatetime, ProtoField::DATETIME},
    {ColumnType::kGeography, ProtoField::GEOGRAPHY},
    {ColumnType::kNumeric, ProtoField::NUMERIC},
    {ColumnType::kBignumeric, ProtoField::BIGNUMERIC},
    {ColumnType::kInterval, ProtoField::INTERVAL},
    {ColumnType::kJson, ProtoField::JSON},
    {ColumnType::kRange, ProtoField::RANGE},
}};

ProtoField::Type toProtoType(ColumnType type) {
  for (const auto& [ours, theirs] : kProtoTypes) {
    if (ours == type) return theirs;
  }
  return ProtoField::TYPE_UNSPECIFIED;
}

std::optional<ColumnType> fromProtoType(ProtoField::Type type) {
  for (const auto& [ours, theirs] : kProtoTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

ProtoField::Mode toProtoMode(ColumnMode mode) {
  switch (mode) {
    case ColumnMode::kNullable:
      return ProtoField::NULLABLE;
    case ColumnMode::kRequired:
      return ProtoField::REQUIRED;
    case ColumnMode::kRepeated:
      return ProtoField::REPEATED;
  }
  return ProtoField::MODE_UNSPECIFIED;
}

std::optional<ColumnMode> fromProtoMode(ProtoField::Mode mode) {
  switch (mode) {
    case ProtoField::MODE_UNSPECIFIED:
    case ProtoField::NULLABLE:
      return ColumnMode::kNullable;
    case ProtoField::REQUIRED:
      return ColumnMode::kRequired;
    case ProtoField::REPEATED:
      return ColumnMode::kRepeated;
    default:
      return std::nullopt;
  }
}

void toProtoField(const Column& column, ProtoField* field) {
  field->set_name(column.name);
  field->set_type(toProtoType(column.type));
  field->set_mode(toProtoMode(column.mode));
  field->set_description(column.description);
  field->set_max_length(column.maxLength);
  field->set_precision(column.precision);
  field->set_scale(column.scale);
  field->set_default_value_expression(column.defaultValueExpression);
  if (column.timestampPrecision != 0) {
    field->mutable_timestamp_precision()->set_value(column.timestampPrecision);
  }
  if (column.rangeElementType != ColumnType::kUnset) {
    field->mutable_range_element_type()->set_type(toProtoType(column.rangeElementType));
  }
  for (const Column& child : column.fields) toProtoField(child, field->add_fields());
}

absl::StatusOr<Column> fromProtoField(const ProtoField& field, const std::string& parent) {
  const std::string path = parent + field.name();
  const auto type = fromProtoType(field.type());
  const auto element = fromProtoType(field.range_element_type().type());
  const auto mode = fromProtoMode(field.mode());
  if (!type || !element || !mode) {
    const auto number = !type ? field.type() : !element ? field.range_element_type().type() : 0;
    return base::notSupported(
        "column \"{}\" of the table has a {} that this version of Penstock does not know (number "
        "{})",
        path, mode ? "type" : "mode",
        mode ? static_cast<int>(number) : static_cast<int>(field.mode()));
  }
  Column column{.name = field.name(),
                .type = *type,
                .mode = *mode,
                .precision = field.precision(),
                .scale = field.scale(),
                .maxLength = field.max_length(),
                .description = field.description(),
                .defaultValueExpression = field.default_value_expression(),
                .rangeElementType = *element,
                .timestampPrecision = field.timestamp_precision().value()};
  column.fields.reserve(static_cast<size_t>(field.fields_size()));
  for (const ProtoField& child : field.fields()) {
    PENSTOCK_ASSIGN_OR_RETURN(Column converted, fromProtoField(child, path + "."));
    column.fields.push_back(std::move(converted));
  }
  return column;
}

}  // namespace

ProtoSchema schemaToProto(const TableSchema& schema) {
  ProtoSchema proto;
  for (const Column& column : schema.columns) toProtoField(column, proto.add_fields());
  return proto;
}

absl::StatusOr<TableSchema> schemaFromProto(const ProtoSchema& proto) {
  TableSchema schema;
  schema.columns.reserve(static_cast<size_t>(proto.fields_size()));
  for (const ProtoField& field : proto.fields()) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, fromProtoField(field, ""));
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace penstock::bigquery
