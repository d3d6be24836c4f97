#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/bigquery/sink/missing_values.h"
#include "penstock/bigquery/sink/stream_writer.h"

namespace penstock::bigquery {

template <typename Destination>
StreamWriter<Destination>::StreamWriter(const SinkOptions& options, WriterDependencies dependencies,
                                        std::shared_ptr<Inbox> inbox)
    : StorageWriter(&inbox->signal),
      inbox_(std::move(inbox)),
      options_(options),
      dependencies_(std::move(dependencies)),
      batches_(connector::RowBatchPool::create()),
      board_(std::make_shared<StatisticsBoard>([inbox = inbox_] { inbox->post(Room{}); })),
      account_(dependencies_.pool->bounds(), dependencies_.metrics->gauge("bufferedBytes")) {
  base::MetricGroup& metrics = *dependencies_.metrics;
  recordsSkipped_ = &metrics.counter("recordsSkipped");
  sendErrors_ = &metrics.counter("numRecordsSendErrors");
  shared_.options = &options_;
  shared_.pool = dependencies_.pool.get();
  shared_.writer = dependencies_.pool->addWriter(inbox_, poolOptions(options_));
  shared_.batches = batches_.get();
  shared_.clock = dependencies_.clock;
  shared_.random = dependencies_.random.get();
  shared_.emulator = dependencies_.emulator;
  shared_.missingValues = encodeMissingValues(options_);
  shared_.recordsSend = &metrics.counter("numRecordsSend");
  shared_.bytesSend = &metrics.counter("numBytesSend");
  shared_.appendRetries = &metrics.counter("appendRetries");
  shared_.schemaReconciliations = &metrics.counter("schemaReconciliations");
  shared_.buffers = &account_;
  shared_.metrics = &metrics;
  if (const auto interval = options_.defaultStreamOptions.flushInterval; interval.has_value()) {
    nextFlush_ = base::deadlineAfter(shared_.clock->now(), *interval);
  }
}

template <typename Destination>
StreamWriter<Destination>::~StreamWriter() {
  beginClose();
}

template <typename Destination>
absl::StatusOr<connector::DestinationId> StreamWriter<Destination>::registerDestination(
    DestinationSetup setup) {
  if (const auto found = ids_.find(setup.table); found != ids_.end()) return found->second;
  PENSTOCK_RETURN_IF_ERROR(setup.table.validate());
  const connector::DestinationId id{static_cast<uint32_t>(destinations_.size())};
  ids_.emplace(setup.table, id);
  typename Destination::Host& host = *this;
  destinations_.push_back(std::make_unique<Destination>(host, id, std::move(setup)));
  openBatches_.emplace_back();
  inAttention_.push_back(false);
  inDirty_.push_back(false);
  destinations_.back()->start();
  return id;
}

template <typename Destination>
void StreamWriter<Destination>::changeSchema(connector::DestinationId destination,
                                             std::optional<TableSchema> schema,
                                             std::string descriptor) {
  forgetHot();
  if (!failure_.ok() || closed_) return;
  at(destination).changeSchema(std::move(schema), std::move(descriptor));
}

template <typename Destination>
const TableSchema* StreamWriter<Destination>::schemaOf(connector::DestinationId destination) const {
  return destinations_[static_cast<size_t>(destination)]->schema();
}

template <typename Destination>
const TableName& StreamWriter<Destination>::tableOf(connector::DestinationId destination) const {
  return destinations_[static_cast<size_t>(destination)]->table();
}

// --- rows

template <typename Destination>
connector::Admission StreamWriter<Destination>::admitSlowly(connector::DestinationId destination) {
  if (inbox_->signal.load(std::memory_order_acquire) || ++rowsSinceWork_ >= kRowsBetweenTimers) {
    work();
  }
  if (!failure_.ok()) return connector::Admission::kFailed;
  const auto accepts = [&] {
    return openBatches_[static_cast<size_t>(destination)].maxFramedBytes != 0 ||
           at(destination).accepts();
  };
  if (operation_ != Operation::kNone || closed_ || !accepts() || mustWaitForBuffers()) {
    return connector::Admission::kWouldWait;
  }
  return connector::Admission::kAccepted;
}

template <typename Destination>
size_t StreamWriter<Destination>::takeRows(connector::DestinationId destination,
                                           std::span<const std::string_view> rows,
                                           connector::RowOrigin first) {
  size_t taken = 0;
  while (taken < rows.size() && admit(destination) == connector::Admission::kAccepted) {
    beginRow(destination).append(rows[taken]);
    commitRow(connector::advanced(first, taken));
    ++taken;
    if (hot_.destination != destination || hot_.batch->rowCount() >= kMaxRowsPerAppend) continue;
    // Those that nothing needs to be asked about; the last of them may be the one too many.
    const size_t most = std::min<size_t>(
        {rows.size() - taken, kRowsBetweenTimers, kMaxRowsPerAppend - hot_.batch->rowCount()});
    const size_t run = hot_.batch->appendRows(
        rows.subspan(taken, most), connector::advanced(first, taken), hot_.maxFramedBytes);
    rowsSinceWork_ += static_cast<uint32_t>(run);
    taken += run;
    if (run > 0 && (hot_.batch->framedBytes() > hot_.maxFramedBytes ||
                    hot_.batch->rowCount() >= kMaxRowsPerAppend)) {
      afterCommit();
    }
  }
  return taken;
}

template <typename Destination>
void StreamWriter<Destination>::afterCommit() {
  forgetHot();
  OpenBatch& open = openBatches_[static_cast<size_t>(rowDestination_)];
  if (open.maxFramedBytes == 0 || open.batch->framedBytes() > open.maxFramedBytes ||
      open.batch->rowCount() >= kMaxRowsPerAppend) {
    askAboutBatch(open);
  } else {
    account_.setUnsent(rowDestination_, open.batch->framedBytes());
  }
  if (open.maxFramedBytes != 0) {
    open.end = open.batch->end();
    open.rowLines = static_cast<uint32_t>(std::min(row_->size() / 64 + 2, kMostRowLines));
  }
  if (!account_.isRelaxed()) return relieve();
  if (open.maxFramedBytes == 0) return;
  hot_ = {rowDestination_, open.batch,
          std::min(open.maxFramedBytes, open.batch->framedBytes() + account_.step())};
}

template <typename Destination>
void StreamWriter<Destination>::askAboutBatch(OpenBatch& open) {
  const auto index = static_cast<size_t>(rowDestination_);
  if (!inDirty_[index]) {
    inDirty_[index] = true;
    dirty_.push_back(rowDestination_);
  }
  Destination& destination = at(rowDestination_);
  destination.onRowCommitted();
  account_.setUnsent(rowDestination_, destination.unsentBytes());
  if (!failure_.ok()) return;
  open.maxFramedBytes = destination.batchBytesToLookAgain();
  if (open.maxFramedBytes != 0) open.batch = &destination.batch();
}

template <typename Destination>
void StreamWriter<Destination>::relieve() {
  while (const auto largest = account_.toSend()) {
    forgetHot();
    at(*largest).sendBatch();
    account_.setUnsent(*largest, at(*largest).unsentBytes());
  }
}

template <typename Destination>
bool StreamWriter<Destination>::mustWaitForBuffers() {
  relieve();
  if (!account_.mustWait()) {
    askedForRelief_ = false;
    return false;
  }
  if (account_.othersHoldUnsent() && !std::exchange(askedForRelief_, true)) {
    dependencies_.pool->askForRelief();
  }
  return true;
}

template <typename Destination>
void StreamWriter<Destination>::discardRow() {
  forgetHot();
  recordsSkipped_->add();
  if (rowBatch_ == nullptr) return;
  rowBatch_->discardRow();
  rowBatch_ = nullptr;
  at(rowDestination_).onRowDiscarded();
}

template <typename Destination>
void StreamWriter<Destination>::failRow(connector::DestinationId destination,
                                        connector::FailedRecord failure) {
  forgetHot();
  const bool begun = rowBatch_ != nullptr;
  if (begun) {
    rowBatch_->discardRow();
    rowBatch_ = nullptr;
    at(rowDestination_).onRowDiscarded();
  }
  sendErrors_->add();
  if (destination != connector::kNoDestination) at(destination).countErrors(1);
  connector::Question& question = addQuestion(connector::Question::Kind::kFailedRecords,
                                              begun ? rowDestination_ : connector::kNoDestination);
  if (begun) at(rowDestination_).noteQuestion();
  question.failures.push_back(std::move(failure));
}

// --- operations

template <typename Destination>
void StreamWriter<Destination>::beginFlush(bool endOfInput) {
  forgetHot();
  if (closed_) return;
  finalFlush_ = endOfInput;
  if (operation_ == Operation::kFlushHandler) {
    flushAgain_ = true;  // records may have failed since the handler was asked
    return;
  }
  operation_ = Operation::kFlush;
  work();
  flushAll();
}

template <typename Destination>
void StreamWriter<Destination>::flushAll() {
  for (const connector::DestinationId id : dirty_) at(id).sendBatch();
}

template <typename Destination>
void StreamWriter<Destination>::startTimedFlush() {
  // A flush that is open already does the timer's work.
  if (operation_ != Operation::kNone || !failure_.ok() || shared_.clock->now() < nextFlush_) return;
  operation_ = Operation::kFlush;
  finalFlush_ = false;
  flushAll();
}

template <typename Destination>
void StreamWriter<Destination>::onHandlerFlushed() {
  if (std::exchange(flushAgain_, false)) {
    operation_ = Operation::kFlush;
    return;
  }
  operation_ = Operation::kNone;
  const base::MonotonicTime now = shared_.clock->now();
  if (const auto interval = options_.defaultStreamOptions.flushInterval; interval.has_value()) {
    nextFlush_ = base::deadlineAfter(now, *interval);
  }
  // At the end of the input nothing is gained by it (BQW-090).
  if (!finalFlush_ && now > nextIdleLook_) closeIdleDestinations();
}

template <typename Destination>
void StreamWriter<Destination>::closeIdleDestinations() {
  nextIdleLook_ = base::kNever;
  forgetOpenBatches();
  for (const auto& destination : destinations_) {
    nextIdleLook_ =
        std::min(nextIdleLook_,
                 destination->closeIfIdle(options_.defaultStreamOptions.destinationIdleTimeout));
  }
}

template <typename Destination>
void StreamWriter<Destination>::beginClose() {
  if (closed_) return;
  forgetOpenBatches();
  operation_ = Operation::kNone;
  closed_ = true;
  dependencies_.pool->removeWriter(shared_.writer);
  for (auto& destination : destinations_) destination->close();
  questions_.clear();
  for (base::Gauge* gauge : {shared_.inFlightBatches, shared_.openDestinations}) {
    if (gauge != nullptr) gauge->set(0);  // they read 0 after close
  }
  account_.close();
  board_->publishFinal(statistics());
}

template <typename Destination>
connector::Progress StreamWriter<Destination>::poll() {
  connector::Progress progress;
  if (closed_) return progress;
  work();
  if (failure_.ok()) advanceOperation();
  if (!failure_.ok()) {
    progress.state = connector::Progress::State::kFailed;
    progress.status = failure_;
    return progress;
  }
  progress.wakeAt = wakeAt();
  if (!questions_.empty()) {
    progress.state = connector::Progress::State::kNeedsHost;
  } else if (operation_ != Operation::kNone) {
    progress.state = connector::Progress::State::kPending;
  }
  return progress;
}

template <typename Destination>
void StreamWriter<Destination>::work() {
  forgetHot();
  rowsSinceWork_ = 0;
  // Again while something arrives: what the pool's timers end comes back as an event at once.
  do {
    // Cleared before draining: an event that arrives in between sets it again.
    inbox_->signal.store(false, std::memory_order_release);
    if (inbox_->cancelled.load(std::memory_order_acquire)) {
      fail(absl::CancelledError("the writer was cancelled"));
    }
    if (inbox_->mailbox.drain(events_)) {
      for (Event& event : events_) dispatch(event);
      events_.clear();
      progressed_ = true;
    }
    dependencies_.pool->advance();
    advanceDestinations();
    if (failure_.ok()) relieve();
  } while (failure_.ok() && inbox_->signal.load(std::memory_order_acquire));
  startTimedFlush();
  if (board_->isWanted()) board_->publish(statistics());
}

template <typename Destination>
WriterStatistics StreamWriter<Destination>::statistics() const {
  constexpr std::array<const char*, 4> kOperations = {"none", "flush", "flush", "none"};
  WriterStatistics statistics;
  statistics.taken = dependencies_.clock->now();
  statistics.operation = closed_ ? "closed" : kOperations[static_cast<size_t>(operation_)];
  statistics.openQuestions = questions_.size();
  if (!failure_.ok()) statistics.failure = base::describe(failure_);
  // The busy ones are those that have had rows since they were last seen drained, or wait.
  const auto isBusy = [this](size_t index) { return inDirty_[index] || inAttention_[index]; };
  for (const bool busy : {true, false}) {
    for (size_t index = 0; index < destinations_.size(); ++index) {
      if (isBusy(index) != busy) continue;
      if (statistics.destinations.size() == WriterStatistics::kMostDestinations) {
        ++statistics.destinationsLeftOut;
      } else {
        statistics.destinations.push_back(destinations_[index]->statistics());
      }
    }
  }
  return statistics;
}

template <typename Destination>
void StreamWriter<Destination>::dispatch(Event& event) {
  if (auto* done = std::get_if<AppendDone>(&event)) {
    const connector::DestinationId id{
        static_cast<uint32_t>(static_cast<uint64_t>(done->token) >> 32)};
    at(id).onAppendDone(done->token, std::move(done->outcome));
  } else if (auto* stream = std::get_if<StreamInfo>(&event)) {
    at(stream->destination).onWriteStream(std::move(stream->info));
  } else if (auto* created = std::get_if<TableCreated>(&event)) {
    at(created->destination).onTableCreated(created->error);
  } else if (auto* read = std::get_if<TableRead>(&event)) {
    at(read->destination).onTableRead(read->error, read->table);
  } else if (auto* updated = std::get_if<SchemaUpdated>(&event)) {
    at(updated->destination).onSchemaUpdated(updated->error);
  } else if (auto* made = std::get_if<StreamCreated>(&event)) {
    onStreamCreated(*made);
  } else if (auto* news = std::get_if<SchemaNews>(&event)) {
    for (size_t index = 0; index < destinations_.size(); ++index) {
      if (destinations_[index]->table().defaultStream() != news->stream) continue;
      at(connector::DestinationId{static_cast<uint32_t>(index)}).onSchemaNews(news->schema);
    }
  }
  // Room: whoever waits for it is in attention_ and advanced next.
}

template <typename Destination>
void StreamWriter<Destination>::advanceDestinations() {
  for (size_t i = 0; i < attention_.size();) {
    const connector::DestinationId id = attention_[i];
    if (failure_.ok()) {
      const auto state = at(id).state();
      const base::MonotonicTime wakeAt = at(id).wakeAt();
      at(id).advance();
      progressed_ = progressed_ || at(id).state() != state || at(id).wakeAt() != wakeAt;
    }
    if (at(id).needsAttention()) {
      ++i;
      continue;
    }
    inAttention_[static_cast<size_t>(id)] = false;
    attention_[i] = attention_.back();
    attention_.pop_back();
  }
}

template <typename Destination>
void StreamWriter<Destination>::advanceOperation() {
  if (operation_ != Operation::kFlush) return;
  std::erase_if(dirty_, [&](connector::DestinationId id) {
    // Rows admitted before a repair paused the destination are still to be sent.
    if (at(id).hasBatch()) at(id).sendBatch();
    if (!at(id).drained()) return false;
    inDirty_[static_cast<size_t>(id)] = false;
    at(id).touch();
    nextIdleLook_ = std::min(
        nextIdleLook_, base::deadlineAfter(shared_.clock->now(),
                                           options_.defaultStreamOptions.destinationIdleTimeout));
    return true;
  });
  if (!dirty_.empty() || !questions_.empty()) return;
  // Only now, when nothing is outstanding, the handler is flushed (BASE-022).
  operation_ = Operation::kFlushHandler;
  addQuestion(connector::Question::Kind::kFlushHandler, connector::kNoDestination);
}

template <typename Destination>
base::MonotonicTime StreamWriter<Destination>::wakeAt() const {
  base::MonotonicTime time = dependencies_.pool->nextTimer();
  if (operation_ == Operation::kNone) time = std::min(time, nextFlush_);
  for (const connector::DestinationId id : attention_) {
    time = std::min(time, destinations_[static_cast<size_t>(id)]->wakeAt());
  }
  return time;
}

template <typename Destination>
connector::Question& StreamWriter<Destination>::addQuestion(connector::Question::Kind kind,
                                                            connector::DestinationId destination) {
  connector::Question question;
  question.id = connector::QuestionId{nextQuestion_++};
  question.kind = kind;
  question.destination = destination;
  questions_.push_back(std::move(question));
  return questions_.back();
}

template <typename Destination>
void StreamWriter<Destination>::answer(connector::QuestionId id, connector::Answer answer) {
  forgetHot();
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const connector::Question& one) { return one.id == id; });
  if (found == questions_.end()) return;
  const connector::Question question = std::move(*found);
  questions_.erase(found);
  if (!answer.status.ok()) {
    fail(withQuestion(question, answer.status));
    return;
  }
  if (question.kind == connector::Question::Kind::kFlushHandler) {
    onHandlerFlushed();
  } else if (question.destination == connector::kNoDestination || !failure_.ok()) {
    return;
  } else if (question.kind == connector::Question::Kind::kCreateOptions) {
    at(question.destination).onCreateOptions(answer.document);
  } else {
    at(question.destination).onAnswer();
  }
}

template <typename Destination>
absl::Status StreamWriter<Destination>::withQuestion(const connector::Question& question,
                                                     const absl::Status& refusal) const {
  const char* what = question.kind == connector::Question::Kind::kCreateOptions
                         ? "creation options of"
                     : question.kind == connector::Question::Kind::kNewSchema ? "new columns of"
                                                                              : nullptr;
  if (what == nullptr) return refusal;  // the handler's errors name their record's table
  return base::withContext(refusal,
                           fmt::format("{} {}", what, tableOf(question.destination).dotted()));
}

template <typename Destination>
void StreamWriter<Destination>::cancel() {
  inbox_->cancelled.store(true, std::memory_order_release);
  inbox_->signal.store(true, std::memory_order_release);
  inbox_->mailbox.wake();
}

template <typename Destination>
void StreamWriter<Destination>::waitForEvent(base::MonotonicTime until) {
  // Whatever was done since the last wait may have changed what the caller waits for, or until
  // when.
  if (std::exchange(progressed_, false)) return;
  inbox_->mailbox.waitUntil(until);
}

// --- DestinationHost

template <typename Destination>
void StreamWriter<Destination>::getWriteStream(connector::DestinationId destination,
                                               const std::string& stream, bool fullView) {
  dependencies_.admin->getWriteStream(
      stream, fullView, kRequestTimeout, /*failFast=*/false,
      [inbox = inbox_, destination](absl::StatusOr<WriteStreamInfo> info) {
        inbox->post(StreamInfo{destination, std::move(info)});
      });
}

template <typename Destination>
void StreamWriter<Destination>::createTable(connector::DestinationId destination,
                                            const TableName& table, const TableSchema& schema,
                                            const TableCreateOptions& options) {
  dependencies_.admin->createTable(table, schema, options,
                                   [inbox = inbox_, destination](AdminError error) {
                                     inbox->post(TableCreated{destination, std::move(error)});
                                   });
}

template <typename Destination>
void StreamWriter<Destination>::readTable(connector::DestinationId destination,
                                          const TableName& table) {
  dependencies_.admin->getTable(
      table, kRequestTimeout, [inbox = inbox_, destination](AdminError error, TableInfo info) {
        inbox->post(TableRead{destination, std::move(error), std::move(info)});
      });
}

template <typename Destination>
void StreamWriter<Destination>::updateSchema(connector::DestinationId destination,
                                             const TableName& table, const std::string& etag,
                                             const std::string& schemaJson) {
  dependencies_.admin->updateSchema(table, etag, schemaJson,
                                    [inbox = inbox_, destination](AdminError error) {
                                      inbox->post(SchemaUpdated{destination, std::move(error)});
                                    });
}

template <typename Destination>
void StreamWriter<Destination>::askAbout(connector::DestinationId destination,
                                         std::vector<connector::FailedRecord> failures) {
  sendErrors_->add(failures.size());
  at(destination).noteQuestion();
  addQuestion(connector::Question::Kind::kFailedRecords, destination).failures =
      std::move(failures);
}

template <typename Destination>
void StreamWriter<Destination>::ask(connector::DestinationId destination,
                                    connector::Question::Kind kind) {
  at(destination).noteQuestion();
  addQuestion(kind, destination);
}

template <typename Destination>
void StreamWriter<Destination>::fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

template <typename Destination>
void StreamWriter<Destination>::needsAttention(connector::DestinationId destination) {
  const auto index = static_cast<size_t>(destination);
  if (inAttention_[index]) return;
  inAttention_[index] = true;
  attention_.push_back(destination);
}

template <typename Destination>
void StreamWriter<Destination>::countFailedAppend(const absl::Status& status) {
  dependencies_.metrics
      ->counter(fmt::format("errorClass.{}.errors",
                            status.ok() ? "UNCLASSIFIED" : base::codeName(status.code())))
      .add();
}

}  // namespace penstock::bigquery
