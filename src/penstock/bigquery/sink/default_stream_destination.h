#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "penstock/bigquery/sink/destination_appender.h"
#include "penstock/bigquery/sink/destination_repair.h"
#include "penstock/bigquery/sink/pending_rows.h"
#include "penstock/bigquery/sink/table_columns.h"

namespace penstock::bigquery {

/// The state machine of one destination of the default-stream writer: from rows to batches to
/// appends. No threads, no I/O, no waiting: the writer brings events and time, actions go to the
/// DestinationHost and the pool.
///
///   kFetchingSchema --schema--> kIdle            (only for a schema read from the table)
///   kIdle --first rows--> kOpening --opened--> kOpen
///   kIdle --first rows, a table to bring in line first--> kRepairing
///   kOpening, kOpen --failure--> kRepairing --all landed--> kOpen
///   kOpen --long without a row--> kIdle
///
/// Other columns (BQW-163, BQW-164) wait until everything laid out for the old ones has landed; no
/// row is taken meanwhile, and the destination opens anew with them, after the table has been
/// brought in line if that is allowed.
///
/// How a place in the pool is opened is DestinationAppender's, what happens in kRepairing
/// DestinationRepair's.
class DefaultStreamDestination {
 public:
  using Host = DestinationHost;
  enum class State { kFetchingSchema, kIdle, kOpening, kOpen, kRepairing };

  DefaultStreamDestination(DestinationHost& host, connector::DestinationId id,
                           DestinationSetup setup)
      : context_(host, id, std::move(setup)), appender_(context_) {}

  /// Begins what can be begun before the first row.
  void start();

  // Rows. The open batch is the writer's to fill.
  [[nodiscard]] bool accepts() const {
    return openQuestions_ == 0 && rows_.sealed().empty() && !columns_.isChanging() &&
           (state_ == State::kOpen || state_ == State::kOpening || state_ == State::kIdle);
  }
  connector::RowBatch& batch() { return rows_.batch(); }
  [[nodiscard]] size_t unsentBytes() const { return rows_.unsentBytes(); }
  [[nodiscard]] bool hasBatch() const { return rows_.hasBatch(); }
  /// After a row was committed to batch(): sends what is due (BQW-030, BQW-032) and judges the row
  /// itself (BQW-023).
  void onRowCommitted();
  /// While batch() is within so many framed bytes and kMaxRowsPerAppend rows, and nothing but rows
  /// happens, onRowCommitted has nothing to do and admission nothing to refuse. 0 = ask every time.
  [[nodiscard]] size_t batchBytesToLookAgain() const {
    return state_ == State::kOpen && accepts() && rows_.hasBatch() ? rows_.batchBytesToLookAgain()
                                                                   : 0;
  }
  void onRowDiscarded() { rows_.onRowDiscarded(); }
  /// Seals and sends what is there.
  void sendBatch();
  /// Nothing buffered, nothing unanswered, no repair.
  [[nodiscard]] bool drained() const;

  /// Has the state that a row needs brought into the cache.
  void prefetch() const {
    constexpr size_t kCacheLine = 64;
    const char* const state = reinterpret_cast<const char*>(&state_);
    for (size_t line = 0; line < 3; ++line) __builtin_prefetch(state + line * kCacheLine);
  }

  // Events.
  void onAppendDone(AppendToken token, AppendOutcome outcome);
  /// The service has told another writer of the table's new columns.
  void onSchemaNews(const std::string& schema);
  void onWriteStream(absl::StatusOr<WriteStreamInfo> info);
  void onTableCreated(const AdminError& error);
  void onTableRead(const AdminError& error, const TableInfo& table);
  void onSchemaUpdated(const AdminError& error);
  /// The host has answered a question, with OK.
  void onAnswer();
  /// The host has said what the table is created with.
  void onCreateOptions(std::string_view document);
  /// Rows have other columns from the next one on (BQW-163). An empty descriptor follows from the
  /// schema.
  void changeSchema(std::optional<TableSchema> schema, std::string descriptor);
  /// Room in the pool, or time.
  void advance();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] DestinationStatistics statistics() const;
  [[nodiscard]] const TableName& table() const { return context_.table(); }
  /// The columns, once known.
  [[nodiscard]] const TableSchema* schema() const {
    const auto& schema = context_.setup().schema;
    return schema.has_value() ? &*schema : nullptr;
  }
  [[nodiscard]] bool needsAttention() const { return wakeAt() != base::kNever; }
  [[nodiscard]] base::MonotonicTime wakeAt() const;
  void noteQuestion() { ++openQuestions_; }
  void countErrors(size_t records) { context_.countErrors(records); }
  /// Everything written so far has been seen through: what idling counts from.
  void touch() { lastAccess_ = context_.now(); }
  /// Lets go of the place in the pool if there was nothing to do for longer than `timeout`
  /// (BQW-090). When to look again; kNever if closed.
  base::MonotonicTime closeIfIdle(base::Duration timeout);
  /// Lets go of everything; nothing is sent (BASE-024).
  void close();

 private:
  [[nodiscard]] bool prepareTarget();
  void open();
  void send();
  void openFailed(const absl::Status& status);
  void beginRepair(const absl::Status& status, Verdict verdict);
  void beginRepair(std::unique_ptr<DestinationRepair> repair);
  /// After each event of the repair: goes on once it is done.
  void resumeIfRepaired();
  void checkPatience();
  /// Moves a change of the columns on, and carries it out once everything has landed.
  void advanceColumns();
  [[nodiscard]] const DestinationHost::Shared& shared() const { return context_.shared(); }

  DestinationContext context_;
  State state_ = State::kIdle;
  int openQuestions_ = 0;
  PendingRows rows_{context_};
  TableColumns columns_{context_};
  DestinationAppender appender_;
  std::unique_ptr<DestinationRepair> repair_;  // in kRepairing
  absl::Status lastFailure_;                   // what the newest repair began with
  bool reconcilesFirst_ = false;               // the table is brought in line when it is opened
  base::MonotonicTime lastAccess_{};
};

}  // namespace penstock::bigquery
