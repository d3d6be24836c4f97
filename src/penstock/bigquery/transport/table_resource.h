#pragma once

#include <string>
#include <string_view>

#include "penstock/bigquery/sink/table_admin.h"

/// A table as BigQuery's REST API writes it.
namespace penstock::bigquery {

/// "/bigquery/v2/projects/P/datasets/D/tables", percent-encoded.
[[nodiscard]] std::string tablesPath(const TableName& table);
/// tablesPath and the table's own segment.
[[nodiscard]] std::string tablePath(const TableName& table);

/// The body of tables.insert.
[[nodiscard]] std::string newTableResource(const TableName& table, const TableSchema& schema,
                                           const TableCreateOptions& options);

/// The body of a tables.patch that changes the columns and nothing else.
[[nodiscard]] std::string schemaPatch(std::string_view schemaJson);

/// Reads the answer of tables.get. A table without columns has an empty schema.
[[nodiscard]] absl::StatusOr<TableInfo> parseTableResource(std::string_view json);

}  // namespace penstock::bigquery
