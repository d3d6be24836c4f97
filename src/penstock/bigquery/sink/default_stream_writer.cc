#include "penstock/bigquery/sink/default_stream_writer.h"

#include <utility>

#include "penstock/bigquery/sink/stream_writer_definitions.h"

namespace penstock::bigquery {

template class StreamWriter<DefaultStreamDestination>;

absl::StatusOr<std::unique_ptr<DefaultStreamWriter>> DefaultStreamWriter::create(
    const SinkOptions& options, Dependencies dependencies) {
  PENSTOCK_RETURN_IF_ERROR(validate(options));
  return std::unique_ptr<DefaultStreamWriter>(
      new DefaultStreamWriter(options, std::move(dependencies)));
}

DefaultStreamWriter::DefaultStreamWriter(const SinkOptions& options, Dependencies dependencies)
    : StreamWriter(options, std::move(dependencies)) {
  base::MetricGroup& metrics = *shared_.metrics;
  shared_.tablesCreated = &metrics.counter("tablesCreated");
  shared_.inFlightBatches = &metrics.gauge("inFlightBatches");
  shared_.openDestinations = &metrics.gauge("openDestinations");
}

}  // namespace penstock::bigquery
