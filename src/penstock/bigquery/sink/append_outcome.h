#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/sink/append_call.h"

/// How one append ended and what that means (BQW-041, BQW-042, BQW-150): one set of functions for
/// whoever asks.
namespace penstock::bigquery {

/// How one append ended, seen from above the transport.
struct AppendOutcome {
  enum class Kind {
    kAnswered,      ///< the service answered: see `response`
    kCallFailed,    ///< the connection ended for good: `response.status` is its status
    kClosedWriter,  ///< not this append's fault: its connection was given up; `response.status`
                    ///< says why
  };
  Kind kind = Kind::kAnswered;
  AppendResponse response;
  /// How often the request was written, over all reconnections: after more than one "it is there
  /// already" is good news (BQW-102).
  int transmissions = 0;
};

/// What an outcome says (BQW-041), in order of precedence.
enum class Verdict {
  kSuccess,
  kTransient,       ///< the whole batch may be sent again; row errors are ignored (BQW-077)
  kStaleWriter,     ///< the stream is finished or unknown: rebuild the appender
  kClosedWriter,    ///< the connection was given up: rebuild the appender
  kMissingTable,    ///< NOT_FOUND, or the PERMISSION_DENIED that masks it (BQW-150)
  kSchemaMismatch,  ///< the rows have fields that the table has not
  kOffsetExists,    ///< the stream ends behind the append's offset: rows are there already
  kOffsetBeyond,    ///< the stream ends before the append's offset
  kRowErrors,       ///< some rows are refused; the others may be sent again
  kFatal,
};

/// With `schemaUpdates` a mismatch of the columns is mended before rows are routed.
[[nodiscard]] Verdict classify(const AppendOutcome& outcome, bool schemaUpdates = false);

/// The same for a call without row details (opening a stream).
[[nodiscard]] Verdict classify(const absl::Status& status);

/// Codes that mean "try the same again" (section 6 of the sink's specification).
[[nodiscard]] bool isTransient(absl::StatusCode code);

/// The status's code as the service sent it: absl's own code() makes every code it does not know
/// UNKNOWN, which is transient.
[[nodiscard]] inline absl::StatusCode exactCode(const absl::Status& status) {
  return static_cast<absl::StatusCode>(status.raw_code());
}

/// BQW-054: error responses that are re-sent inside the connection.
[[nodiscard]] bool isRetriedInStream(absl::StatusCode code);

/// BQW-055: ends of a connection after which it reconnects.
[[nodiscard]] bool isReconnectable(absl::StatusCode code);

[[nodiscard]] std::string_view verdictName(Verdict verdict);

}  // namespace penstock::bigquery
