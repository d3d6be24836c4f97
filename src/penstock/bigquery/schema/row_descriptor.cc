#include "penstock/bigquery/schema/row_descriptor.h"

#include <google/cloud/bigquery/storage/v1/annotations.pb.h>
#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "penstock/base/log.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/validate_schema.h"

namespace penstock::bigquery {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;

FieldDescriptorProto::Label labelOf(ColumnMode mode) {
  switch (mode) {
    case ColumnMode::kNullable:
      return FieldDescriptorProto::LABEL_OPTIONAL;
    case ColumnMode::kRequired:
      return FieldDescriptorProto::LABEL_REQUIRED;
    case ColumnMode::kRepeated:
      return FieldDescriptorProto::LABEL_REPEATED;
  }
  return FieldDescriptorProto::LABEL_OPTIONAL;
}

/// The table of BQT-004.
FieldDescriptorProto::Type fieldTypeOf(ColumnType type, int64_t timestampPrecision) {
  switch (type) {
    case ColumnType::kBool:
      return FieldDescriptorProto::TYPE_BOOL;
    case ColumnType::kInt64:
    case ColumnType::kTime:
    case ColumnType::kDatetime:
      return FieldDescriptorProto::TYPE_INT64;
    case ColumnType::kTimestamp:
      return timestampPrecision == 12 ? FieldDescriptorProto::TYPE_STRING
                                      : FieldDescriptorProto::TYPE_INT64;
    case ColumnType::kDouble:
      return FieldDescriptorProto::TYPE_DOUBLE;
    case ColumnType::kDate:
      return FieldDescriptorProto::TYPE_INT32;
    case ColumnType::kBytes:
    case ColumnType::kNumeric:
    case ColumnType::kBignumeric:
      return FieldDescriptorProto::TYPE_BYTES;
    case ColumnType::kStruct:
    case ColumnType::kRange:
      return FieldDescriptorProto::TYPE_MESSAGE;
    case ColumnType::kUnset:  // validateSchema has refused it
    case ColumnType::kString:
    case ColumnType::kJson:
    case ColumnType::kGeography:
    case ColumnType::kInterval:
      return FieldDescriptorProto::TYPE_STRING;
  }
  return FieldDescriptorProto::TYPE_STRING;
}

/// Builds `root`. All other messages are nested in it side by side and known by names that nothing
/// else in it has, so that a name means the same wherever it is looked up from.
class DescriptorBuilder {
 public:
  std::string build(const TableSchema& schema) {
    reserveFieldNames(schema.columns);
    root_.set_name("root");
    addFields(schema.columns, &root_);
    return root_.SerializeAsString();
  }

 private:
  void reserveFieldNames(const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      usedNames_.insert(rowFieldName(column.name));
      reserveFieldNames(column.fields);
    }
  }

  void addFields(const std::vector<Column>& columns, DescriptorProto* message) {
    const std::string parent = message->name();
    int number = 0;
    for (const Column& column : columns) {
      FieldDescriptorProto* field = message->add_field();
      field->set_name(rowFieldName(column.name));
      field->set_number(++number);
      field->set_label(labelOf(column.mode));
      field->set_type(fieldTypeOf(column.type, column.timestampPrecision));
      if (!isPlainName(column.name)) {
        field->mutable_options()->SetExtension(google::cloud::bigquery::storage::v1::column_name,
                                               lowerCase(column.name));
      }
      warnOfPrecision(column);
      if (field->type() == FieldDescriptorProto::TYPE_MESSAGE) {
        field->set_type_name(addMessage(column, parent + "__" + field->name()));
      }
    }
  }

  /// Adds the message of a STRUCT or RANGE column and returns its name.
  std::string addMessage(const Column& column, const std::string& wantedName) {
    DescriptorProto* message = root_.add_nested_type();
    message->set_name(uniqueName(wantedName));
    if (column.type == ColumnType::kStruct) {
      addFields(column.fields, message);
    } else {
      const Column bound{.name = "start", .type = column.rangeElementType};
      Column end = bound;
      end.name = "end";
      addFields({bound, end}, message);
    }
    return message->name();
  }

  std::string uniqueName(const std::string& wanted) {
    std::string name = wanted;
    for (int suffix = 2; !usedNames_.insert(name).second; ++suffix) {
      name = wanted + "_" + std::to_string(suffix);
    }
    return name;
  }

  static void warnOfPrecision(const Column& column) {
    const int64_t precision = column.timestampPrecision;
    if (precision == 0 || precision == 6 || precision == 12) return;
    base::logWarning(
        "column \"{}\" has timestampPrecision {}, and only 6 and 12 are known; its values are sent "
        "as "
        "microseconds",
        column.name, precision);
  }

  DescriptorProto root_;
  std::unordered_set<std::string> usedNames_ = {"root"};
};

}  // namespace

absl::StatusOr<std::string> rowDescriptor(const TableSchema& schema) {
  PENSTOCK_RETURN_IF_ERROR(validateSchema(schema));
  return DescriptorBuilder().build(schema);
}

}  // namespace penstock::bigquery
