#include "penstock/bigquery/sink/append_outcome.h"

namespace penstock::bigquery {

bool isTransient(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;  // codes unknown to gRPC are not transient (BQW-041)
  }
}

bool isRetriedInStream(absl::StatusCode code) { return isTransient(code); }

bool isReconnectable(absl::StatusCode code) {
  return isTransient(code) && code != absl::StatusCode::kResourceExhausted;
}

Verdict classify(const absl::Status& status) {
  if (status.ok()) return Verdict::kSuccess;
  if (isTransient(exactCode(status))) return Verdict::kTransient;
  if (status.code() == absl::StatusCode::kNotFound ||
      status.code() == absl::StatusCode::kPermissionDenied) {
    return Verdict::kMissingTable;
  }
  return Verdict::kFatal;
}

Verdict classify(const AppendOutcome& outcome, bool schemaUpdates) {
  if (outcome.kind == AppendOutcome::Kind::kClosedWriter) return Verdict::kClosedWriter;
  const AppendResponse& response = outcome.response;
  if (response.status.ok() && response.rowErrors.empty()) return Verdict::kSuccess;
  if (isTransient(exactCode(response.status))) return Verdict::kTransient;
  switch (response.storageError) {
    case StorageErrorCode::kStreamFinalized:
    case StorageErrorCode::kStreamNotFound:
    case StorageErrorCode::kInvalidStreamState:
      return Verdict::kStaleWriter;
    case StorageErrorCode::kSchemaMismatchExtraFields:
      // With updates off, row details win: the rows are routed (section 6).
      if (schemaUpdates || response.rowErrors.empty()) return Verdict::kSchemaMismatch;
      break;
    case StorageErrorCode::kOffsetAlreadyExists:
      return Verdict::kOffsetExists;
    case StorageErrorCode::kOffsetOutOfRange:
      return Verdict::kOffsetBeyond;
    default:
      break;
  }
  if (!response.rowErrors.empty()) return Verdict::kRowErrors;
  // The codes alone say the same: no append without an offset is answered so.
  if (response.status.code() == absl::StatusCode::kAlreadyExists) return Verdict::kOffsetExists;
  if (response.status.code() == absl::StatusCode::kOutOfRange) return Verdict::kOffsetBeyond;
  return classify(response.status);
}

std::string_view verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSuccess:
      return "success";
    case Verdict::kTransient:
      return "a transient error";
    case Verdict::kStaleWriter:
      return "a stream that is finished or unknown";
    case Verdict::kClosedWriter:
      return "a connection that was given up";
    case Verdict::kMissingTable:
      return "a table that is missing or not writable";
    case Verdict::kSchemaMismatch:
      return "rows with fields that the table has not";
    case Verdict::kOffsetExists:
      return "an offset that the stream has rows at already";
    case Verdict::kOffsetBeyond:
      return "an offset beyond the stream's end";
    case Verdict::kRowErrors:
      return "refused rows";
    case Verdict::kFatal:
      return "an error that trying again does not mend";
  }
  return "?";
}

}  // namespace penstock::bigquery
