#pragma once

#include <string>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// The schema as a table for a terminal: column, type with parameters, mode, description. Fields of
/// a STRUCT stand indented below it. Lines end in '\n'.
[[nodiscard]] std::string describeSchema(const TableSchema& schema);

}  // namespace penstock::bigquery
