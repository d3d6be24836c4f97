#pragma once

#include <absl/status/status.h>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// Whether rows laid out by `rows` can be appended to a table whose columns are `table`: found from
/// the schemas alone, before any record. OK, or all that contradicts (in words the first five),
/// naming each column by its dotted path and saying what it is in the schema and in the table: a
/// column that the table lacks, another type, one REPEATED and the other not, a REQUIRED column of
/// the table that the schema has NULLABLE, or has not although the column has no default value.
/// Names are compared as BigQuery does, in lower case; order, parameters (lengths, precision) and a
/// column that is REQUIRED in the schema only do not matter.
[[nodiscard]] absl::Status checkSchemaFits(const TableSchema& rows, const TableSchema& table);

}  // namespace penstock::bigquery
