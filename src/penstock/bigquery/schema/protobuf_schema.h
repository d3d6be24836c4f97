#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include "penstock/bigquery/schema/protobuf_schema_options.h"
#include "penstock/bigquery/schema/table_schema.h"

/// Internal: it shows protobuf.
namespace penstock::bigquery {

/// The columns of a table for messages of `type` (BQT-016 to BQT-026). Errors are configuration
/// errors and name the field by its path: recursion, a message without fields, names that differ
/// only by case, markers that do not fit.
[[nodiscard]] absl::StatusOr<TableSchema> deriveTableSchema(
    const google::protobuf::Descriptor& type, const ProtoSchemaOptions& options);

/// Whether the field is always written, as its default when it is unset (BQT-019): it has no
/// presence, or is the key or value of a map.
[[nodiscard]] bool isAlwaysWritten(const google::protobuf::FieldDescriptor& field);

}  // namespace penstock::bigquery
