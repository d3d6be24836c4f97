#include "penstock/bigquery/schema/schema_fit.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_kind.h"
#include "penstock/bigquery/schema/column_name.h"

namespace penstock::bigquery {
namespace {

using Columns = std::vector<Column>;

bool modeFits(ColumnMode rows, ColumnMode table) {
  return rows == table || (rows == ColumnMode::kRequired && table == ColumnMode::kNullable);
}

absl::Status checkColumns(const Columns& rows, const Columns& table, const std::string& parent);

absl::Status checkColumn(const Column& column, const Column& ofTable, const std::string& path) {
  if (!isSameKind(column, ofTable) || !modeFits(column.mode, ofTable.mode)) {
    return base::invalidArgument("column \"{}\" is {} in the schema and {} in the table", path,
                                 describeKind(column), describeKind(ofTable));
  }
  return checkColumns(column.fields, ofTable.fields, path + ".");
}

absl::Status checkColumns(const Columns& rows, const Columns& table, const std::string& parent) {
  std::unordered_map<std::string, const Column*>
      missing;  // of the table's, by their compared names
  for (const Column& column : table) missing.emplace(lowerCase(column.name), &column);
  for (const Column& column : rows) {
    const std::string path = parent + column.name;
    const auto found = missing.find(lowerCase(column.name));
    if (found == missing.end()) {
      return base::invalidArgument("column \"{}\" is {} in the schema and is not in the table",
                                   path, describeKind(column));
    }
    PENSTOCK_RETURN_IF_ERROR(checkColumn(column, *found->second, path));
    missing.erase(found);
  }
  for (const Column& column : table) {
    const bool needsValue =
        column.mode == ColumnMode::kRequired && column.defaultValueExpression.empty();
    if (!needsValue || !missing.contains(lowerCase(column.name))) continue;
    return base::invalidArgument("column \"{}{}\" is {} in the table and is not in the schema",
                                 parent, column.name, describeKind(column));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status checkSchemaFits(const TableSchema& rows, const TableSchema& table) {
  return checkColumns(rows.columns, table.columns, "");
}

}  // namespace penstock::bigquery
