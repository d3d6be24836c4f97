#include "penstock/bigquery/sink/buffered_stream_destination.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::bigquery {

void BufferedStreamDestination::start() {
  // No answer says that rows leave out a REQUIRED column: the table is looked at first.
  reconcilesFirst_ =
      context_.options().schemaUpdateOptions.allowFieldRelaxation && context_.maySchemaChange();
  if (columns_.start()) state_ = State::kReadingColumns;
}

void BufferedStreamDestination::restore(const BufferedStreamState& state) {
  stream_ = state.stream;
  nextOffset_ = state.nextOffset;
  snapshot_ = state.nextOffset;
  prepared_ = state.preparedOffset;
  covered_ = state.preparedOffset;
  checkpoint_ = state.checkpoint;
  mustProbe_ = true;
  touch();
}

// --- rows

bool BufferedStreamDestination::prepareTarget() {
  if (context_.target()) return true;
  if (absl::Status status = context_.prepareTarget(); !status.ok()) {
    rows_.clear();
    host_.fail(std::move(status));
    return false;
  }
  rows_.measure(/*atOffsets=*/true);
  return true;
}

void BufferedStreamDestination::onRowCommitted() {
  if (!prepareTarget()) return;
  std::optional<connector::FailedRecord> refused;
  if (!rows_.onRowCommitted(&refused)) return;
  if (refused) context_.ask({*std::move(refused)});
  send();
}

void BufferedStreamDestination::sendBatch() {
  if (rows_.hasBatch() && !prepareTarget()) return;
  rows_.seal();
  send();
}

bool BufferedStreamDestination::drained() const {
  if (!rows_.empty() || !unlanded_.empty() || !appends_.inFlight().empty() || openQuestions_ > 0) {
    return false;
  }
  return state_ == State::kIdle || state_ == State::kOpen || state_ == State::kReadingColumns;
}

void BufferedStreamDestination::send() {
  if (host_.failed() || (rows_.sealed().empty() && unlanded_.empty())) return;
  if (state_ == State::kIdle) {
    if (reconcilesFirst_) return reconcile();
    if (stream_.empty()) return create();
    return probe();
  }
  if (state_ != State::kOpen) return;
  for (; !unlanded_.empty(); unlanded_.pop_front()) {
    StreamAppend& append = unlanded_.front();
    append.offset = nextOffset_;
    const int64_t end = append.end();
    if (!appends_.append(append)) return;
    nextOffset_ = end;
    shared().appendRetries->add();
  }
  std::deque<SealedBatch>& sealed = rows_.sealed();
  for (; !sealed.empty(); sealed.pop_front()) {
    StreamAppend append;
    append.rows = std::move(sealed.front());
    append.offset = nextOffset_;
    const int64_t end = append.end();
    const std::shared_ptr<const connector::RowBatch> rows = append.rows.share();
    if (!appends_.append(append)) {
      sealed.front() = std::move(append.rows);
      return;
    }
    nextOffset_ = end;
    context_.countSent(*rows);
  }
}

// --- a stream

void BufferedStreamDestination::create() {
  state_ = State::kCreating;
  creation_ = std::make_unique<StreamCreation>(context_, host_);
}

void BufferedStreamDestination::onStreamCreated(const StreamError& error, CreatedStream stream) {
  if (!creation_) return;
  creation_->onStreamCreated(error, std::move(stream));
  resumeIfCreated();
}

void BufferedStreamDestination::onTableCreated(const AdminError& error) {
  if (creation_) creation_->onTableCreated(error);
}

void BufferedStreamDestination::resumeIfCreated() {
  if (!creation_->done()) return;
  stream_ = creation_->stream().name;
  location_ = creation_->stream().location;
  nextOffset_ = 0;
  creation_.reset();
  openStream();
}

void BufferedStreamDestination::openStream() {
  appends_.open(stream_, location_);
  state_ = State::kOpen;
  send();
  advanceColumns();
}

void BufferedStreamDestination::leaveStream() {
  appends_.close();
  stream_.clear();
  nextOffset_ = 0;
  prepared_ = 0;
  covered_ = 0;
  snapshot_ = -1;
  mustProbe_ = false;
  state_ = State::kIdle;
}

void BufferedStreamDestination::probe() {
  state_ = State::kProbing;
  appends_.open(stream_, context_.options().location.value_or(std::string()));
  StreamAppend first;
  first.rows = std::move(rows_.sealed().front());
  rows_.sealed().pop_front();
  first.offset = nextOffset_;
  nextOffset_ = first.end();
  context_.countSent(*first.rows);
  recovery_ = std::make_unique<StreamRecovery>(context_, appends_, nextOffset_, std::move(first));
  recovery_->begin();
  resumeIfRecovered();
}

void BufferedStreamDestination::abandon() {
  // It stays open for what is still to be committed; no committable names its end (BQW-133).
  if (prepared_ < snapshot_) {
    abandoned_.push_back({context_.table(), stream_, snapshot_, checkpoint_, prepared_});
  }
  unlanded_ = std::move(recovery_->queue());
  for (StreamAppend& append : unlanded_) {
    append.outcome.reset();
    append.transmissions = 0;
  }
  recovery_.reset();
  leaveStream();
  send();
}

// --- outcomes

void BufferedStreamDestination::onAppendDone(AppendToken token, AppendOutcome outcome) {
  const std::optional<std::string> updatedSchema = outcome.response.updatedSchema;
  StreamAppend* const append = appends_.onAnswer(token, std::move(outcome));
  if (append == nullptr) return;
  if (updatedSchema) columns_.noteUpdated(*updatedSchema);
  if (recovery_) {
    recovery_->onAnswer();
    resumeIfRecovered();
    return;
  }
  const bool isFirst = append == &appends_.inFlight().front();
  const std::optional<int64_t>& echo = append->outcome->response.offset;
  if (!isFirst || context_.verdictOf(*append->outcome) != Verdict::kSuccess ||
      echo.value_or(append->offset) != append->offset) {
    beginRecovery();
    return;
  }
  appends_.inFlight().pop_front();
  advanceColumns();
}

void BufferedStreamDestination::beginRecovery() {
  state_ = State::kRecovering;
  recovery_ = std::make_unique<StreamRecovery>(context_, appends_, nextOffset_);
  recovery_->begin();
  resumeIfRecovered();
}

void BufferedStreamDestination::resumeIfRecovered() {
  if (recovery_->state() == StreamRecovery::State::kAbandoned) return abandon();
  if (!recovery_->isProbe()) mustProbe_ = false;
  if (recovery_->state() != StreamRecovery::State::kDone) return;
  recovery_.reset();
  // Of a probe nothing was left to land: the next rows are one, too.
  state_ = mustProbe_ ? State::kIdle : State::kOpen;
  send();
  advanceColumns();
}

void BufferedStreamDestination::onAnswer() {
  --openQuestions_;
  if (openQuestions_ > 0) return;
  if (recovery_) {
    recovery_->onHostAnswer();
    resumeIfRecovered();
    return;
  }
  send();
  advanceColumns();
}

void BufferedStreamDestination::onCreateOptions(std::string_view document) {
  --openQuestions_;
  if (creation_) creation_->onCreateOptions(document);
}

// --- columns

void BufferedStreamDestination::onWriteStream(absl::StatusOr<WriteStreamInfo> info) {
  columns_.onRead(std::move(info));
  if (state_ == State::kReadingColumns && !columns_.isReading()) state_ = State::kIdle;
}

void BufferedStreamDestination::changeSchema(std::optional<TableSchema> schema,
                                             std::string descriptor) {
  columns_.change(std::move(schema), std::move(descriptor));
  advanceColumns();
}

void BufferedStreamDestination::onSchemaNews(const std::string& schema) {
  columns_.noteUpdated(schema);
  advanceColumns();
}

void BufferedStreamDestination::advanceColumns() {
  if (!columns_.isChanging() || host_.failed()) return;
  // Rows in the batch and in flight keep the columns they were laid out for.
  if (rows_.hasBatch()) sendBatch();
  if (!drained()) return;
  const TableColumns::Change change = columns_.takeChange();
  context_.replaceSchema(change.schema, change.descriptor);
  if (!prepareTarget()) return;
  if (change.tellHost) host_.ask(context_.id(), connector::Question::Kind::kNewSchema);
  // Columns that came from the table are there already.
  reconcilesFirst_ = !change.tellHost && context_.maySchemaChange();
  if (state_ != State::kOpen) return;
  if (reconcilesFirst_) return reconcile();
  appends_.reopen();
}

void BufferedStreamDestination::reconcile() {
  reconcilesFirst_ = false;
  state_ = State::kReconciling;
  reconciliation_.emplace(context_);
}

void BufferedStreamDestination::onTableRead(const AdminError& error, const TableInfo& table) {
  if (recovery_) {
    recovery_->onTableRead(error, table);
    resumeIfRecovered();
  } else if (reconciliation_) {
    reconciliation_->onTable(error, table);
    resumeIfReconciled();
  }
}

void BufferedStreamDestination::onSchemaUpdated(const AdminError& error) {
  if (recovery_) {
    recovery_->onSchemaUpdated(error);
    resumeIfRecovered();
  } else if (reconciliation_) {
    reconciliation_->onUpdated(error);
    resumeIfReconciled();
  }
}

void BufferedStreamDestination::resumeIfReconciled() {
  using Outcome = SchemaReconciliation::State;
  const Outcome outcome = reconciliation_->state();
  // A table that is not there yet is created with its stream.
  const bool toCreate = outcome == Outcome::kTableGone && stream_.empty();
  if (outcome == Outcome::kDone || toCreate) {
    reconciliation_.reset();
    const bool open = !stream_.empty() && !mustProbe_;
    state_ = open ? State::kOpen : State::kIdle;
    if (open) appends_.reopen();
    send();
  } else if (outcome == Outcome::kFailed || outcome == Outcome::kTableGone) {
    host_.fail(reconciliation_->failure());
  }
}

// --- time

void BufferedStreamDestination::advance() {
  columns_.advance();
  checkPatience();
  if (creation_) {
    creation_->advance();
  } else if (recovery_) {
    recovery_->advance();
    resumeIfRecovered();
  } else if (reconciliation_) {
    reconciliation_->advance();
  } else if (openQuestions_ == 0) {
    send();
  }
  advanceColumns();
}

void BufferedStreamDestination::checkPatience() {
  if (context_.now() < appends_.patienceEnds()) return;
  appends_.stopWaiting();
  if (recovery_) return;
  // The wait for room has lasted 300 s without an answer, a reconnection or an end (BQW-053). What
  // is in flight is answered by the connection's own end, then everything goes on from there.
  host_.countFailedAppend(absl::DeadlineExceededError("no room for an append within 300 s"));
  beginRecovery();
}

base::MonotonicTime BufferedStreamDestination::wakeAt() const {
  base::MonotonicTime time = std::min(columns_.wakeAt(), appends_.patienceEnds());
  if (creation_) time = std::min(time, creation_->wakeAt());
  if (recovery_) time = std::min(time, recovery_->wakeAt());
  if (reconciliation_) time = std::min(time, reconciliation_->wakeAt());
  return time;
}

// --- checkpoints

int64_t BufferedStreamDestination::landed() const {
  if (!appends_.inFlight().empty()) return appends_.inFlight().front().offset;
  if (recovery_ && !recovery_->queue().empty()) return recovery_->queue().front().offset;
  return nextOffset_;
}

std::optional<StreamCommittable> BufferedStreamDestination::prepare(int32_t subtask) {
  const int64_t rows = landed();
  if (stream_.empty() || rows <= covered_) return std::nullopt;
  prepared_ = rows;
  return StreamCommittable{stream_, rows - 1, subtask};
}

std::optional<BufferedStreamState> BufferedStreamDestination::snapshot(
    connector::CheckpointId checkpoint) {
  if (stream_.empty()) return std::nullopt;
  snapshot_ = landed();
  // Rows that were never prepared stay due, whatever happens to this checkpoint.
  covered_ = prepared_;
  return BufferedStreamState{context_.table(), stream_, snapshot_, checkpoint, prepared_};
}

base::MonotonicTime BufferedStreamDestination::closeIfIdle(base::Duration timeout) {
  if (stream_.empty()) return base::kNever;
  const base::MonotonicTime until = base::deadlineAfter(lastAccess_, timeout);
  const bool clean = drained() && snapshot_ == nextOffset_ && covered_ == nextOffset_;
  if (!clean || context_.now() <= until) return until;
  rows_.rest();
  leaveStream();
  return base::kNever;
}

// --- the end

DestinationStatistics BufferedStreamDestination::statistics() const {
  constexpr std::array<const char*, 7> kStates = {
      "reading schema", "idle", "creating", "probing", "open", "repairing", "reconciling"};
  DestinationStatistics statistics;
  statistics.table = table().dotted();
  statistics.state = kStates[static_cast<size_t>(state_)];
  rows_.addTo(statistics);
  appends_.addTo(statistics);
  for (const StreamAppend& append : unlanded_) {
    ++statistics.unansweredBatches;
    statistics.unansweredBytes += append.rows->framedBytes();
  }
  if (creation_) statistics.repairAttempt = creation_->attempt();
  if (recovery_) recovery_->addTo(statistics);
  return statistics;
}

void BufferedStreamDestination::close() {
  rows_.clear();
  unlanded_.clear();
  creation_.reset();
  recovery_.reset();
  reconciliation_.reset();
  appends_.close();
}

}  // namespace penstock::bigquery
