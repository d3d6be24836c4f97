#pragma once

#include <string>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// What a table or a request holds, row by row.
using Rows = std::vector<std::string>;

/// STRING columns of these names.
[[nodiscard]] inline TableSchema columns(const std::vector<std::string>& names,
                                         ColumnMode mode = ColumnMode::kNullable) {
  TableSchema schema;
  for (const std::string& name : names) {
    schema.columns.push_back({.name = name, .type = ColumnType::kString, .mode = mode});
  }
  return schema;
}

/// The message of an error.
[[nodiscard]] inline std::string errorText(const absl::Status& status) {
  return std::string(base::messageOf(status));
}

}  // namespace penstock::bigquery
