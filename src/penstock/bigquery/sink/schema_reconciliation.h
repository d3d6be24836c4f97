#pragma once

#include <string>

#include "penstock/bigquery/sink/destination_context.h"

namespace penstock::bigquery {

/// Brings the columns of a destination's table in line with its rows (BQW-160): reads the table,
/// unites its columns with those of the rows as far as SchemaUpdateOptions allow, and changes it
/// under the etag that was read. Task thread only, nothing here waits.
///
///   kReading --table--> kUpdating; nothing to change --> kDone; gone --> kTableGone
///   kUpdating --changed--> kDone; someone else was first --> kPausing, for a moment
///   kReading, kUpdating --passing error--> kPausing, by the recovery schedule
///   kPausing --time--> kReading
///   anything else --> kFailed
class SchemaReconciliation {
 public:
  enum class State { kReading, kUpdating, kPausing, kDone, kTableGone, kFailed };

  /// Someone else's changes may come first this often (section 2.3); a moment of up to
  /// kLongestPause lies in between.
  static constexpr int kRaces = 5;
  static constexpr base::Duration kLongestPause = std::chrono::milliseconds(500);

  /// Begins with reading. The destination must have a schema.
  explicit SchemaReconciliation(DestinationContext& context);

  void onTable(const AdminError& error, const TableInfo& table);
  void onUpdated(const AdminError& error);
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const { return resumeAt_; }

  [[nodiscard]] State state() const { return state_; }
  /// In kDone: whether the table has other columns now than when it was read.
  [[nodiscard]] bool changedTable() const { return changed_; }
  /// In kFailed and kTableGone: why, naming the table.
  [[nodiscard]] const absl::Status& failure() const { return failure_; }

 private:
  void read();
  void unite(const TableInfo& table);
  void raceLost(const AdminError& error);
  /// After an error that is not a lost race.
  void onError(const AdminError& error);
  void pause(base::MonotonicTime until);
  void fail(absl::StatusCode code, std::string_view why, std::string_view hint = {});

  DestinationContext& context_;
  const TableName table_;  // whole, where rows go into one of its partitions
  State state_ = State::kReading;
  int racesLost_ = 0;
  int attempt_ = 1;  // of those that passing errors end
  bool changed_ = false;
  base::MonotonicTime resumeAt_ = base::kNever;
  absl::Status failure_;
};

}  // namespace penstock::bigquery
