#pragma once

#include <memory>
#include <optional>
#include <string>

#include "penstock/base/metrics.h"
#include "penstock/base/status.h"
#include "penstock/connector/row_batch.h"

namespace penstock::connector {

/// One record that could not be written (BASE-010). Read-only for handlers.
struct FailedRecord {
  std::string connector;    ///< stable: "bigquery", "pubsub", ...
  std::string destination;  ///< resource string, or "unresolved"
  std::optional<std::string>
      payload;  ///< the serialized row or request, replayable; none if serializing failed
  std::string errorMessage;  ///< does not repeat the destination
  absl::Status cause;        ///< OK when there is none
  /// BigQuery rows: the serialized DescriptorProto that decodes `payload`; null elsewhere.
  std::shared_ptr<const std::string> descriptor;
  /// Where the record came from ("flights.json line 17"), if the host said so.
  std::string origin;
  /// The same as the host numbers places, of a row that was committed with it (row_batch.h).
  RowOrigin rowOrigin = RowOrigin::kUnknown;
};

struct FailureHandlerContext {
  int subtaskIndex = 0;
  base::MetricGroup* metrics = nullptr;
};

/// Decides what becomes of one bad record (BASE-011): returning OK from `handle` drops it, an error
/// fails the ongoing write or checkpoint. All calls come on the task thread; none may block
/// indefinitely. Opened, flushed (after every drain, BASE-022) and closed by the sink. One instance
/// per writer.
class FailureHandler {
 public:
  virtual ~FailureHandler() = default;
  virtual absl::Status open(const FailureHandlerContext&) { return absl::OkStatus(); }
  virtual absl::Status handle(const FailedRecord& failure) = 0;
  virtual absl::Status flush() { return absl::OkStatus(); }
  virtual absl::Status close() { return absl::OkStatus(); }
};

/// Fails the job naming connector, destination, message and cause (BASE-012). The default.
[[nodiscard]] std::unique_ptr<FailureHandler> failJob();

/// Logs the same at WARN and drops the record (BASE-012).
[[nodiscard]] std::unique_ptr<FailureHandler> logAndDrop();

}  // namespace penstock::connector
