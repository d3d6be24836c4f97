#include "penstock/bigquery/sink/default_stream_destination.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::bigquery {

void DefaultStreamDestination::start() {
  // No answer says that rows leave out a REQUIRED column: the table is looked at first.
  reconcilesFirst_ =
      context_.options().schemaUpdateOptions.allowFieldRelaxation && context_.maySchemaChange();
  if (columns_.start()) state_ = State::kFetchingSchema;
}

// --- rows

void DefaultStreamDestination::onRowCommitted() {
  if (!prepareTarget()) return;
  std::optional<connector::FailedRecord> refused;
  if (!rows_.onRowCommitted(&refused)) {
    if (state_ == State::kIdle) open();
    return;
  }
  if (refused) context_.ask({*std::move(refused)});
  send();
}

bool DefaultStreamDestination::prepareTarget() {
  if (context_.target()) return true;
  if (absl::Status status = context_.prepareTarget(); !status.ok()) {
    rows_.clear();
    context_.host().fail(std::move(status));
    return false;
  }
  rows_.measure(/*atOffsets=*/false);
  return true;
}

void DefaultStreamDestination::sendBatch() {
  rows_.seal();
  send();
}

bool DefaultStreamDestination::drained() const {
  if (!rows_.empty() || !appender_.empty() || openQuestions_ > 0) return false;
  return state_ == State::kIdle || state_ == State::kOpen || state_ == State::kFetchingSchema;
}

// --- opening and appending

void DefaultStreamDestination::open() {
  if (std::exchange(reconcilesFirst_, false)) {
    beginRepair(std::make_unique<DestinationRepair>(context_, appender_));
    return;
  }
  state_ = State::kOpening;
  appender_.open();
  if (!appender_.isOpen()) return;
  state_ = State::kOpen;
  send();
}

void DefaultStreamDestination::onWriteStream(absl::StatusOr<WriteStreamInfo> info) {
  if (state_ == State::kFetchingSchema) {
    if (absl::Status status = appender_.note(info); !status.ok()) info = std::move(status);
    columns_.onRead(std::move(info));
    if (!columns_.isReading()) state_ = State::kIdle;
    return;
  }
  if (info.ok() && info->schema.has_value()) columns_.note(*info->schema);
  if (state_ == State::kRepairing) {
    repair_->onWriteStream(info);
    resumeIfRepaired();
  } else if (state_ == State::kOpening) {
    if (const absl::Status status = appender_.onWriteStream(info); !status.ok()) {
      openFailed(status);
      return;
    }
    state_ = State::kOpen;
    send();
    advanceColumns();
  }
}

void DefaultStreamDestination::openFailed(const absl::Status& status) {
  context_.host().countFailedAppend(status);
  const Verdict verdict = classify(status);
  if (context_.remedyFor(verdict) == Remedy::kFail) {
    context_.fail(status, verdict);
    return;
  }
  beginRepair(status, verdict);
}

void DefaultStreamDestination::send() {
  std::deque<SealedBatch>& sealed = rows_.sealed();
  if (state_ == State::kIdle && !sealed.empty()) open();
  if (state_ != State::kOpen || context_.host().failed()) return;
  while (!sealed.empty()) {
    const auto rows = sealed.front().share();
    if (!appender_.append(sealed.front())) return;
    context_.countSent(*rows);
    sealed.pop_front();
  }
}

// --- outcomes

void DefaultStreamDestination::onAppendDone(AppendToken token, AppendOutcome outcome) {
  if (!appender_.onAnswer(token)) return;
  if (outcome.response.updatedSchema) columns_.noteUpdated(*outcome.response.updatedSchema);
  if (repair_ && repair_->isReappending()) {
    repair_->onReappendDone(token, outcome);
    resumeIfRepaired();
    return;
  }
  const Verdict verdict = context_.verdictOf(outcome);
  if (verdict == Verdict::kSuccess) {
    appender_.take(token);
    advanceColumns();
  } else {
    const absl::Status status = outcome.response.status;
    context_.host().countFailedAppend(status);
    appender_.hold(token, std::move(outcome));
    if (context_.remedyFor(verdict) == Remedy::kFail) {
      context_.fail(status, verdict);
    } else if (!repair_) {
      beginRepair(status, verdict);
      return;
    }
  }
  if (!repair_) return;
  repair_->settle();
  resumeIfRepaired();
}

void DefaultStreamDestination::beginRepair(const absl::Status& status, Verdict verdict) {
  lastFailure_ = status;
  beginRepair(std::make_unique<DestinationRepair>(context_, appender_, status, verdict));
}

void DefaultStreamDestination::beginRepair(std::unique_ptr<DestinationRepair> repair) {
  state_ = State::kRepairing;
  repair_ = std::move(repair);
  repair_->settle();
  resumeIfRepaired();
}

void DefaultStreamDestination::resumeIfRepaired() {
  if (!repair_->done()) return;
  repair_.reset();
  state_ = State::kOpen;
  send();
  advanceColumns();
}

void DefaultStreamDestination::onTableCreated(const AdminError& error) {
  if (!repair_) return;
  repair_->onTableCreated(error);
  resumeIfRepaired();
}

void DefaultStreamDestination::onTableRead(const AdminError& error, const TableInfo& table) {
  if (!repair_) return;
  repair_->onTableRead(error, table);
  resumeIfRepaired();
}

void DefaultStreamDestination::onSchemaUpdated(const AdminError& error) {
  if (!repair_) return;
  repair_->onSchemaUpdated(error);
  resumeIfRepaired();
}

void DefaultStreamDestination::onAnswer() {
  --openQuestions_;
  if (openQuestions_ > 0) return;
  if (!repair_) {
    send();
    advanceColumns();
    return;
  }
  repair_->onHostAnswer();
  resumeIfRepaired();
}

void DefaultStreamDestination::onCreateOptions(std::string_view document) {
  --openQuestions_;
  if (!repair_) return;
  repair_->onCreateOptions(document);
  resumeIfRepaired();
}

// --- other columns

void DefaultStreamDestination::changeSchema(std::optional<TableSchema> schema,
                                            std::string descriptor) {
  columns_.change(std::move(schema), std::move(descriptor));
  advanceColumns();
}

void DefaultStreamDestination::onSchemaNews(const std::string& schema) {
  columns_.noteUpdated(schema);
  advanceColumns();
}

void DefaultStreamDestination::advanceColumns() {
  if (!columns_.isChanging() || context_.host().failed()) return;
  // Rows in the batch and in flight keep the columns they were laid out for.
  if (hasBatch()) sendBatch();
  if (!drained()) return;
  const TableColumns::Change change = columns_.takeChange();
  context_.replaceSchema(change.schema, change.descriptor);
  if (!prepareTarget()) return;
  // Columns that came from the table are there already.
  reconcilesFirst_ = !change.tellHost && context_.maySchemaChange();
  if (change.tellHost) {
    context_.host().ask(context_.id(), connector::Question::Kind::kNewSchema);
  }
  if (state_ == State::kOpen) open();
}

// --- time

void DefaultStreamDestination::advance() {
  columns_.advance();
  if (repair_) {
    repair_->advance();
    resumeIfRepaired();
  } else if (state_ == State::kOpen && openQuestions_ == 0) {
    send();
  }
  checkPatience();
  advanceColumns();
}

void DefaultStreamDestination::checkPatience() {
  if (context_.now() < appender_.patienceEnds()) return;
  appender_.stopWaiting();
  // The wait for room has lasted 300 s without an answer, a reconnection or an end: treated as a
  // connection that was given up (BQW-053).
  const absl::Status status = absl::DeadlineExceededError(
      "no room for an append within 300 s: the service has not answered what is in flight");
  context_.host().countFailedAppend(status);
  if (repair_) {
    repair_->onPatienceEnded(status);
    return;
  }
  for (SealedBatch& rows : rows_.sealed()) {
    context_.countSent(*rows);
    AppendOutcome outcome;
    outcome.kind = AppendOutcome::Kind::kClosedWriter;
    outcome.response.status = status;
    appender_.hold(std::move(rows), std::move(outcome));
  }
  rows_.sealed().clear();
  beginRepair(status, Verdict::kClosedWriter);
}

base::MonotonicTime DefaultStreamDestination::wakeAt() const {
  const base::MonotonicTime time = std::min(columns_.wakeAt(), appender_.patienceEnds());
  return repair_ ? std::min(time, repair_->wakeAt()) : time;
}

DestinationStatistics DefaultStreamDestination::statistics() const {
  constexpr std::array<const char*, 5> kStates = {"reading schema", "idle", "opening", "open",
                                                  "repairing"};
  DestinationStatistics statistics;
  statistics.table = table().dotted();
  statistics.state = kStates[static_cast<size_t>(state_)];
  rows_.addTo(statistics);
  appender_.addTo(statistics);
  if (repair_) repair_->addTo(statistics);
  if (!lastFailure_.ok()) statistics.lastFailure = base::describe(lastFailure_);
  return statistics;
}

base::MonotonicTime DefaultStreamDestination::closeIfIdle(base::Duration timeout) {
  if (state_ != State::kOpen) return base::kNever;
  const base::MonotonicTime until = base::deadlineAfter(lastAccess_, timeout);
  if (!drained() || context_.now() <= until) return until;
  rows_.rest();
  appender_.close();
  state_ = State::kIdle;
  return base::kNever;
}

// --- the end

void DefaultStreamDestination::close() {
  rows_.clear();
  repair_.reset();
  appender_.close();
}

}  // namespace penstock::bigquery
