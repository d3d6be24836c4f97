#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// Reads a serialized google.cloud.bigquery.storage.v1.TableSchema: what an append's answer brings
/// as `updated_schema`. Columns of a type that this version does not know are an error that names
/// them.
[[nodiscard]] absl::StatusOr<TableSchema> parseStorageSchema(std::string_view serialized);

}  // namespace penstock::bigquery
