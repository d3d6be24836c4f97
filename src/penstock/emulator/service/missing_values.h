#pragma once

#include <vector>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"
#include "penstock/emulator/service/append_request.h"

namespace penstock::emulator {

/// How one AppendRows call takes values that its rows lack: what its requests said so far. One
/// thread at a time.
class MissingValues {
 public:
  /// The columns that get their default value where a row of this request lacks them (BQW-194).
  /// What the request says for all columns holds for later requests, too, what it says for single
  /// ones does not. kInvalidArgument names a column that is not there, or what is not an
  /// interpretation.
  absl::StatusOr<std::vector<const Field*>> columnsToFill(const AppendRequest& request,
                                                          const Schema& schema);

 private:
  MissingValue forAll_ = MissingValue::kUnspecified;
};

}  // namespace penstock::emulator
