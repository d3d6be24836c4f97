#include "penstock/bigquery/schema/protobuf_schema.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/protobuf_markers.h"
#include "penstock/bigquery/schema/protobuf_well_known.h"
#include "penstock/bigquery/schema/validate_schema.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

ColumnType scalarType(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return ColumnType::kInt64;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ColumnType::kDouble;
    case FieldDescriptor::CPPTYPE_BOOL:
      return ColumnType::kBool;
    case FieldDescriptor::CPPTYPE_ENUM:
      return ColumnType::kString;
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? ColumnType::kBytes : ColumnType::kString;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return ColumnType::kStruct;
}

/// The mode of BQT-026. `isSingleJson`: a singular field that is marked or JSON by its type.
ColumnMode modeOf(const FieldDescriptor& field, bool isSingleJson, bool deriveRequired) {
  if (field.is_repeated()) return ColumnMode::kRepeated;
  if (!deriveRequired || isSingleJson) return ColumnMode::kNullable;
  if (field.is_required()) return ColumnMode::kRequired;
  const bool isProto3 = field.file()->syntax() == FileDescriptor::SYNTAX_PROTO3;
  if (isMapEntry(*field.containing_type())) {
    const bool isMessage = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    return isProto3 && !isMessage ? ColumnMode::kRequired : ColumnMode::kNullable;
  }
  return field.has_presence() ? ColumnMode::kNullable : ColumnMode::kRequired;
}

class Derivation {
 public:
  Derivation(ProtobufMarkers markers, bool deriveRequired)
      : markers_(std::move(markers)), deriveRequired_(deriveRequired) {}

  absl::StatusOr<std::vector<Column>> columnsOf(const Descriptor& type, const std::string& path) {
    PENSTOCK_RETURN_IF_ERROR(checkType(type, path));
    ancestors_.push_back(&type);
    std::vector<Column> columns;
    std::unordered_map<std::string, std::string> names;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string fieldPath = path.empty() ? field.name() : path + "." + field.name();
      PENSTOCK_ASSIGN_OR_RETURN(Column column, columnOf(field, fieldPath));
      const auto [other, added] = names.emplace(lowerCase(column.name), column.name);
      if (!added) {
        return invalidArgument(
            "field \"{}\": the message has \"{}\" too, and BigQuery's column names do not differ "
            "by case",
            fieldPath, other->second);
      }
      columns.push_back(std::move(column));
    }
    ancestors_.pop_back();
    return columns;
  }

  [[nodiscard]] const ProtobufMarkers& markers() const { return markers_; }

 private:
  absl::Status checkType(const Descriptor& type, const std::string& path) {
    const std::string where = path.empty() ? "" : "field \"" + path + "\": ";
    if (std::find(ancestors_.begin(), ancestors_.end(), &type) != ancestors_.end()) {
      return invalidArgument(
          "{}message {} contains itself, and columns cannot; mark the field as JSON", where,
          type.full_name());
    }
    if (type.field_count() == 0) {
      return invalidArgument("{}message {} has no fields, and a STRUCT needs at least one", where,
                             type.full_name());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Column> columnOf(const FieldDescriptor& field, const std::string& path) {
    PENSTOCK_ASSIGN_OR_RETURN(const ProtobufMark mark, markers_.markOf(field, path));
    Column column;
    // A group's field is the lower-cased name of its type; people know the field by that.
    column.name = field.name();
    const Descriptor* message = field.message_type();
    const ProtobufWellKnown known =
        message != nullptr ? wellKnownType(*message) : ProtobufWellKnown::kNone;
    column.mode = modeOf(field, mark != ProtobufMark::kNone || isJsonType(known), deriveRequired_);
    if (mark == ProtobufMark::kJson || (mark == ProtobufMark::kNone && isJsonType(known))) {
      column.type = ColumnType::kJson;
    } else if (mark == ProtobufMark::kGeography) {
      column.type = ColumnType::kGeography;
    } else if (message == nullptr) {
      column.type = scalarType(field);
    } else {
      PENSTOCK_RETURN_IF_ERROR(setMessageType(*message, known, path, &column));
    }
    return column;
  }

  absl::Status setMessageType(const Descriptor& message, ProtobufWellKnown known,
                              const std::string& path, Column* column) {
    switch (known) {
      case ProtobufWellKnown::kTimestamp:
        column->type = ColumnType::kTimestamp;
        return absl::OkStatus();
      case ProtobufWellKnown::kDuration:
        column->type = ColumnType::kInt64;
        return absl::OkStatus();
      case ProtobufWellKnown::kFieldMask:
        column->type = ColumnType::kString;
        return absl::OkStatus();
      case ProtobufWellKnown::kWrapper:
        column->type = scalarType(*message.FindFieldByName("value"));
        return absl::OkStatus();
      default:
        break;
    }
    column->type = ColumnType::kStruct;
    PENSTOCK_ASSIGN_OR_RETURN(column->fields, columnsOf(message, path));
    return absl::OkStatus();
  }

  ProtobufMarkers markers_;
  const bool deriveRequired_;
  std::vector<const Descriptor*> ancestors_;
};

}  // namespace

absl::StatusOr<TableSchema> deriveTableSchema(const Descriptor& type,
                                              const ProtoSchemaOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(ProtobufMarkers markers, ProtobufMarkers::create(options));
  Derivation derivation(std::move(markers), options.deriveRequiredColumns);
  TableSchema schema;
  PENSTOCK_ASSIGN_OR_RETURN(schema.columns, derivation.columnsOf(type, ""));
  PENSTOCK_RETURN_IF_ERROR(derivation.markers().checkAllPathsMet(type.full_name()));
  PENSTOCK_RETURN_IF_ERROR(base::withContext(validateSchema(schema), type.full_name()));
  return schema;
}

bool isAlwaysWritten(const FieldDescriptor& field) {
  if (field.is_repeated()) return false;
  return !field.has_presence() || isMapEntry(*field.containing_type());
}

}  // namespace penstock::bigquery
