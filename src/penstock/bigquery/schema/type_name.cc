#include "penstock/bigquery/schema/type_name.h"

#include <fmt/format.h>

#include <array>

#include "penstock/base/text.h"

namespace penstock::bigquery {
namespace {

struct TypeNames {
  ColumnType type;
  std::string_view sql;
  std::string_view rest;
  std::string_view other;  // a third spelling; empty = none
};

constexpr std::array<TypeNames, 16> kTypeNames = {{
    {ColumnType::kString, "STRING", "STRING", ""},
    {ColumnType::kInt64, "INT64", "INTEGER", ""},
    {ColumnType::kDouble, "FLOAT64", "FLOAT", "DOUBLE"},
    {ColumnType::kStruct, "STRUCT", "RECORD", ""},
    {ColumnType::kBytes, "BYTES", "BYTES", ""},
    {ColumnType::kBool, "BOOL", "BOOLEAN", ""},
    {ColumnType::kTimestamp, "TIMESTAMP", "TIMESTAMP", ""},
    {ColumnType::kDate, "DATE", "DATE", ""},
    {ColumnType::kTime, "TIME", "TIME", ""},
    {ColumnType::kDatetime, "DATETIME", "DATETIME", ""},
    {ColumnType::kGeography, "GEOGRAPHY", "GEOGRAPHY", ""},
    {ColumnType::kNumeric, "NUMERIC", "NUMERIC", ""},
    {ColumnType::kBignumeric, "BIGNUMERIC", "BIGNUMERIC", ""},
    {ColumnType::kInterval, "INTERVAL", "INTERVAL", ""},
    {ColumnType::kJson, "JSON", "JSON", ""},
    {ColumnType::kRange, "RANGE", "RANGE", ""},
}};

constexpr std::array<ColumnMode, 3> kModes = {ColumnMode::kNullable, ColumnMode::kRequired,
                                              ColumnMode::kRepeated};

}  // namespace

std::string_view nameOf(ColumnType type) {
  for (const TypeNames& names : kTypeNames) {
    if (names.type == type) return names.sql;
  }
  return "unset";
}

std::string_view restNameOf(ColumnType type) {
  for (const TypeNames& names : kTypeNames) {
    if (names.type == type) return names.rest;
  }
  return "TYPE_UNSPECIFIED";
}

std::string_view nameOf(ColumnMode mode) {
  switch (mode) {
    case ColumnMode::kNullable:
      return "NULLABLE";
    case ColumnMode::kRequired:
      return "REQUIRED";
    case ColumnMode::kRepeated:
      return "REPEATED";
  }
  return "unset";
}

std::optional<ColumnType> parseColumnType(std::string_view name) {
  const std::string upper = base::toUpper(name);
  if (upper.empty()) return std::nullopt;
  for (const TypeNames& names : kTypeNames) {
    if (upper == names.sql || upper == names.rest || upper == names.other) return names.type;
  }
  return std::nullopt;
}

std::optional<ColumnMode> parseColumnMode(std::string_view name) {
  const std::string upper = base::toUpper(name);
  for (const ColumnMode mode : kModes) {
    if (upper == nameOf(mode)) return mode;
  }
  return std::nullopt;
}

std::string describeType(const Column& column) {
  const std::string_view name = nameOf(column.type);
  if (column.type == ColumnType::kRange && column.rangeElementType != ColumnType::kUnset) {
    return fmt::format("{}<{}>", name, nameOf(column.rangeElementType));
  }
  if (column.scale != 0) return fmt::format("{}({}, {})", name, column.precision, column.scale);
  if (column.precision != 0) return fmt::format("{}({})", name, column.precision);
  if (column.maxLength != 0) return fmt::format("{}({})", name, column.maxLength);
  if (column.timestampPrecision != 0) {
    return fmt::format("{}({})", name, column.timestampPrecision);
  }
  return std::string(name);
}

}  // namespace penstock::bigquery
