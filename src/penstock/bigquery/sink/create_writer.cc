#include "penstock/bigquery/sink/create_writer.h"

#include <utility>

#include "penstock/bigquery/sink/buffered_stream_writer.h"
#include "penstock/bigquery/sink/default_stream_writer.h"

namespace penstock::bigquery {

absl::StatusOr<std::unique_ptr<StorageWriter>> createStorageWriter(
    const SinkOptions& options, const SinkConnections& connections,
    const connector::WriterInit& init, std::span<const connector::WriterState> restored) {
  WriterDependencies shared;
  shared.pool = connections.pool;
  shared.admin = connections.admin;
  shared.clock = connections.clock;
  shared.random = base::systemRandom();
  shared.metrics = init.metrics;
  shared.emulator = connections.emulator;
  if (options.writeMethod == WriteMethod::kStorageApiExactlyOnce) {
    BufferedStreamWriter::Dependencies dependencies{std::move(shared)};
    dependencies.streams = connections.streams;
    dependencies.subtaskIndex = init.subtaskIndex;
    dependencies.parallelism = init.parallelism;
    return BufferedStreamWriter::create(options, std::move(dependencies), restored);
  }
  if (!restored.empty()) {
    return base::invalidArgument(
        "there is state of {} writers to restore, and STORAGE_API_AT_LEAST_ONCE has none: it was "
        "written with another write method; continue with that one, or start afresh",
        restored.size());
  }
  return DefaultStreamWriter::create(options, std::move(shared));
}

}  // namespace penstock::bigquery
