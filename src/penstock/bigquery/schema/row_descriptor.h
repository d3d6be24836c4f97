#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// The serialized google.protobuf.DescriptorProto of the schema's rows (BQT-004 to BQT-008):
/// proto2, one message `root` that holds the messages of STRUCT and RANGE columns. A column's field
/// number is its position, its field name `rowFieldName(column.name)`. Refuses what
/// `validateSchema` refuses.
[[nodiscard]] absl::StatusOr<std::string> rowDescriptor(const TableSchema& schema);

}  // namespace penstock::bigquery
