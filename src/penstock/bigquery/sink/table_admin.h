#pragma once

#include <functional>
#include <optional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/table_name.h"

/// Everything the sink asks about tables and streams besides appending. Asynchronous: each request
/// is begun, its answer comes through the callback, on any thread, exactly once, never from inside
/// the request.
namespace penstock::bigquery {

struct WriteStreamInfo {
  std::string name;
  std::string location;
  /// Set when the FULL view was asked for.
  std::optional<TableSchema> schema;
  /// The answer came from Penstock's own emulator (header x-penstock-emulator), which is pooled
  /// like the service (BQW-193).
  bool announcesPenstock = false;
};

/// The answer of a REST call that failed: the HTTP code and the service's reason decide what is
/// retried (BQW-152).
struct AdminError {
  absl::Status status;  ///< OK = no error
  int httpCode = 0;     ///< 0: no HTTP answer (network error)
  std::string reason;   ///< errors[0].reason: "rateLimitExceeded", "notFound", "duplicate", ...
};

/// Whether the same call may succeed later: no answer at all, HTTP 429 and 5xx that pass, or the
/// reason rateLimitExceeded (BQW-152).
[[nodiscard]] bool isPassing(const AdminError& error);

struct TableInfo {
  TableSchema schema;
  /// The resource's `schema` as JSON, with what no TableSchema holds; empty = the table has none.
  std::string schemaJson;
  std::string type;  ///< "TABLE", "VIEW", "EXTERNAL", ...; empty = not said
  std::string etag;  ///< of the table as it was read; empty = not said
  std::string location;
  int64_t numRows = 0;
  int64_t numBytes = 0;
};

/// What a table is created with, besides its columns (creation only).
struct TableCreateOptions {
  std::string timePartitioningType;   ///< "HOUR", "DAY", "MONTH", "YEAR"; empty = not partitioned
  std::string timePartitioningField;  ///< empty = by ingestion time
  std::optional<base::Duration> timePartitioningExpiration;
  std::vector<std::string> clusteredFields;
};

class TableAdmin {
 public:
  virtual ~TableAdmin() = default;

  using StreamCallback = std::function<void(absl::StatusOr<WriteStreamInfo>)>;
  /// GetWriteStream over gRPC. `fullView` also asks for the table's schema. `timeout`: of this
  /// call; `failFast`: do not wait for a refused or unresolvable connection to heal.
  virtual void getWriteStream(const std::string& stream, bool fullView, base::Duration timeout,
                              bool failFast, StreamCallback callback) = 0;

  using TableCallback = std::function<void(AdminError, TableInfo)>;
  /// tables.get over REST.
  virtual void getTable(const TableName& table, base::Duration timeout, TableCallback callback) = 0;

  using DoneCallback = std::function<void(AdminError)>;
  /// tables.patch over REST: the table's `schema` becomes `schemaJson`, all else stays. One
  /// attempt. With an etag only if the table is still as it was read; otherwise an error with
  /// httpCode 412.
  virtual void updateSchema(const TableName& table, const std::string& etag,
                            const std::string& schemaJson, DoneCallback callback) = 0;
  /// tables.insert over REST; one attempt, no retry (the core owns the schedule). 409 arrives as an
  /// error with httpCode 409.
  virtual void createTable(const TableName& table, const TableSchema& schema,
                           const TableCreateOptions& options, DoneCallback callback) = 0;
};

}  // namespace penstock::bigquery
