#include "penstock/bigquery/sink/append_outcome.h"

#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

AppendOutcome answered(absl::StatusCode code, StorageErrorCode storage = StorageErrorCode::kNone,
                       int rowErrors = 0) {
  AppendOutcome outcome;
  outcome.response.status = absl::Status(code, "");
  outcome.response.storageError = storage;
  outcome.response.rowErrors.resize(static_cast<size_t>(rowErrors));
  return outcome;
}

constexpr absl::StatusCode kTransientCodes[] = {
    absl::StatusCode::kUnavailable,      absl::StatusCode::kAborted,
    absl::StatusCode::kInternal,         absl::StatusCode::kCancelled,
    absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kResourceExhausted,
    absl::StatusCode::kUnknown};

// The first match wins: BQW-041, and BQW-042 acts on nothing else.
TEST(AppendOutcome, ATransientCodeIgnoresEverythingElse) {
  for (const absl::StatusCode code : kTransientCodes) {
    EXPECT_EQ(classify(answered(code)), Verdict::kTransient);
    EXPECT_EQ(classify(answered(code, StorageErrorCode::kStreamFinalized, 3)), Verdict::kTransient);
  }
  EXPECT_EQ(classify(answered(static_cast<absl::StatusCode>(77))), Verdict::kFatal)
      << "a code unknown to gRPC is not transient";
}

TEST(AppendOutcome, StreamErrorsComeBeforeRowErrors) {
  for (const StorageErrorCode storage :
       {StorageErrorCode::kStreamFinalized, StorageErrorCode::kStreamNotFound,
        StorageErrorCode::kInvalidStreamState}) {
    EXPECT_EQ(classify(answered(absl::StatusCode::kInvalidArgument, storage, 1)),
              Verdict::kStaleWriter);
  }
}

TEST(AppendOutcome, RowErrorsWinOverAMismatchWhileUpdatesAreOff) {
  constexpr auto kMismatch = StorageErrorCode::kSchemaMismatchExtraFields;
  EXPECT_EQ(classify(answered(absl::StatusCode::kInvalidArgument, kMismatch)),
            Verdict::kSchemaMismatch);
  EXPECT_EQ(classify(answered(absl::StatusCode::kInvalidArgument, kMismatch, 1)),
            Verdict::kRowErrors);
}

// BQW-150: by code, never by text; BQW-077: with row details it is not the table.
// BQW-041, section 6: what is mended is not routed; what may pass is tried again as it is.
TEST(AppendOutcome, AMismatchWinsOverRowErrorsWhileUpdatesAreOn) {
  const auto extra = StorageErrorCode::kSchemaMismatchExtraFields;
  for (const int rowErrors : {0, 2}) {
    EXPECT_EQ(classify(answered(absl::StatusCode::kInvalidArgument, extra, rowErrors), true),
              Verdict::kSchemaMismatch);
    EXPECT_EQ(classify(answered(absl::StatusCode::kUnavailable, extra, rowErrors), true),
              Verdict::kTransient);
  }
  EXPECT_EQ(
      classify(answered(absl::StatusCode::kInvalidArgument, StorageErrorCode::kNone, 1), true),
      Verdict::kRowErrors);
}

TEST(AppendOutcome, AMissingTableIsToldByItsCode) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kNotFound, absl::StatusCode::kPermissionDenied}) {
    EXPECT_EQ(classify(answered(code)), Verdict::kMissingTable);
    EXPECT_EQ(classify(answered(code, StorageErrorCode::kNone, 1)), Verdict::kRowErrors);
    EXPECT_EQ(classify(absl::Status(code, "any words")), Verdict::kMissingTable);
  }
}

TEST(AppendOutcome, AClosedWriterIsNobodysFault) {
  AppendOutcome outcome = answered(absl::StatusCode::kInvalidArgument);
  outcome.kind = AppendOutcome::Kind::kClosedWriter;
  EXPECT_EQ(classify(outcome), Verdict::kClosedWriter);
}

TEST(AppendOutcome, SuccessNeedsNeitherErrorNorRowErrors) {
  EXPECT_EQ(classify(answered(absl::StatusCode::kOk)), Verdict::kSuccess);
  EXPECT_EQ(classify(answered(absl::StatusCode::kOk, StorageErrorCode::kNone, 1)),
            Verdict::kRowErrors);
  EXPECT_EQ(classify(answered(absl::StatusCode::kInvalidArgument)), Verdict::kFatal);
}

// BQW-055: a spent quota ends the connection for good, though its answer may be sent again
// (BQW-054).
TEST(AppendOutcome, ASpentQuotaIsRetriedButNotReconnected) {
  for (const absl::StatusCode code : kTransientCodes) {
    EXPECT_TRUE(isRetriedInStream(code));
    EXPECT_EQ(isReconnectable(code), code != absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace penstock::bigquery
