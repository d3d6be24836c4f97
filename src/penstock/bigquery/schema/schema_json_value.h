#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>

#include "penstock/bigquery/schema/table_schema.h"

/// schema_json.h for code that has a parsed document in hand: the REST client.
namespace penstock::bigquery {

/// `json` is one of the three forms that `parseSchemaJson` reads.
[[nodiscard]] absl::StatusOr<TableSchema> schemaFromJson(const nlohmann::json& json);

/// `{"fields": [...]}`: the `schema` of a table resource.
[[nodiscard]] nlohmann::json schemaToJsonValue(const TableSchema& schema);

}  // namespace penstock::bigquery
