#pragma once

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <vector>

#include "penstock/base/clock.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/stream_name.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// The methods of BigQueryWrite that make, show and end streams, knowing nothing of gRPC.
/// Thread-safe. Errors carry a stream's error code (streamErrorCodeOf()) where the service attaches
/// a StorageError.
class StreamMethods {
 public:
  /// All three outlive the object.
  StreamMethods(const Catalog& catalog, RowStore& rows, const base::Clock& clock)
      : catalog_(catalog), rows_(rows), clock_(clock) {}

  absl::Status createWriteStream(
      const google::cloud::bigquery::storage::v1::CreateWriteStreamRequest& request,
      google::cloud::bigquery::storage::v1::WriteStream& response);
  /// `oldSchema`: shows the schema before the table's last change.
  absl::Status getWriteStream(
      const google::cloud::bigquery::storage::v1::GetWriteStreamRequest& request, bool oldSchema,
      google::cloud::bigquery::storage::v1::WriteStream& response);
  absl::Status finalizeWriteStream(
      const google::cloud::bigquery::storage::v1::FinalizeWriteStreamRequest& request,
      google::cloud::bigquery::storage::v1::FinalizeWriteStreamResponse& response);
  absl::Status flushRows(const google::cloud::bigquery::storage::v1::FlushRowsRequest& request,
                         google::cloud::bigquery::storage::v1::FlushRowsResponse& response);
  /// What is wrong with a stream is in the response.
  absl::Status batchCommitWriteStreams(
      const google::cloud::bigquery::storage::v1::BatchCommitWriteStreamsRequest& request,
      google::cloud::bigquery::storage::v1::BatchCommitWriteStreamsResponse& response);

 private:
  absl::StatusOr<WriteStreamPtr> findCreated(const StreamName& name, std::string_view method);
  [[nodiscard]] int64_t nowMicros() const;

  const Catalog& catalog_;
  RowStore& rows_;
  const base::Clock& clock_;
};

}  // namespace penstock::emulator
