#pragma once

#include <cstdint>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// A hash of everything in the schema (BQT-009): equal schemas have equal fingerprints, in every
/// process and every version, and any change changes it. Compute it once per schema, compare it per
/// record.
[[nodiscard]] uint64_t schemaFingerprint(const TableSchema& schema);

}  // namespace penstock::bigquery
