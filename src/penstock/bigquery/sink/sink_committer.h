#pragma once

#include <memory>

#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/connector/sink.h"

namespace penstock::bigquery {

/// The blocking committer of the options' write method; null for one whose rows are visible without
/// (STORAGE_API_AT_LEAST_ONCE).
[[nodiscard]] absl::StatusOr<std::unique_ptr<connector::Committer>> createSinkCommitter(
    const SinkOptions& options, const SinkConnections& connections);

}  // namespace penstock::bigquery
