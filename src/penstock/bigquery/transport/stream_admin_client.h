#pragma once

#include <memory>

#include "penstock/bigquery/sink/stream_admin.h"

namespace penstock::gcp {
class ChannelSource;
}  // namespace penstock::gcp

namespace penstock::bigquery {

class UnaryService;

/// StreamAdmin over real gRPC. Requests wait for a connection that is down until their time is
/// over. Thread-safe. Requests that are open when it is destroyed still get their answer.
class StreamAdminClient final : public StreamAdmin {
 public:
  explicit StreamAdminClient(std::shared_ptr<const gcp::ChannelSource> channels);
  ~StreamAdminClient() override;

  void createStream(const TableName& table, base::Duration timeout,
                    CreateCallback callback) override;
  void flushRows(const std::string& stream, int64_t offset, base::Duration timeout,
                 FlushCallback callback) override;

 private:
  std::shared_ptr<UnaryService> service_;
};

}  // namespace penstock::bigquery
