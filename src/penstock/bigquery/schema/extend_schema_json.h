#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// The `schema` of a table resource, as JSON, with the changes of `united`: what uniteSchemas made
/// of the columns that stand in `live`. Live columns keep every attribute, also those that no
/// TableSchema holds (policy tags, collation, rounding mode, what is still to be invented),
/// BQW-162; new columns are added and modes relaxed. An empty `live` has no columns. INTERNAL if
/// `united` does not begin, at every level, with the columns of `live`.
[[nodiscard]] absl::StatusOr<std::string> extendSchemaJson(std::string_view live,
                                                           const TableSchema& united);

}  // namespace penstock::bigquery
