#include "penstock/bigquery/sink/stream_recovery.h"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/bigquery/sink/refused_rows.h"
#include "penstock/bigquery/sink/schema_wait.h"

namespace penstock::bigquery {
namespace {

std::string_view hintFor(Verdict verdict, const DestinationContext& context) {
  switch (verdict) {
    case Verdict::kTransient:
    case Verdict::kClosedWriter:
      return "; run again from the last checkpoint when the service answers";
    case Verdict::kSchemaMismatch:
      if (context.options().schemaUpdateOptions.enabled()) {
        return "; the service does not go by the table's columns yet, or they cannot be changed: "
               "run again from the last checkpoint in a while";
      }
      return "; the rows have fields that the table has not: add the columns to the table, set "
             "allowNewFields to have them added, or leave the fields out";
    case Verdict::kStaleWriter:
    case Verdict::kOffsetExists:
    case Verdict::kOffsetBeyond:
      return "; the stream is not as this writer left it, or an answer was lost and nobody can "
             "tell: "
             "run again from the last checkpoint, which goes on with a stream of its own";
    case Verdict::kMissingTable:
      return "; was the table deleted, or the right to update its data "
             "(bigquery.tables.updateData) taken away?";
    default:
      return {};
  }
}

}  // namespace

StreamRecovery::StreamRecovery(DestinationContext& context, StreamAppends& appends,
                               int64_t& nextOffset)
    : context_(context),
      appends_(appends),
      nextOffset_(nextOffset),
      mode_(Mode::kResend),
      state_(State::kSettling) {
  appends_.stopWaiting();
}

StreamRecovery::StreamRecovery(DestinationContext& context, StreamAppends& appends,
                               int64_t& nextOffset, StreamAppend first)
    : context_(context),
      appends_(appends),
      nextOffset_(nextOffset),
      mode_(Mode::kProbe),
      state_(State::kAppending) {
  queue_.push_back(std::move(first));
}

void StreamRecovery::begin() {
  if (state_ == State::kSettling) return settle();
  next();
}

void StreamRecovery::onAnswer() {
  if (state_ == State::kSettling) return settle();
  if (state_ != State::kAppending || appends_.inFlight().empty()) return;
  queue_.push_front(std::move(appends_.inFlight().front()));
  appends_.inFlight().pop_front();
  next();
}

void StreamRecovery::settle() {
  // A new connection would cancel those that are still under way.
  if (!appends_.allAnswered()) return;
  queue_ = std::exchange(appends_.inFlight(), {});
  next();
}

void StreamRecovery::next() {
  state_ = State::kAppending;
  resumeAt_ = base::kNever;
  while (!queue_.empty()) {
    if (context_.host().failed()) return;
    StreamAppend& head = queue_.front();
    if (!head.outcome.has_value()) return appendHead();
    if (!judge(head)) return;
  }
  state_ = State::kDone;
}

void StreamRecovery::appendHead() {
  if (std::exchange(reopen_, false)) {
    appends_.reopen();
    reopened_ = true;
  }
  const bool again = queue_.front().sentBefore;
  if (!appends_.append(queue_.front())) return;  // advance() comes back
  queue_.pop_front();
  ++attempts_;
  if (again) context_.shared().appendRetries->add();
}

// --- what an outcome means

bool StreamRecovery::judge(StreamAppend& head) {
  const AppendOutcome& outcome = *head.outcome;
  absl::Status status = outcome.response.status;
  Verdict verdict = context_.verdictOf(outcome);
  if (verdict == Verdict::kSuccess &&
      outcome.response.offset.value_or(head.offset) != head.offset) {
    status = base::makeStatus(absl::StatusCode::kDataLoss,
                              "the service says that the rows are at offset {}",
                              *outcome.response.offset);  // BQW-103
    verdict = Verdict::kFatal;
  }
  const Remedy remedy = remedyFor(head, verdict);
  // To be there already is no failure of something that was sent before.
  const bool expected = verdict == Verdict::kOffsetExists && remedy != Remedy::kFail;
  if (verdict != Verdict::kSuccess && !expected) context_.host().countFailedAppend(status);
  switch (remedy) {
    case Remedy::kLanded:
      if (mode_ == Mode::kProbe) mode_ = Mode::kResend;  // adopted
      queue_.pop_front();
      attempts_ = 0;
      return true;
    case Remedy::kReopenAndAgain:
      // What was in flight before has one new connection in common.
      reopen_ = attempts_ > 0 || !reopened_;
      [[fallthrough]];
    case Remedy::kAgain:
      tryAgain(status, verdict);
      return false;
    case Remedy::kReconcile:
      state_ = State::kReconciling;
      reconciliation_.emplace(context_);
      return false;
    case Remedy::kRoute:
      return route(head);
    case Remedy::kAbandon:
      state_ = State::kAbandoned;
      return false;
    case Remedy::kFail:
      fail(status, verdict);
      return false;
  }
  return false;
}

StreamRecovery::Remedy StreamRecovery::remedyFor(const StreamAppend& head, Verdict verdict) const {
  switch (verdict) {
    case Verdict::kSuccess:
      return Remedy::kLanded;
    case Verdict::kTransient:
      return Remedy::kAgain;
    case Verdict::kClosedWriter:
      return Remedy::kReopenAndAgain;
    case Verdict::kRowErrors:
      return Remedy::kRoute;
    case Verdict::kOffsetExists:
    case Verdict::kOffsetBeyond:
      return remedyForOffsetError(head, verdict);
    case Verdict::kStaleWriter:
      return mode_ == Mode::kProbe ? Remedy::kAbandon : Remedy::kFail;
    case Verdict::kSchemaMismatch:
      if (!context_.maySchemaChange()) return Remedy::kFail;
      return reconciled_ ? Remedy::kReopenAndAgain : Remedy::kReconcile;
    case Verdict::kMissingTable:
      // Told by the end of the call: the stream could not even be opened.
      return mode_ == Mode::kProbe && head.outcome->kind == AppendOutcome::Kind::kCallFailed
                 ? Remedy::kAbandon
                 : Remedy::kFail;
    case Verdict::kFatal:
      return Remedy::kFail;
  }
  return Remedy::kFail;
}

StreamRecovery::Remedy StreamRecovery::remedyForOffsetError(const StreamAppend& head,
                                                            Verdict verdict) const {
  if (mode_ == Mode::kProbe) return Remedy::kAbandon;
  if (mode_ == Mode::kReplay && (verdict == Verdict::kOffsetBeyond || mayLandLate_)) {
    return Remedy::kFail;
  }
  if (verdict == Verdict::kOffsetBeyond) return Remedy::kAgain;  // what was before it went missing
  // Of a batch that was written once only, someone else has the offset (BQW-102).
  return head.transmissions > 1 ? Remedy::kLanded : Remedy::kFail;
}

void StreamRecovery::tryAgain(const absl::Status& status, Verdict verdict) {
  if (attempts_ > 0 && !schedule().allowsAnotherAfter(attempts_)) return fail(status, verdict);
  queue_.front().outcome.reset();
  if (attempts_ == 0) return appendHead();  // it came from before the recovery
  state_ = State::kBackingOff;
  resumeAt_ = context_.afterBackoff(schedule(), attempts_);
  context_.host().needsAttention(context_.id());
}

base::RetrySchedule StreamRecovery::schedule() const {
  return reconciled_ ? schemaWaitSchedule() : context_.recoverySchedule();
}

// --- refused rows

bool StreamRecovery::route(StreamAppend& head) {
  const absl::Status status = head.outcome->response.status;
  std::vector<connector::FailedRecord> failures;
  if (!takeRefusedRows(context_, *head.outcome, head.rows, failures)) {
    fail(status, Verdict::kRowErrors);
    return false;
  }
  if (somethingLandedBehind()) {
    fail(base::makeStatus(absl::StatusCode::kDataLoss,
                          "rows behind refused ones were taken, at offsets that cannot be: {}",
                          base::describe(status)),
         Verdict::kOffsetExists);
    return false;
  }
  mayLandLate_ = mayLandLate_ || somethingMayLandLate();
  const int64_t offset = head.offset;
  if (!head.rows) queue_.pop_front();
  renumber(offset);
  // The service may refuse rows before it looks at the offset: of the stream's end a probe knows
  // nothing until something has landed.
  if (mode_ != Mode::kProbe) mode_ = Mode::kReplay;
  attempts_ = 0;
  state_ = State::kAsking;
  context_.ask(std::move(failures));
  return false;
}

bool StreamRecovery::somethingLandedBehind() const {
  for (size_t behind = 1; behind < queue_.size(); ++behind) {
    if (!queue_[behind].outcome.has_value()) continue;
    const Verdict verdict = context_.verdictOf(*queue_[behind].outcome);
    if (verdict == Verdict::kSuccess || verdict == Verdict::kOffsetExists) return true;
  }
  return false;
}

/// Whether a copy of something may still be on its way, at the offset that it had: of what was
/// written once and refused for good there is none. When the replay has brought the stream's end to
/// that offset, it would be taken.
bool StreamRecovery::somethingMayLandLate() const {
  return std::any_of(queue_.begin(), queue_.end(), [&](const StreamAppend& append) {
    if (append.transmissions == 0) return false;
    if (append.transmissions > 1 || !append.outcome.has_value()) return true;
    const Verdict verdict = context_.verdictOf(*append.outcome);
    return verdict != Verdict::kRowErrors && verdict != Verdict::kOffsetBeyond;
  });
}

void StreamRecovery::renumber(int64_t offset) {
  for (StreamAppend& append : queue_) {
    append.offset = offset;
    append.outcome.reset();
    append.transmissions = 0;
    offset = append.end();
  }
  nextOffset_ = offset;
}

void StreamRecovery::onHostAnswer() {
  if (state_ == State::kAsking) next();
}

// --- the table's columns

void StreamRecovery::onTableRead(const AdminError& error, const TableInfo& table) {
  if (!reconciliation_) return;
  reconciliation_->onTable(error, table);
  resumeIfReconciled();
}

void StreamRecovery::onSchemaUpdated(const AdminError& error) {
  if (!reconciliation_) return;
  reconciliation_->onUpdated(error);
  resumeIfReconciled();
}

void StreamRecovery::resumeIfReconciled() {
  using Outcome = SchemaReconciliation::State;
  const Outcome outcome = reconciliation_->state();
  if (outcome == Outcome::kFailed || outcome == Outcome::kTableGone) {
    context_.host().fail(
        base::makeStatus(reconciliation_->failure().code(),
                         "{}. It was tried because writing to the table answered {}",
                         base::messageOf(reconciliation_->failure()),
                         base::describe(queue_.front().outcome->response.status)));
  } else if (outcome == Outcome::kDone) {
    reconciliation_.reset();
    reconciled_ = true;
    reopen_ = true;
    attempts_ = 0;
    queue_.front().outcome.reset();
    next();
  }
}

// --- time and the end

void StreamRecovery::advance() {
  if (reconciliation_) {
    reconciliation_->advance();
  } else if (state_ == State::kBackingOff && context_.now() >= resumeAt_) {
    next();
  } else if (state_ == State::kAppending && appends_.inFlight().empty()) {
    next();  // the first one waits for room
  }
}

void StreamRecovery::fail(const absl::Status& status, Verdict verdict) {
  std::string story;
  if (attempts_ > 1) {
    story = fmt::format(" after {} of {} attempts{}", attempts_, schedule().maxAttempts,
                        reconciled_ ? " and a look at the table's columns" : "");
  }
  const std::string_view what = mode_ == Mode::kProbe    ? ", the first since the restore,"
                                : mode_ == Mode::kReplay ? ", again behind refused rows,"
                                                         : "";
  context_.host().fail(base::makeStatus(
      status.code(), "append{} to {} at offset {} of its stream (AppendRows) failed{}: {}{}", what,
      context_.table().dotted(), queue_.front().offset, story, base::describe(status),
      hintFor(verdict, context_)));
}

void StreamRecovery::addTo(DestinationStatistics& statistics) const {
  constexpr std::array<const char*, 7> kStates = {
      "settling", "reappending", "backing off", "asking", "reconciling", "done", "abandoned"};
  statistics.state = isProbe() ? "probing" : kStates[static_cast<size_t>(state_)];
  statistics.repairAttempt = attempts_;
  statistics.unansweredBatches += queue_.size();
  for (const StreamAppend& append : queue_) {
    if (append.rows) statistics.unansweredBytes += append.rows->framedBytes();
  }
}

}  // namespace penstock::bigquery
