#pragma once

#include <memory>

#include "penstock/bigquery/sink/append_call.h"

namespace penstock::gcp {
class ChannelSource;
}  // namespace penstock::gcp

namespace penstock::bigquery {

/// Makes AppendRows calls over gRPC. At most 80 of its open calls share one channel (BQW-060):
/// servers allow 100 streams on an HTTP/2 connection and gRPC queues further calls without an
/// error. A further channel is made when the others are full and dropped when its last call has
/// ended. Thread-safe; may be destroyed before its calls.
class GrpcAppendCallFactory final : public AppendCallFactory {
 public:
  static constexpr int kMaxCallsPerConnection = 80;

  explicit GrpcAppendCallFactory(std::shared_ptr<const gcp::ChannelSource> source);
  ~GrpcAppendCallFactory() override;

  std::unique_ptr<AppendCall> create(const AppendCallOptions& options,
                                     std::shared_ptr<AppendCallEvents> events) override;

  class ChannelPool;  ///< outlives the factory while calls are open

 private:
  std::shared_ptr<ChannelPool> channels_;
};

}  // namespace penstock::bigquery
