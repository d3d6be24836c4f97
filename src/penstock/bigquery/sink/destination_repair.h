#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "penstock/bigquery/sink/destination_appender.h"
#include "penstock/bigquery/sink/schema_reconciliation.h"
#include "penstock/bigquery/sink/sink_statistics.h"
#include "penstock/bigquery/sink/table_creation.h"

namespace penstock::bigquery {

/// The repair of one destination, from the first failure that can be repaired until every
/// unacknowledged batch has landed: section "Recovery" of the sink's specification (BQW-070 to
/// 078). Made when it begins, gone when it is done. Task thread only, nothing here waits.
///
///   kSettling --every sibling has answered--> next step
///   next step: refused rows --> kAsking; a table to make --> kCreating;
///              columns to bring in line --> kReconciling;
///              otherwise an appender to rebuild --> kReopening, or at once kReappending
///   kAsking --the host has answered--> next step
///   kCreating --created--> next step
///   kReconciling --in line, or the table is gone--> next step
///   kReopening --opened--> kReappending
///   kReappending --all landed--> kDone, --refused rows--> kAsking
///   kReopening, kReappending --failure--> kBackingOff, or once each kCreating and kReconciling
///   kBackingOff --time--> next step
///
/// A failure that cannot be repaired, or one attempt too many, fails the writer; the state stays.
class DestinationRepair {
 public:
  enum class State {
    kSettling,     ///< siblings are awaited, so that a rebuild cancels none of them
    kAsking,       ///< the host decides about refused rows
    kCreating,     ///< the table is being created (TableCreation)
    kReconciling,  ///< the table's columns are brought in line with the rows
    kReopening,    ///< the new appender is being opened
    kReappending,  ///< unacknowledged batches go again, one after another
    kBackingOff,
    kDone,
  };

  /// `cause`: what began it, an append's or an opening's failure that can be repaired.
  DestinationRepair(DestinationContext& context, DestinationAppender& appender,
                    const absl::Status& cause, Verdict verdict);
  /// Rows that have other columns from here on, or are to be the first: nothing has failed, the
  /// table is brought in line and opened (BQW-163).
  DestinationRepair(DestinationContext& context, DestinationAppender& appender);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  /// Whether answers are for what the repair sends; until then they are the siblings'.
  [[nodiscard]] bool isReappending() const { return state_ == State::kReappending; }

  /// A sibling has answered, or there is none.
  void settle();
  /// The answer to what kReappending sent.
  void onReappendDone(AppendToken token, const AppendOutcome& outcome);
  /// The wait for room has lasted too long.
  void onPatienceEnded(const absl::Status& status);
  void onWriteStream(const absl::StatusOr<WriteStreamInfo>& info);
  void onTableCreated(const AdminError& error);
  void onTableRead(const AdminError& error, const TableInfo& table);
  void onSchemaUpdated(const AdminError& error);
  /// The host has decided about the refused rows, with OK.
  void onHostAnswer();
  /// What it has said of the table's creation.
  void onCreateOptions(std::string_view document);
  /// Time, or room in the pool.
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const {
    if (creation_) return creation_->wakeAt();
    return reconciliation_ ? reconciliation_->wakeAt() : resumeAt_;
  }

  /// Fills in what the repair knows, and adds what it holds.
  void addTo(DestinationStatistics& statistics) const;

 private:
  /// What the repair waits with between attempts (section 2.3).
  enum class Schedule { kRecovery, kSchemaWait };

  void nextStep();
  void want(const absl::Status& status, Verdict verdict);
  void create();
  void resumeIfCreated();
  void reconcile();
  void resumeIfReconciled();
  void tableIsGone(const absl::Status& status);
  void reopen();
  void reappend();
  void attemptFailed(const absl::Status& status, Verdict verdict);
  void fail(const absl::Status& status, Verdict verdict);
  [[nodiscard]] base::RetrySchedule schedule() const;
  [[nodiscard]] std::string story() const;

  DestinationContext& context_;
  DestinationAppender& appender_;
  State state_ = State::kSettling;
  const absl::Status cause_;
  const Verdict causeVerdict_;
  int attempt_ = 1;                        // never reset (BQW-072)
  std::optional<TableCreation> creation_;  // in kCreating
  bool created_ = false;
  bool reconciled_ = false;
  absl::Status missing_;           // why the table must be created; OK = it need not
  absl::Status mismatch_;          // why its columns must be looked at, if it was a failure
  bool wantsReconciling_ = false;  // they must
  bool wantsRebuild_ = true;       // the appender must be opened anew
  Schedule schedule_ = Schedule::kRecovery;
  std::optional<SchemaReconciliation> reconciliation_;  // in kReconciling
  std::deque<SealedBatch> batches_;                     // to be appended again, in order
  base::MonotonicTime resumeAt_ = base::kNever;
};

}  // namespace penstock::bigquery
