#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"

namespace penstock::emulator {

/// What tables.insert is asked to make, checked by the service's rules: the table's name, the
/// schema, labels, that partitioning, clustering and keys name columns which can serve for it, an
/// expiration to come. What the dataset says about expirations goes for what the body leaves out.
/// kUnimplemented for views, external tables, snapshots and models.
absl::StatusOr<TableDefinition> parseTableDefinition(const TableReference& reference,
                                                     const nlohmann::json& body,
                                                     const Dataset& dataset, int64_t nowMillis);

/// How a body changes a table.
enum class ChangeKind : uint8_t {
  kPatch,   ///< what it holds; null takes a member away
  kUpdate,  ///< everything: what it leaves out goes, but for columns and partitioning, which cannot
};

/// What a table becomes by tables.patch or tables.update, by the same rules and those of
/// changedSchema(). A schema of null leaves the columns alone.
absl::StatusOr<TableDefinition> changedTable(const Table& live, const nlohmann::json& body,
                                             ChangeKind kind, int64_t nowMillis);

}  // namespace penstock::emulator
