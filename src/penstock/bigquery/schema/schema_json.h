#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// Reads a schema in BigQuery's own JSON form (BQT-003): an array of columns, an object with
/// `fields`, or a table as `bq show --format=prettyjson` and the REST API print it, with a `schema`
/// in it. Types under their legacy or standard names, types and modes in any case, numbers as
/// numbers or strings. Attributes that the schema does not keep (policy tags, collation, ...) are
/// passed over. The result is valid
/// (`validateSchema`). Errors say what is wrong, at which column or line, and what to write
/// instead.
[[nodiscard]] absl::StatusOr<TableSchema> parseSchemaJson(std::string_view text);

/// `{"fields": [...]}` as the REST API has it, losslessly, with legacy type names. `indent`: spaces
/// per level; negative = one line.
[[nodiscard]] std::string schemaToJson(const TableSchema& schema, int indent = -1);

}  // namespace penstock::bigquery
