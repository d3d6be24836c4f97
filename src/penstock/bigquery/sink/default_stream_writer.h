#pragma once

#include <memory>

#include "penstock/bigquery/sink/default_stream_destination.h"
#include "penstock/bigquery/sink/stream_writer.h"

namespace penstock::bigquery {

extern template class StreamWriter<DefaultStreamDestination>;

/// The at-least-once writer (STORAGE_API_AT_LEAST_ONCE): rows of any number of destinations, each
/// on its table's default stream. A core: nothing here waits, and it has no thread; see
/// connector::WriterCore for the rules of calling it. Nothing is to be committed: acknowledged rows
/// are visible.
class DefaultStreamWriter final : public StreamWriter<DefaultStreamDestination> {
 public:
  using Dependencies = WriterDependencies;

  /// Checks the options again (BASE-005): they may not have come through a builder.
  static absl::StatusOr<std::unique_ptr<DefaultStreamWriter>> create(const SinkOptions& options,
                                                                     Dependencies dependencies);

 private:
  DefaultStreamWriter(const SinkOptions& options, Dependencies dependencies);
};

}  // namespace penstock::bigquery
