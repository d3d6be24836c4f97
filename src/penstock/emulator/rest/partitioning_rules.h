#pragma once

#include <nlohmann/json_fwd.hpp>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// Checks timePartitioning, rangePartitioning and clustering of a table's members by the service's
/// rules: one kind of partitioning at most, columns that are there, at the top and not REPEATED,
/// types that can serve for it, bounds that make sense, one to four clustering columns. Integers
/// inside become strings, as the service answers them. kInvalidArgument.
[[nodiscard]] absl::Status checkPartitioning(nlohmann::json& members, const Schema& schema);

/// Whether a table may go from the one to the other: its partitioning stays what it was, but for
/// the expiration of partitions; clustering may change. kInvalidArgument.
[[nodiscard]] absl::Status checkSamePartitioning(const nlohmann::json& live,
                                                 const nlohmann::json& changed);

}  // namespace penstock::emulator
