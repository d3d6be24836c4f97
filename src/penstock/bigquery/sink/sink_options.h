#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/endpoint.h"
#include "penstock/base/option.h"
#include "penstock/base/retry_schedule.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/schema/schema_union.h"
#include "penstock/bigquery/sink/table_admin.h"

/// The sink's options. Each has one definition, in sink_options.cc: its field here (which holds the
/// default), its key and names, its bounds, one line of description. Everything else comes from
/// that definition.
namespace penstock::bigquery {

/// How rows get into the table.
enum class WriteMethod {
  kStorageApiAtLeastOnce,  ///< the table's default stream: visible once acknowledged, duplicates
                           ///< possible
  kStorageApiExactlyOnce,  ///< a stream of each writer's own: visible once a checkpoint that covers
                           ///< the row has been committed, and never twice
};

/// What happens when the destination table does not exist.
enum class CreateDisposition {
  kCreateIfNeeded,  ///< create it over REST
  kCreateNever,     ///< fail
};

/// What a column is that a row leaves out. The numbers are the service's.
enum class MissingValueInterpretation : uint8_t {
  kUnset = 0,         ///< as the service does by itself: NULL
  kNullValue = 1,     ///< NULL
  kDefaultValue = 2,  ///< the column's default value, or NULL where it has none
};

/// How a stream is appended to, whichever kind it is.
struct StreamOptions {
  /// Row bytes collected before an append is sent; > 0, in bytes. A row larger than this travels
  /// alone; the service refuses requests over 10 MB. Larger requests cost less CPU per row and more
  /// memory.
  int64_t maxAppendRequestBytes = int64_t{512} << 10;

  /// Repair of a destination (a new appender, then its unacknowledged batches again): the wait
  /// after the first failed attempt; >= 1 ms. It doubles up to recoveryMaxBackoff.
  base::Duration recoveryInitialBackoff = std::chrono::milliseconds(500);
  /// Longest wait between two repair attempts; >= 1 ms and >= recoveryInitialBackoff.
  base::Duration recoveryMaxBackoff = std::chrono::seconds(10);
  /// Attempts of one repair before the write fails; > 0. The defaults add up to about 55 s.
  int64_t recoveryMaxAttempts = 10;

  /// In-stream retry of one request: the wait before its first resend, where the code asks for one;
  /// 0 (no wait) or >= 1 ms.
  base::Duration retryInitialDelay = std::chrono::milliseconds(500);
  /// Factor from one in-stream wait to the next; >= 1.0.
  double retryDelayMultiplier = 2.0;
  /// Longest in-stream wait; 0 (never wait), or >= 1 ms and >= retryInitialDelay.
  base::Duration retryMaxDelay = std::chrono::seconds(30);
  /// Resends of one request within its stream; > 0.
  int64_t retryMaxAttempts = 5;
  /// How long a connection is reopened without a single response before it is given up; 0 (no
  /// limit) or
  /// >= 1 ms.
  base::Duration maxRetryDuration = std::chrono::minutes(5);

  /// A table that has had no row for longer than this is let go after a flush: its place on a
  /// connection, not its name and columns; the next row opens it again. > 0; the largest value
  /// means never. Counted from the flush that saw the last row through. With
  /// STORAGE_API_EXACTLY_ONCE only when its rows are all committed, and with its stream: the next
  /// row makes a new one.
  base::Duration destinationIdleTimeout = std::chrono::hours(1);

  /// The repair schedule that the three recovery options describe.
  [[nodiscard]] base::RetrySchedule recoverySchedule() const {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    return {.initialBackoff = recoveryInitialBackoff,
            .maxBackoff = recoveryMaxBackoff,
            .maxAttempts = static_cast<int>(std::min(recoveryMaxAttempts, kMost))};
  }

  friend bool operator==(const StreamOptions&, const StreamOptions&) = default;
};

/// How the default stream is appended to. A default object equals passing none.
struct DefaultStreamOptions : StreamOptions {
  /// Requests queued or sent and not answered, per pooled connection; > 0.
  int64_t maxInflightRequests = 100;
  /// Their bytes, per pooled connection; > 0. Bounds the memory held for unacknowledged rows.
  int64_t maxInflightBytes = int64_t{100} << 20;
  /// Connections that a location may open before they are loaded; > 0. Per process, like
  /// maxConnectionsPerRegion: those of the first sink count for all.
  int64_t minConnectionsPerRegion = 2;
  /// Most connections to a location; > 0 and >= minConnectionsPerRegion.
  int64_t maxConnectionsPerRegion = 20;

  /// Flush on a timer, for writers that nobody checkpoints; >= 1 ms. Rows wait while it lasts.
  /// Unset: off.
  std::optional<base::Duration> flushInterval;

  /// Count rows and errors per table as well, as `destination.PROJECT.DATASET.TABLE.recordsSend`
  /// and
  /// `.sendErrors`.
  bool perDestinationMetrics = false;

  friend bool operator==(const DefaultStreamOptions&, const DefaultStreamOptions&) = default;
};

/// How streams of the writer's own are appended to, with STORAGE_API_EXACTLY_ONCE. Each stream has
/// a connection of its own, within 1,000 requests and 100 MiB.
struct BufferedStreamOptions : StreamOptions {
  friend bool operator==(const BufferedStreamOptions&, const BufferedStreamOptions&) = default;
};

/// What a sink is built with, apart from its destination, serializer and failure handler.
struct SinkOptions {
  WriteMethod writeMethod = WriteMethod::kStorageApiAtLeastOnce;
  CreateDisposition createDisposition = CreateDisposition::kCreateIfNeeded;
  /// What a table is created with, besides its columns; creation only.
  TableCreateOptions tableCreateOptions;

  /// How far the columns of existing tables may be changed to take the rows. With either, rows that
  /// have columns the table lacks have it changed and are then tried again for up to 15 min. With
  /// allowFieldRelaxation each table is read before its first row. Needs bigquery.tables.get and
  /// bigquery.tables.update.
  SchemaUpdateOptions schemaUpdateOptions;

  /// What columns are that a row leaves out. A REQUIRED column with a default value needs
  /// kDefaultValue: otherwise the service refuses rows without it.
  MissingValueInterpretation defaultMissingValueInterpretation = MissingValueInterpretation::kUnset;
  /// The same for single top-level columns, over the default: "COLUMN=NULL_VALUE" or
  /// "COLUMN=DEFAULT_VALUE".
  std::vector<std::string> missingValueInterpretations;

  /// The destinations' location ("US", "europe-west1"); not blank. Saves a look-up per dataset.
  std::optional<std::string> location;

  /// Path of a `service_account` JSON key file; not blank. Unset: application-default credentials.
  /// Refused together with an emulator endpoint.
  std::optional<std::string> serviceAccountKeyFile;

  /// gRPC of an emulator: plaintext, no credentials. Without emulatorRestEndpoint metadata (looking
  /// up and creating tables) still goes to the real service.
  std::optional<base::Endpoint> emulatorEndpoint;
  /// REST of an emulator: http, no credentials.
  std::optional<base::Endpoint> emulatorRestEndpoint;

  /// Another TLS address for gRPC, for private endpoints. Refused together with an emulator
  /// endpoint.
  std::optional<base::Endpoint> serviceEndpoint;
  /// Another TLS address for REST.
  std::optional<base::Endpoint> serviceRestEndpoint;
  /// PEM file of the certificate authorities trusted for TLS; not blank. Unset: the system's.
  std::optional<std::string> caFile;

  /// Only for STORAGE_API_AT_LEAST_ONCE.
  DefaultStreamOptions defaultStreamOptions;
  /// Only for STORAGE_API_EXACTLY_ONCE, and required there.
  std::optional<BufferedStreamOptions> bufferedStreamOptions;

  /// Row bytes that the sinks of the process together hold unsent or unacknowledged; > 0. Near it
  /// the largest unsent batches are sent early; at it `write` waits. Of several sinks the first
  /// one's counts. Memory is more by the free part of each batch's last chunk.
  int64_t maxBufferedBytes = int64_t{128} << 20;
};

/// Every option of the sink, those not supported yet included.
[[nodiscard]] const base::OptionSet<SinkOptions>& sinkOptionSet();

/// Options from a map of strings whose keys are as in `sink.max-append-request-bytes`. Unknown
/// keys, malformed values, values out of bounds and refused combinations are errors that name the
/// key and the value; an option of a later release answers UNIMPLEMENTED. The same keys fill
/// `defaultStreamOptions` or, with STORAGE_API_EXACTLY_ONCE, `bufferedStreamOptions`.
[[nodiscard]] absl::StatusOr<SinkOptions> parseSinkOptions(
    const std::map<std::string, std::string>& values);

/// Options that were set by their keys, one by one, into `defaultStreamOptions`: moves those of the
/// streams to where the write method has them. One that does not apply with it is an error that
/// names it. Then validate().
[[nodiscard]] absl::Status applyWriteMethod(SinkOptions& options, base::OptionSpelling spelling);

/// What a writer and a committer of STORAGE_API_EXACTLY_ONCE go by: `bufferedStreamOptions`, and
/// the fixed limits of their connections, in the place of `defaultStreamOptions`.
[[nodiscard]] SinkOptions exactlyOnceOptions(SinkOptions options);

/// The combinations of a table's creation options, which may not come from a SinkOptions.
[[nodiscard]] absl::Status validateTableCreation(
    const TableCreateOptions& options,
    base::OptionSpelling spelling = base::OptionSpelling::kBuilder);

/// Bounds and combinations, in whatever way the struct was filled (BASE-002, BASE-005). Messages
/// name the option as `spelling` says (a builder's setter by default) and show its value.
[[nodiscard]] absl::Status validate(const SinkOptions& options,
                                    base::OptionSpelling spelling = base::OptionSpelling::kBuilder);

}  // namespace penstock::bigquery
