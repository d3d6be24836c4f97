#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/bigquery/sink/buffered_stream_host.h"
#include "penstock/bigquery/sink/exactly_once_state.h"
#include "penstock/bigquery/sink/pending_rows.h"
#include "penstock/bigquery/sink/stream_appends.h"
#include "penstock/bigquery/sink/stream_creation.h"
#include "penstock/bigquery/sink/stream_recovery.h"
#include "penstock/bigquery/sink/table_columns.h"

namespace penstock::bigquery {

/// The state machine of one destination of the exactly-once writer: from rows to batches to appends
/// at offsets of one BUFFERED stream (BQW-100 to 103). No threads, no I/O, no waiting: the writer
/// brings events and time, actions go to the BufferedStreamHost and the pool.
///
///   kReadingColumns --columns--> kIdle          (only for a schema that is read from the table)
///   kIdle --first full batch--> kCreating --stream--> kOpen
///   kIdle, restored, --first full batch--> kProbing --it lands--> kOpen
///                                          kProbing --the stream is not as it was--> kCreating
///   kOpen --failure--> kRecovering --all landed--> kOpen
///   kOpen --other columns of the rows, and the table's may change--> kReconciling --> kOpen
///   kIdle --first full batch, and the table's modes may be relaxed--> kReconciling --> kIdle
///   kOpen, kIdle --long without a row, nothing to commit--> kIdle, without a stream
///
/// How a stream comes to be is StreamCreation's, what happens in kProbing and kRecovering
/// StreamRecovery's.
class BufferedStreamDestination {
 public:
  using Host = BufferedStreamHost;
  enum class State {
    kReadingColumns,
    kIdle,
    kCreating,
    kProbing,
    kOpen,
    kRecovering,
    kReconciling,
  };

  BufferedStreamDestination(BufferedStreamHost& host, connector::DestinationId id,
                            DestinationSetup setup)
      : context_(host, id, std::move(setup)), host_(host) {}

  /// Begins what can be begun before the first row.
  void start();
  /// Goes on with what a checkpoint says; before the first row.
  void restore(const BufferedStreamState& state);

  // Rows. The open batch is the writer's to fill.
  [[nodiscard]] bool accepts() const {
    return openQuestions_ == 0 && rows_.sealed().empty() && !columns_.isChanging() &&
           (state_ == State::kOpen || state_ == State::kIdle);
  }
  connector::RowBatch& batch() { return rows_.batch(); }
  [[nodiscard]] size_t unsentBytes() const { return rows_.unsentBytes(); }
  [[nodiscard]] bool hasBatch() const { return rows_.hasBatch(); }
  /// After a row was committed to batch(): sends what is due and judges the row itself.
  void onRowCommitted();
  /// While batch() is within so many framed bytes and kMaxRowsPerAppend rows, and nothing but rows
  /// happens, onRowCommitted has nothing to do and admission nothing to refuse. 0 = ask every time.
  [[nodiscard]] size_t batchBytesToLookAgain() const {
    return accepts() && rows_.hasBatch() && context_.target() ? rows_.batchBytesToLookAgain() : 0;
  }
  void onRowDiscarded() { rows_.onRowDiscarded(); }
  /// Seals and sends what is there.
  void sendBatch();
  /// Nothing buffered, nothing unanswered, no recovery.
  [[nodiscard]] bool drained() const;
  void prefetch() const { __builtin_prefetch(&state_); }

  // Events.
  void onAppendDone(AppendToken token, AppendOutcome outcome);
  void onSchemaNews(const std::string& schema);
  void onWriteStream(absl::StatusOr<WriteStreamInfo> info);
  void onStreamCreated(const StreamError& error, CreatedStream stream);
  void onTableCreated(const AdminError& error);
  void onTableRead(const AdminError& error, const TableInfo& table);
  void onSchemaUpdated(const AdminError& error);
  /// The host has answered a question, with OK.
  void onAnswer();
  void onCreateOptions(std::string_view document);
  /// Rows have other columns from the next one on (BQW-163).
  void changeSchema(std::optional<TableSchema> schema, std::string descriptor);
  /// Room in the pool, or time.
  void advance();

  // Checkpoints.
  /// Rows that have landed in the stream, from its start: what a checkpoint may speak of.
  [[nodiscard]] int64_t landed() const;
  /// What is to be committed, if anything (BQW-109); counts as prepared from here on.
  [[nodiscard]] std::optional<StreamCommittable> prepare(int32_t subtask);
  /// What a checkpoint says of this destination (BQW-110); none without a stream.
  [[nodiscard]] std::optional<BufferedStreamState> snapshot(connector::CheckpointId checkpoint);
  /// Streams that were left with rows that nothing names yet, for the writer to keep.
  [[nodiscard]] std::vector<BufferedStreamState> takeAbandoned() {
    return std::exchange(abandoned_, {});
  }

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool hasStream() const { return !stream_.empty(); }
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
  /// Forgets a stream that had no row for longer than `timeout` and that the last checkpoint speaks
  /// of as it is (BQW-090, BQW-091); the stream itself stays. When to look again; kNever if there
  /// is nothing to forget.
  base::MonotonicTime closeIfIdle(base::Duration timeout);
  /// Lets go of everything; nothing is sent (BASE-024).
  void close();

 private:
  [[nodiscard]] bool prepareTarget();
  void send();
  void create();
  void probe();
  void openStream();
  void leaveStream();
  void beginRecovery();
  /// After each event of the recovery: goes on once it is done.
  void resumeIfRecovered();
  void abandon();
  void resumeIfCreated();
  void reconcile();
  void resumeIfReconciled();
  void checkPatience();
  /// Moves a change of the columns on, and carries it out once everything has landed.
  void advanceColumns();
  [[nodiscard]] const DestinationHost::Shared& shared() const { return context_.shared(); }

  DestinationContext context_;
  BufferedStreamHost& host_;
  State state_ = State::kIdle;
  PendingRows rows_{context_};
  TableColumns columns_{context_};
  int openQuestions_ = 0;

  std::string stream_;            // empty = none
  std::string location_;          // of the stream; empty = unknown
  int64_t nextOffset_ = 0;        // of the next row that is handed off
  bool mustProbe_ = false;        // restored, and nothing was appended to it since
  bool reconcilesFirst_ = false;  // the table is brought in line before the next append
  StreamAppends appends_{context_};
  std::unique_ptr<StreamCreation> creation_;            // in kCreating
  std::unique_ptr<StreamRecovery> recovery_;            // in kProbing and kRecovering
  std::optional<SchemaReconciliation> reconciliation_;  // in kReconciling
  std::deque<StreamAppend> unlanded_;  // sent to a stream that was abandoned; they go first

  int64_t prepared_ = 0;                    // rows that a committable has named
  int64_t covered_ = 0;                     // of them: those that a checkpoint after it has covered
  int64_t snapshot_ = -1;                   // nextOffset of the last checkpoint
  connector::CheckpointId checkpoint_ = 0;  // that the stream was restored from
  std::vector<BufferedStreamState> abandoned_;
  base::MonotonicTime lastAccess_{};
};

}  // namespace penstock::bigquery
