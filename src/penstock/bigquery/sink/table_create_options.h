#pragma once

#include <string>
#include <string_view>

#include "penstock/bigquery/sink/table_admin.h"

/// What a table is created with, as a JSON document: the members `timePartitioning` (type, field,
/// expirationMs) and `clustering` (fields) of BigQuery's own table resource.
namespace penstock::bigquery {

[[nodiscard]] std::string tableCreateOptionsToJson(const TableCreateOptions& options);

/// An empty text is a plain table. Members that this version does not know are errors that name
/// them, like values of the wrong type.
[[nodiscard]] absl::StatusOr<TableCreateOptions> parseTableCreateOptions(std::string_view json);

}  // namespace penstock::bigquery
