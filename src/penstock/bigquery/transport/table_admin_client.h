#pragma once

#include <memory>

#include "penstock/bigquery/sink/table_admin.h"

namespace penstock::gcp {
class ChannelSource;
class RestClient;
}  // namespace penstock::gcp

namespace penstock::bigquery {

/// TableAdmin over real gRPC (streams) and REST (tables). One attempt per request. Thread-safe.
/// Requests that are open when it is destroyed end with CANCELLED or their answer.
class TableAdminClient final : public TableAdmin {
 public:
  TableAdminClient(std::shared_ptr<const gcp::ChannelSource> channels,
                   std::shared_ptr<gcp::RestClient> rest);
  ~TableAdminClient() override;

  void getWriteStream(const std::string& stream, bool fullView, base::Duration timeout,
                      bool failFast, StreamCallback callback) override;
  void getTable(const TableName& table, base::Duration timeout, TableCallback callback) override;
  void updateSchema(const TableName& table, const std::string& etag, const std::string& schemaJson,
                    DoneCallback callback) override;
  void createTable(const TableName& table, const TableSchema& schema,
                   const TableCreateOptions& options, DoneCallback callback) override;

  class StreamService;  ///< the gRPC side; outlives this while calls are open

 private:
  std::shared_ptr<StreamService> streams_;
  std::shared_ptr<gcp::RestClient> rest_;
};

}  // namespace penstock::bigquery
