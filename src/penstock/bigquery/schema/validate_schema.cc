#include "penstock/bigquery/schema/validate_schema.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/type_name.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;

/// Protobuf keeps 19000 to 19999 for itself; BigQuery's own limit of 10,000 columns lies below.
constexpr size_t kMaxColumns = 10'000;
constexpr int64_t kMaxNumericScale = 9;
constexpr int64_t kMaxNumericIntegerDigits = 29;
constexpr int64_t kMaxBignumericScale = 38;
constexpr int64_t kMaxBignumericIntegerDigits = 38;

absl::Status checkDecimalParameters(const Column& column, std::string_view path) {
  if (column.precision == 0 && column.scale == 0) return absl::OkStatus();
  const bool numeric = column.type == ColumnType::kNumeric;
  if (!numeric && column.type != ColumnType::kBignumeric) {
    return invalidArgument(
        "column \"{}\": {} has no precision or scale; only NUMERIC and BIGNUMERIC do", path,
        nameOf(column.type));
  }
  if (column.precision == 0) {
    return invalidArgument("column \"{}\": a scale ({}) needs a precision", path, column.scale);
  }
  const int64_t maxScale = numeric ? kMaxNumericScale : kMaxBignumericScale;
  const int64_t maxInteger = numeric ? kMaxNumericIntegerDigits : kMaxBignumericIntegerDigits;
  if (column.scale < 0 || column.scale > maxScale || column.precision < column.scale ||
      column.precision < 1 || column.precision - column.scale > maxInteger) {
    return invalidArgument(
        "column \"{}\": {} does not exist: {} has a scale of 0 to {} and at most {} digits before "
        "the decimal point (precision - scale)",
        path, describeType(column), nameOf(column.type), maxScale, maxInteger);
  }
  return absl::OkStatus();
}

absl::Status checkParameters(const Column& column, std::string_view path) {
  PENSTOCK_RETURN_IF_ERROR(checkDecimalParameters(column, path));
  if (column.maxLength != 0) {
    if (column.type != ColumnType::kString && column.type != ColumnType::kBytes) {
      return invalidArgument("column \"{}\": {} has no maxLength; only STRING and BYTES do", path,
                             nameOf(column.type));
    }
    if (column.maxLength < 0) {
      return invalidArgument("column \"{}\": maxLength is {}, and must be above 0", path,
                             column.maxLength);
    }
  }
  if (column.timestampPrecision != 0 && column.type != ColumnType::kTimestamp) {
    return invalidArgument("column \"{}\": {} has no timestampPrecision; only TIMESTAMP does", path,
                           nameOf(column.type));
  }
  return absl::OkStatus();
}

absl::Status checkRange(const Column& column, std::string_view path) {
  const ColumnType element = column.rangeElementType;
  if (column.type != ColumnType::kRange) {
    if (element == ColumnType::kUnset) return absl::OkStatus();
    return invalidArgument("column \"{}\": {} has no rangeElementType; only RANGE does", path,
                           nameOf(column.type));
  }
  if (element != ColumnType::kDate && element != ColumnType::kDatetime &&
      element != ColumnType::kTimestamp) {
    return invalidArgument(
        "column \"{}\": the rangeElementType of a RANGE is DATE, DATETIME or TIMESTAMP; it is {}",
        path, nameOf(element));
  }
  return absl::OkStatus();
}

absl::Status checkColumns(const std::vector<Column>& columns, const std::string& parent, int depth);

absl::Status checkColumn(const Column& column, const std::string& path, int depth) {
  if (column.type == ColumnType::kUnset) {
    return invalidArgument("column \"{}\" has no type", path);
  }
  PENSTOCK_RETURN_IF_ERROR(checkParameters(column, path));
  PENSTOCK_RETURN_IF_ERROR(checkRange(column, path));
  if (column.type != ColumnType::kStruct) {
    if (column.fields.empty()) return absl::OkStatus();
    return invalidArgument("column \"{}\" is a {} and cannot have fields; only STRUCT (RECORD) can",
                           path, nameOf(column.type));
  }
  if (column.fields.empty()) {
    return invalidArgument("column \"{}\" is a STRUCT (RECORD) without fields", path);
  }
  if (depth > kMaxSchemaDepth) {
    return invalidArgument("column \"{}\": STRUCTs stand in each other more than {} levels deep",
                           path, kMaxSchemaDepth);
  }
  return checkColumns(column.fields, path + ".", depth + 1);
}

absl::Status checkColumns(const std::vector<Column>& columns, const std::string& parent,
                          int depth) {
  if (columns.size() > kMaxColumns) {
    return invalidArgument("{} columns on one level{}; BigQuery has at most {}", columns.size(),
                           parent.empty() ? "" : " (in \"" + parent + "\")", kMaxColumns);
  }
  std::unordered_map<std::string, std::string_view> names;  // as compared, as written
  std::unordered_map<std::string, std::string_view> fieldNames;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i].name;
    if (name.empty()) {
      return invalidArgument(
          "column {}{} has no name", i + 1,
          parent.empty() ? "" : " of \"" + parent.substr(0, parent.size() - 1) + "\"");
    }
    if (const auto [other, added] = names.emplace(lowerCase(name), name); !added) {
      return invalidArgument(
          "column \"{}{}\": there is \"{}\" already, and BigQuery's column names do not "
          "differ by case",
          parent, name, other->second);
    }
    if (const auto [other, added] = fieldNames.emplace(rowFieldName(name), name); !added) {
      return invalidArgument(
          "columns \"{0}{1}\" and \"{0}{2}\" would both be called {3} in rows; rename one of them",
          parent, other->second, name, other->first);
    }
    PENSTOCK_RETURN_IF_ERROR(checkColumn(columns[i], parent + name, depth));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status validateSchema(const TableSchema& schema) {
  if (schema.columns.empty()) return invalidArgument("the schema has no columns");
  return checkColumns(schema.columns, "", 1);
}

}  // namespace penstock::bigquery
