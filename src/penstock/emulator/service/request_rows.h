#pragma once

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <span>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/random.h"
#include "penstock/emulator/service/default_filler.h"
#include "penstock/emulator/service/row_validator.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// The rows of one request on their way into the store: judged, filled with default values, framed.
/// One thread at a time.
class RequestRows {
 public:
  using Errors = google::protobuf::RepeatedPtrField<google::cloud::bigquery::storage::v1::RowError>;

  /// Judges the rows in `pieces` (contents of proto_rows.rows, which outlive the use of framed()),
  /// filled by `filler` unless it is null, and lists the bad ones in `errors`: all of them, up to
  /// the size that an answer may have. kInvalidArgument when the bytes are not rows.
  absl::Status judge(std::span<const std::string_view> pieces, RowValidator& validator,
                     const DefaultFiller* filler, base::WallTime now, base::Random& random,
                     Errors& errors);

  [[nodiscard]] uint64_t badRows() const { return badRows_; }
  /// The rows that were judged, valid until the next judgement.
  [[nodiscard]] FramedRows framed();

 private:
  absl::Status judgePiece(std::string_view piece, RowValidator& validator, Errors& errors);
  void judgeRow(std::string_view row, RowValidator& validator, Errors& errors);
  void addError(std::string_view problem, Errors& errors);
  void reframe();

  std::span<const std::string_view> pieces_;
  uint64_t rowCount_ = 0;
  uint64_t rowBytes_ = 0;
  uint64_t badRows_ = 0;
  size_t errorBytes_ = 0;
  bool asArrived_ = true;  ///< the rows can be stored in the bytes they came in
  std::optional<RowFramer> framer_;

  const DefaultFiller* filler_ = nullptr;
  base::WallTime now_;
  base::Random* random_ = nullptr;
  std::string filled_;
};

}  // namespace penstock::emulator
