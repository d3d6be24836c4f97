#pragma once

#include <memory>

#include "penstock/base/clock.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/stream_admin.h"
#include "penstock/bigquery/sink/table_admin.h"

namespace penstock::bigquery {

/// What the writers of a sink share: clients and the pool of connections. Everything may be
/// replaced by scripted ones in tests. Thread-safe.
struct SinkConnections {
  std::shared_ptr<AppendPool> pool;
  std::shared_ptr<TableAdmin> admin;
  std::shared_ptr<StreamAdmin> streams;  ///< only STORAGE_API_EXACTLY_ONCE needs it
  base::Clock* clock = nullptr;
  bool emulator = false;  ///< an emulator endpoint is configured (BQW-193)
};

/// Loads credentials and makes the clients; opens no connection yet (BQW-001). Sinks with the same
/// endpoint and credentials share them, over the whole process, until the last has let go of them
/// (BQW-058). Errors are those of the credentials (BASE-009). Thread-safe.
[[nodiscard]] absl::StatusOr<SinkConnections> connectSink(const SinkOptions& options);

}  // namespace penstock::bigquery
