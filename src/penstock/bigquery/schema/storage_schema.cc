#include "penstock/bigquery/schema/storage_schema.h"

#include <climits>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/schema_proto.h"

namespace penstock::bigquery {

absl::StatusOr<TableSchema> parseStorageSchema(std::string_view serialized) {
  google::cloud::bigquery::storage::v1::TableSchema proto;
  if (serialized.size() > INT_MAX ||
      !proto.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return base::invalidArgument("{} bytes are no serialized TableSchema", serialized.size());
  }
  return schemaFromProto(proto);
}

}  // namespace penstock::bigquery
