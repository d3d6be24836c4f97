#pragma once

#include <absl/status/statusor.h>
#include <google/cloud/bigquery/storage/v1/table.pb.h>

#include "penstock/bigquery/schema/table_schema.h"

/// The Storage API's form of a schema. Internal: it shows generated code.
namespace penstock::bigquery {

[[nodiscard]] google::cloud::bigquery::storage::v1::TableSchema schemaToProto(
    const TableSchema& schema);

/// An unset mode is NULLABLE. Columns of a type that this version does not know are an error that
/// names them.
[[nodiscard]] absl::StatusOr<TableSchema> schemaFromProto(
    const google::cloud::bigquery::storage::v1::TableSchema& proto);

}  // namespace penstock::bigquery
