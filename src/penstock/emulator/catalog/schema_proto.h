#pragma once

#include <google/cloud/bigquery/storage/v1/table.pb.h>

#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// The schema as GetWriteStream (view FULL) and AppendRowsResponse.updated_schema give it.
[[nodiscard]] google::cloud::bigquery::storage::v1::TableSchema toSchemaProto(const Schema& schema);

}  // namespace penstock::emulator
