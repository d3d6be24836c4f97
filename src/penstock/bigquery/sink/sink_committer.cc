#include "penstock/bigquery/sink/sink_committer.h"

#include <utility>

#include "penstock/bigquery/sink/stream_committer.h"
#include "penstock/connector/blocking_committer.h"

namespace penstock::bigquery {

absl::StatusOr<std::unique_ptr<connector::Committer>> createSinkCommitter(
    const SinkOptions& options, const SinkConnections& connections) {
  std::unique_ptr<connector::Committer> committer;
  if (options.writeMethod != WriteMethod::kStorageApiExactlyOnce) return committer;
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<StreamCommitter> core,
                            StreamCommitter::create(options, {.streams = connections.streams,
                                                              .clock = connections.clock,
                                                              .random = base::systemRandom()}));
  committer = std::make_unique<connector::BlockingCommitter>(std::move(core));
  return committer;
}

}  // namespace penstock::bigquery
