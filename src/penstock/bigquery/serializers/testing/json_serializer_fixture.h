#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/serializers/json_document_serializer.h"

/// Short forms for tests of serializers.
namespace penstock::bigquery {

[[nodiscard]] Column column(std::string name, ColumnType type,
                            ColumnMode mode = ColumnMode::kNullable);
[[nodiscard]] Column repeated(std::string name, ColumnType type);
[[nodiscard]] Column required(std::string name, ColumnType type);
[[nodiscard]] Column structColumn(std::string name, std::vector<Column> fields,
                                  ColumnMode mode = ColumnMode::kNullable);
[[nodiscard]] Column rangeColumn(std::string name, ColumnType elementType);

/// The bytes of one row, or the error. Serialized alone and in a batch: both must agree.
[[nodiscard]] absl::StatusOr<std::string> rowOf(const TableSchema& schema,
                                                std::string_view document,
                                                const JsonDocumentOptions& options = {});

/// "0A 05" without spaces; what went wrong in place of a row: "root.a (INT64): ...".
[[nodiscard]] std::string hexRow(const TableSchema& schema, std::string_view document,
                                 const JsonDocumentOptions& options = {});

[[nodiscard]] std::string toHex(std::string_view bytes);

}  // namespace penstock::bigquery
