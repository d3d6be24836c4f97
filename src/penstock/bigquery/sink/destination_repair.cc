#include "penstock/bigquery/sink/destination_repair.h"

#include <array>
#include <utility>

#include "penstock/bigquery/sink/refused_rows.h"
#include "penstock/bigquery/sink/schema_wait.h"

namespace penstock::bigquery {

DestinationRepair::DestinationRepair(DestinationContext& context, DestinationAppender& appender,
                                     const absl::Status& cause, Verdict verdict)
    : context_(context),
      appender_(appender),
      cause_(cause),
      causeVerdict_(verdict),
      wantsRebuild_(false) {
  appender_.stopWaiting();
  want(cause, verdict);
}

DestinationRepair::DestinationRepair(DestinationContext& context, DestinationAppender& appender)
    : context_(context),
      appender_(appender),
      causeVerdict_(Verdict::kSuccess),
      wantsReconciling_(true) {}

/// Notes what a failure asks for.
void DestinationRepair::want(const absl::Status& status, Verdict verdict) {
  if (verdict == Verdict::kRowErrors) return;
  wantsRebuild_ = true;
  if (verdict == Verdict::kMissingTable && missing_.ok()) missing_ = status;
  if (verdict == Verdict::kSchemaMismatch) {
    wantsReconciling_ = true;
    if (mismatch_.ok()) mismatch_ = status;
  }
}

void DestinationRepair::settle() {
  // A rebuild must not cancel live siblings: their answers are awaited first (BQW-070).
  if (state_ != State::kSettling || !appender_.allAnswered()) return;
  std::vector<connector::FailedRecord> failures;
  for (DestinationAppender::InFlight& entry : appender_.takeAll()) {
    const Verdict verdict = context_.verdictOf(*entry.outcome);
    if (verdict == Verdict::kRowErrors) {
      if (!takeRefusedRows(context_, *entry.outcome, entry.rows, failures)) {
        fail(entry.outcome->response.status, verdict);
      }
    } else {
      want(entry.outcome->response.status, verdict);
    }
    if (entry.rows) batches_.push_back(std::move(entry.rows));
  }
  if (failures.empty()) {
    nextStep();
  } else {
    state_ = State::kAsking;
    context_.ask(std::move(failures));
  }
}

void DestinationRepair::onHostAnswer() {
  if (state_ == State::kAsking) nextStep();
}

void DestinationRepair::nextStep() {
  if (context_.host().failed()) return;
  if (!missing_.ok() && !created_) {
    create();
  } else if (wantsReconciling_ && !reconciled_) {
    reconcile();
  } else if (wantsRebuild_) {
    reopen();
  } else {
    reappend();
  }
}

// --- creating the table

void DestinationRepair::create() {
  state_ = State::kCreating;
  resumeAt_ = base::kNever;
  creation_.emplace(context_, missing_);
}

void DestinationRepair::onCreateOptions(std::string_view document) {
  if (creation_) creation_->onCreateOptions(document);
}

void DestinationRepair::onTableCreated(const AdminError& error) {
  if (!creation_) return;
  creation_->onTableCreated(error);
  if (!creation_->done()) return;
  creation_.reset();
  context_.shared().tablesCreated->add();
  created_ = true;
  nextStep();
}

// --- its columns

void DestinationRepair::reconcile() {
  state_ = State::kReconciling;
  resumeAt_ = base::kNever;
  reconciliation_.emplace(context_);
}

void DestinationRepair::onTableRead(const AdminError& error, const TableInfo& table) {
  if (!reconciliation_) return;
  reconciliation_->onTable(error, table);
  resumeIfReconciled();
}

void DestinationRepair::onSchemaUpdated(const AdminError& error) {
  if (!reconciliation_) return;
  reconciliation_->onUpdated(error);
  resumeIfReconciled();
}

void DestinationRepair::resumeIfReconciled() {
  using Outcome = SchemaReconciliation::State;
  const Outcome outcome = reconciliation_->state();
  if (outcome == Outcome::kFailed) {
    const absl::Status& failure = reconciliation_->failure();
    context_.host().fail(
        mismatch_.ok() ? failure
                       : base::makeStatus(failure.code(),
                                          "{}. It was tried because writing to the "
                                          "table answered {}",
                                          base::messageOf(failure), base::describe(mismatch_)));
  } else if (outcome == Outcome::kTableGone) {
    const absl::Status failure = reconciliation_->failure();
    reconciliation_.reset();
    tableIsGone(failure);
  } else if (outcome == Outcome::kDone) {
    // A mismatch says that the service does not go by the columns yet, whoever added them.
    if (reconciliation_->changedTable() || !mismatch_.ok()) schedule_ = Schedule::kSchemaWait;
    reconciliation_.reset();
    reconciled_ = true;
    nextStep();
  }
}

/// Creates the table or fails, by the disposition (BQW-160).
void DestinationRepair::tableIsGone(const absl::Status& status) {
  if (created_ || context_.remedyFor(Verdict::kMissingTable) == Remedy::kFail) {
    attemptFailed(status, Verdict::kMissingTable);
    return;
  }
  want(status, Verdict::kMissingTable);
  nextStep();
}

// --- the new appender

void DestinationRepair::reopen() {
  state_ = State::kReopening;
  resumeAt_ = base::kNever;
  appender_.open();
  if (appender_.isOpen()) {
    wantsRebuild_ = false;
    reappend();
  }
}

void DestinationRepair::onWriteStream(const absl::StatusOr<WriteStreamInfo>& info) {
  if (state_ != State::kReopening) return;
  if (const absl::Status status = appender_.onWriteStream(info); !status.ok()) {
    context_.host().countFailedAppend(status);
    attemptFailed(status, classify(status));
    return;
  }
  wantsRebuild_ = false;
  reappend();
}

// --- the batches again

void DestinationRepair::reappend() {
  if (context_.host().failed()) return;
  state_ = State::kReappending;
  if (batches_.empty()) {
    state_ = State::kDone;
  } else if (appender_.append(batches_.front())) {
    batches_.pop_front();
    context_.shared().appendRetries->add();
  }
}

void DestinationRepair::onReappendDone(AppendToken token, const AppendOutcome& outcome) {
  SealedBatch rows = appender_.take(token);
  const Verdict verdict = context_.verdictOf(outcome);
  if (verdict == Verdict::kSuccess) {
    reappend();
    return;
  }
  context_.host().countFailedAppend(outcome.response.status);
  if (verdict != Verdict::kRowErrors) {
    batches_.push_front(std::move(rows));
    attemptFailed(outcome.response.status, verdict);
    return;
  }
  // Routed, and the survivors go on in the same attempt (BQW-076).
  std::vector<connector::FailedRecord> failures;
  if (!takeRefusedRows(context_, outcome, rows, failures)) {
    batches_.push_front(std::move(rows));
    fail(outcome.response.status, verdict);
    return;
  }
  if (rows) batches_.push_front(std::move(rows));
  state_ = State::kAsking;
  context_.ask(std::move(failures));
}

void DestinationRepair::onPatienceEnded(const absl::Status& status) {
  attemptFailed(status, Verdict::kClosedWriter);
}

void DestinationRepair::attemptFailed(const absl::Status& status, Verdict verdict) {
  // A repair creates the table at most once and brings its columns in line at most once (BQW-074);
  // after that the verdict is waited out: a denial that is meant as long as any failure, columns
  // as long as they may take (BQW-075).
  const bool toCreate = verdict == Verdict::kMissingTable && !created_;
  const bool toReconcile = verdict == Verdict::kSchemaMismatch && !reconciled_;
  if (verdict == Verdict::kMissingTable && created_) schedule_ = Schedule::kRecovery;
  if (verdict == Verdict::kSchemaMismatch && reconciled_) schedule_ = Schedule::kSchemaWait;
  if (context_.remedyFor(verdict) == Remedy::kFail || !schedule().allowsAnotherAfter(attempt_)) {
    fail(status, verdict);
    return;
  }
  const int failedAttempt = attempt_++;
  want(status, verdict);
  if (toCreate || toReconcile) {
    nextStep();
    return;
  }
  state_ = State::kBackingOff;
  resumeAt_ = context_.afterBackoff(schedule(), failedAttempt);
  context_.host().needsAttention(context_.id());
}

// --- time and the end

void DestinationRepair::advance() {
  if (creation_) return creation_->advance();
  if (reconciliation_) {
    reconciliation_->advance();
    return;
  }
  if (state_ == State::kReappending) {
    // Nothing is on its way: the first batch waits for room.
    if (appender_.empty()) reappend();
    return;
  }
  if (state_ == State::kBackingOff && context_.now() >= resumeAt_) nextStep();
}

base::RetrySchedule DestinationRepair::schedule() const {
  return schedule_ == Schedule::kRecovery ? context_.recoverySchedule() : schemaWaitSchedule();
}

void DestinationRepair::fail(const absl::Status& status, Verdict verdict) {
  context_.fail(status, verdict, story());
}

std::string DestinationRepair::story() const {
  if (state_ == State::kSettling) return {};
  const std::string beginning =
      causeVerdict_ == Verdict::kSuccess
          ? "other columns of the rows"
          : fmt::format("{}: {}", verdictName(causeVerdict_), base::describe(cause_));
  return fmt::format(" after {} of {} repair attempts{}{} (the repair began with {})", attempt_,
                     schedule().maxAttempts, created_ ? " and the creation of the table" : "",
                     reconciled_ ? " and a look at its columns" : "", beginning);
}

void DestinationRepair::addTo(DestinationStatistics& statistics) const {
  constexpr std::array<const char*, 8> kStates = {"settling",    "asking",    "creating",
                                                  "reconciling", "reopening", "reappending",
                                                  "backing off", "done"};
  const bool asksForOptions =
      creation_ && creation_->state() == TableCreation::State::kAskingOptions;
  statistics.state = asksForOptions ? "asking options" : kStates[static_cast<size_t>(state_)];
  statistics.repairAttempt = attempt_;
  statistics.unansweredBatches += batches_.size();
  for (const SealedBatch& batch : batches_) statistics.unansweredBytes += batch->framedBytes();
}

}  // namespace penstock::bigquery
