#pragma once

#include <absl/status/status.h>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// STRUCTs may stand in each other this deep: the service's limit.
inline constexpr int kMaxSchemaDepth = 15;

/// Everything about a schema that is a ConfigError, before any record is seen (BQT-003 to BQT-006,
/// BQT-051): no column, a column without name or type, names of one level that are equal in lower
/// case, STRUCT without fields, fields without STRUCT, RANGE without DATE, DATETIME or TIMESTAMP,
/// parameters that do not belong to the type or leave its bounds. The message names the column by
/// its dotted path.
[[nodiscard]] absl::Status validateSchema(const TableSchema& schema);

}  // namespace penstock::bigquery
