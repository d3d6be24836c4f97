#pragma once

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/random.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/append_request.h"
#include "penstock/emulator/service/default_filler.h"
#include "penstock/emulator/service/missing_values.h"
#include "penstock/emulator/service/request_rows.h"
#include "penstock/emulator/service/row_checks_cache.h"
#include "penstock/emulator/service/row_validator.h"
#include "penstock/emulator/service/stream_name.h"
#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/storage/write_stream.h"

namespace penstock::emulator {

/// The largest AppendRowsRequest that the service takes.
inline constexpr size_t kMaxAppendRequestBytes = 10 << 20;

/// One AppendRows call: what its earlier requests said (stream, writer schema) and what each
/// request does. Knows nothing of gRPC; one thread at a time.
class AppendSession {
 public:
  using Response = google::cloud::bigquery::storage::v1::AppendRowsResponse;

  /// All of them outlive the session.
  AppendSession(const Catalog& catalog, RowStore& rows, RowChecksCache& checksCache,
                const base::Clock& clock)
      : catalog_(catalog), rows_(rows), checksCache_(checksCache), clock_(clock) {}

  /// Reads the next request, whose bytes stay until apply() has returned. An error ends the call.
  absl::Status accept(std::string_view request);

  /// The stream of the accepted request by its full name, whichever form the client wrote; what the
  /// client wrote when that is no stream's name.
  [[nodiscard]] const std::string& resource() const { return resource_; }
  /// The stream of the accepted request as the client wrote it, then or earlier.
  [[nodiscard]] const std::string& requestStream() const { return requestStream_; }

  /// Stores the rows of the accepted request, all or none, and answers it. The stream's or the
  /// schema's errors end the call (a status that is not OK) as long as the call has had no good
  /// request; every other error is in the response, and the call goes on.
  /// `oldSchema`: by the schema before the table's last change.
  absl::StatusOr<Response> apply(bool oldSchema = false);

  /// Takes over stream and schema of the accepted request, where they are good, without storing its
  /// rows: for a fault that answers in its place. What follows on the call may rely on both.
  void takeHeader();

  /// Whether a request was good as far as its stream and schema go.
  [[nodiscard]] bool isOpen() const { return open_; }
  /// Of the accepted request.
  [[nodiscard]] size_t requestBytes() const { return requestBytes_; }

  /// A response that refuses the accepted request; the status may carry a stream's error code.
  [[nodiscard]] Response refusal(const absl::Status& status) const;

 private:
  absl::Status open(bool oldSchema);
  absl::Status resolveStream(bool oldSchema);
  absl::Status checkSameStream() const;
  [[nodiscard]] absl::Status missingTable() const;
  absl::Status adoptSchema();
  absl::Status compileChecks(const std::vector<const Field*>& columnsToFill);
  absl::Status checkSupported() const;
  std::optional<Response> refuseExtraFields() const;
  void noteSchemaVersion();
  Response store();
  Response storeRows();

  const Catalog& catalog_;
  RowStore& rows_;
  RowChecksCache& checksCache_;
  const base::Clock& clock_;
  const std::unique_ptr<base::Random> random_ = base::systemRandom();

  AppendRequest request_;
  size_t requestBytes_ = 0;
  std::string requestStream_;  ///< as this request or an earlier one wrote it
  std::string namedStream_;    ///< what `name_` was read from
  absl::StatusOr<StreamName> name_ = absl::UnknownError("");
  std::string resource_;

  bool open_ = false;  ///< a request was good as far as its stream and schema go
  std::string openStream_;
  std::shared_ptr<const Table> table_;
  WriteStreamPtr stream_;              ///< null for a default stream
  RowDescriptorPtr descriptor_;        ///< the writer's
  RowDescriptorPtr storedDescriptor_;  ///< what rows are stored with: with fields for defaults
  MissingValues missingValues_;
  std::string filledColumns_;                    ///< names of the columns that `filler_` fills
  std::shared_ptr<const DefaultFiller> filler_;  ///< null when no row is filled
  std::shared_ptr<const RowChecks> checks_;
  std::unique_ptr<RowValidator> validator_;
  RequestRows requestRows_;

  /// The schema version of each table that the client has been told of, or began with.
  std::unordered_map<uint64_t, uint64_t> toldVersions_;
  bool schemaIsNews_ = false;
};

}  // namespace penstock::emulator
