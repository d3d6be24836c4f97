#pragma once

#include <memory>
#include <span>

#include "penstock/base/status.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/storage_writer.h"
#include "penstock/connector/sink.h"

namespace penstock::bigquery {

/// The writer core of `options`' write method, going on with `restored` (empty: afresh).
/// `init` names where its metrics go. Checks the
/// options again (BASE-005); an error of a state says which one it is.
[[nodiscard]] absl::StatusOr<std::unique_ptr<StorageWriter>> createStorageWriter(
    const SinkOptions& options, const SinkConnections& connections,
    const connector::WriterInit& init, std::span<const connector::WriterState> restored);

}  // namespace penstock::bigquery
