#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/connector/row_batch.h"

/// One AppendRows call, the only thing in the sink that knows gRPC. Matching answers to requests,
/// resending, reconnecting and the watchdog are above it, in cores that never see a thread.
namespace penstock::bigquery {

/// google.cloud.bigquery.storage.v1.StorageError.StorageErrorCode, those the sink acts on.
enum class StorageErrorCode {
  kNone,
  kTableNotFound,
  kStreamAlreadyCommitted,
  kStreamNotFound,
  kInvalidStreamType,
  kInvalidStreamState,
  kStreamFinalized,
  kSchemaMismatchExtraFields,
  kOffsetAlreadyExists,
  kOffsetOutOfRange,
  kOther,
};

struct RowError {
  int64_t index = 0;  ///< in the request's rows
  std::string message;
};

/// One AppendRowsResponse, decoded.
struct AppendResponse {
  absl::Status status;  ///< OK, or the response's error
  StorageErrorCode storageError = StorageErrorCode::kNone;
  std::vector<RowError> rowErrors;
  std::optional<int64_t> offset;  ///< where the append landed; default streams have none
  /// The serialized google.cloud.bigquery.storage.v1.TableSchema, when the service reports a new
  /// one.
  std::optional<std::string> updatedSchema;
};

/// One AppendRowsRequest in wire form: a few bytes of header and the rows as they lie in their
/// chunks. The call copies neither; it holds a reference on each chunk until the transport has
/// dropped the last slice.
struct AppendRequestBytes {
  std::string header;
  std::shared_ptr<const connector::RowBatch> rows;  ///< its slices follow the header
};

/// What a call reports, on any thread, never from inside create/start/write/cancel. After onDone
/// nothing follows. The call shares ownership, so an event that is already on its way when the call
/// is destroyed still finds its receiver, which must ignore it.
class AppendCallEvents {
 public:
  virtual ~AppendCallEvents() = default;
  virtual void onMessage(AppendResponse response) = 0;
  /// The write in progress has left (or, with false, the call is broken and onDone follows).
  virtual void onWriteDone(bool ok) = 0;
  /// The call has ended; `status` is the call's, and `storageError` what its details say, if
  /// anything.
  virtual void onDone(absl::Status status, StorageErrorCode storageError) = 0;
};

/// A single bidirectional call. start once, then at most one write at a time (the next after
/// onWriteDone). Calls come from one thread at a time; cancel from any, even before start.
/// Destroying it before onDone cancels it; the destructor does not wait for the transport.
class AppendCall {
 public:
  virtual ~AppendCall() = default;
  virtual void start() = 0;
  virtual void write(AppendRequestBytes request) = 0;
  virtual void cancel() = 0;
};

struct AppendCallOptions {
  /// The value of the header x-goog-request-params (BQW-052).
  std::string requestParams;
};

/// Makes calls on channels with equal credentials and endpoint; spreads them so that at most 80
/// share one HTTP/2 connection (BQW-060). Thread-safe.
class AppendCallFactory {
 public:
  virtual ~AppendCallFactory() = default;
  virtual std::unique_ptr<AppendCall> create(const AppendCallOptions& options,
                                             std::shared_ptr<AppendCallEvents> events) = 0;
};

}  // namespace penstock::bigquery
