#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "penstock/base/mailbox.h"
#include "penstock/bigquery/sink/buffer_account.h"
#include "penstock/bigquery/sink/storage_writer.h"
#include "penstock/bigquery/sink/stream_admin.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// What a writer is made with, besides its options.
struct WriterDependencies {
  std::shared_ptr<AppendPool> pool;
  std::shared_ptr<TableAdmin> admin;
  base::Clock* clock = nullptr;  ///< outlives the writer
  std::unique_ptr<base::Random> random;
  std::shared_ptr<base::MetricGroup> metrics;
  bool emulator = false;  ///< an emulator endpoint is configured
};

/// What the writers over the Storage Write API have in common, whatever streams their destinations
/// append to: rows and their admission, questions, the flush, timers and statistics. A core:
/// nothing here waits, and it has no thread; see connector::WriterCore for the rules of calling it.
///
/// `Destination` is the state machine of one table; what it has to offer is what
/// BufferedStreamDestination does. The definitions are in stream_writer_definitions.h, for the .cc
/// file of the writer that makes one of this.
template <typename Destination>
class StreamWriter : public StorageWriter, protected Destination::Host {
 public:
  ~StreamWriter() override;

  // StorageWriter
  absl::StatusOr<connector::DestinationId> registerDestination(DestinationSetup setup) override;
  [[nodiscard]] const TableSchema* schemaOf(connector::DestinationId destination) const override;
  [[nodiscard]] const TableName& tableOf(connector::DestinationId destination) const override;
  [[nodiscard]] std::shared_ptr<StatisticsBoard> statisticsBoard() const override { return board_; }
  void changeSchema(connector::DestinationId destination, std::optional<TableSchema> schema,
                    std::string descriptor) override;
  size_t takeRows(connector::DestinationId destination, std::span<const std::string_view> rows,
                  connector::RowOrigin first) override;
  using StorageWriter::failRow;
  void failRow(connector::DestinationId destination, connector::FailedRecord failure) override;

  // connector::WriterCore
  void discardRow() override;
  void beginFlush(bool endOfInput) override;
  void beginPrepareCommit() override {}  // nothing to commit, unless a writer says so
  std::vector<connector::Committable> takeCommittables() override { return {}; }
  std::vector<connector::WriterState> snapshotState(connector::CheckpointId) override { return {}; }
  void beginClose() override;
  connector::Progress poll() override;
  std::span<const connector::Question> questions() override { return questions_; }
  void answer(connector::QuestionId question, connector::Answer answer) override;
  void cancel() override;
  void waitForEvent(base::MonotonicTime until) override;

 protected:
  struct AppendDone {
    AppendToken token;
    AppendOutcome outcome;
  };
  struct Room {};
  struct StreamInfo {
    connector::DestinationId destination;
    absl::StatusOr<WriteStreamInfo> info;
  };
  struct TableCreated {
    connector::DestinationId destination;
    AdminError error;
  };
  struct TableRead {
    connector::DestinationId destination;
    AdminError error;
    TableInfo table;
  };
  struct SchemaUpdated {
    connector::DestinationId destination;
    AdminError error;
  };
  struct SchemaNews {
    std::string stream;
    std::string schema;
  };
  struct StreamCreated {
    connector::DestinationId destination;
    StreamError error;
    CreatedStream stream;
  };
  using Event = std::variant<AppendDone, Room, StreamInfo, TableCreated, TableRead, SchemaUpdated,
                             SchemaNews, StreamCreated>;

  /// Where events arrive, on any thread; outlives the writer as long as someone may still post.
  class Inbox final : public AppendPoolClient {
   public:
    void onAppendDone(AppendToken token, AppendOutcome outcome) override {
      post(AppendDone{token, std::move(outcome)});
    }
    void onRoom() override { post(Room{}); }
    void onSchemaNews(const std::string& stream, const std::string& schema) override {
      post(SchemaNews{stream, schema});
    }
    void post(Event event) {
      mailbox.post(std::move(event));
      signal.store(true, std::memory_order_release);
    }

    base::Mailbox<Event> mailbox;
    std::atomic<bool> signal{false};  // something has arrived: what the hot path looks at
    std::atomic<bool> cancelled{false};
  };

  static void prefetchForWriting(const void* what, size_t lines) {
    constexpr size_t kCacheLine = 64;
    for (size_t line = 0; line < lines; ++line) {
      __builtin_prefetch(static_cast<const char*>(what) + line * kCacheLine, 1);
    }
  }

  /// What of a destination its next row touches, in one place: with thousands of them a row waits
  /// for memory, and the destination itself lies in several.
  struct OpenBatch {
    connector::RowBatch* batch = nullptr;  // never looked into while maxFramedBytes is 0
    const char* end = nullptr;             // where the next row goes, for prefetch() alone
    // While it is not 0, the destination takes rows and `batch` is the one they go to; nothing
    // needs to be asked about a row until the batch holds more than this.
    size_t maxFramedBytes = 0;
    uint32_t rowLines = 0;  // cache lines that the last row took, for prefetch() alone
  };
  static constexpr size_t kMostRowLines = 24;  // to prefetch: a row is not long on its way

  /// A request about a table or a stream is tried for this long before its schedule counts it as
  /// failed.
  static constexpr base::Duration kRequestTimeout = std::chrono::seconds(60);

  enum class Operation { kNone, kFlush, kFlushHandler, kClose };

  StreamWriter(const SinkOptions& options, WriterDependencies dependencies)
      : StreamWriter(options, std::move(dependencies), std::make_shared<Inbox>()) {}

  StreamWriter(const SinkOptions& options, WriterDependencies dependencies,
               std::shared_ptr<Inbox> inbox);

  // DestinationHost
  void getWriteStream(connector::DestinationId destination, const std::string& stream,
                      bool fullView) override;
  void createTable(connector::DestinationId destination, const TableName& table,
                   const TableSchema& schema, const TableCreateOptions& options) override;
  void readTable(connector::DestinationId destination, const TableName& table) override;
  void updateSchema(connector::DestinationId destination, const TableName& table,
                    const std::string& etag, const std::string& schemaJson) override;
  void askAbout(connector::DestinationId destination,
                std::vector<connector::FailedRecord> failures) override;
  void ask(connector::DestinationId destination, connector::Question::Kind kind) override;
  void fail(absl::Status status) override;
  bool failed() const override { return !failure_.ok(); }
  void needsAttention(connector::DestinationId destination) override;
  void countFailedAppend(const absl::Status& status) override;
  const DestinationHost::Shared& shared() const override { return shared_; }

  /// A destination for anything but its next row, which may change what openBatches_ takes for
  /// granted.
  Destination& at(connector::DestinationId id) {
    const auto index = static_cast<size_t>(id);
    openBatches_[index].maxFramedBytes = 0;
    return *destinations_[index];
  }
  // StorageWriter
  connector::Admission admitSlowly(connector::DestinationId destination) override;
  connector::RowBatch& batchOf(connector::DestinationId destination) override {
    const OpenBatch& open = openBatches_[static_cast<size_t>(destination)];
    return open.maxFramedBytes != 0 ? *open.batch : at(destination).batch();
  }
  void afterCommit() override;
  void prefetchCold(connector::DestinationId destination) const override {
    const auto index = static_cast<size_t>(destination);
    const OpenBatch& open = openBatches_[index];
    if (open.maxFramedBytes == 0) destinations_[index]->prefetch();
    account_.prefetch(destination);
    prefetchForWriting(open.batch, 3);
    prefetchForWriting(open.end, open.rowLines);
  }

  /// Whatever is not the next row of the same destination may change what hot_ takes for granted.
  void forgetHot() {
    if (hot_.batch != nullptr) account_.setUnsent(hot_.destination, hot_.batch->framedBytes());
    hot_ = {};
  }
  /// The same of all destinations at once.
  void forgetOpenBatches() {
    forgetHot();
    for (OpenBatch& open : openBatches_) open.maxFramedBytes = 0;
  }
  /// After a row that its destination has to be told of.
  void askAboutBatch(OpenBatch& open);
  /// Sends the largest batches while the process holds too much (BQW-033).
  void relieve();
  [[nodiscard]] bool mustWaitForBuffers();
  void work();
  void dispatch(Event& event);
  void advanceDestinations();
  [[nodiscard]] WriterStatistics statistics() const;
  void advanceOperation();
  void startTimedFlush();
  void flushAll();
  void onHandlerFlushed();
  /// After a flush, once `nextIdleLook_` has come.
  virtual void closeIdleDestinations();
  /// Only of writers that ask for streams.
  virtual void onStreamCreated(StreamCreated& /*event*/) {}
  [[nodiscard]] base::MonotonicTime wakeAt() const;
  /// Why the host refused a question, and about which table.
  [[nodiscard]] absl::Status withQuestion(const connector::Question& question,
                                          const absl::Status& refusal) const;
  connector::Question& addQuestion(connector::Question::Kind kind,
                                   connector::DestinationId destination);

  const std::shared_ptr<Inbox> inbox_;
  const SinkOptions options_;
  WriterDependencies dependencies_;
  DestinationHost::Shared shared_;
  std::shared_ptr<connector::RowBatchPool> batches_;
  std::shared_ptr<StatisticsBoard> board_;
  BufferAccount account_;
  bool askedForRelief_ = false;  // since rows last waited
  base::Counter* recordsSkipped_;
  base::Counter* sendErrors_;

  std::vector<std::unique_ptr<Destination>> destinations_;
  std::vector<OpenBatch> openBatches_;  // by destination
  std::unordered_map<TableName, connector::DestinationId> ids_;
  std::vector<connector::DestinationId> attention_;  // to be advanced by poll
  std::vector<bool> inAttention_;
  std::vector<connector::DestinationId> dirty_;  // has had rows since it was last seen drained
  std::vector<bool> inDirty_;

  Operation operation_ = Operation::kNone;
  bool finalFlush_ = false;                          // the open flush is at the end of the input
  bool flushAgain_ = false;                          // one was begun while the handler's was open
  base::MonotonicTime nextFlush_ = base::kNever;     // by flushInterval (BQW-081)
  base::MonotonicTime nextIdleLook_ = base::kNever;  // no destination is idle for too long before
  bool closed_ = false;
  std::vector<connector::Question> questions_;
  uint64_t nextQuestion_ = 1;
  bool progressed_ = false;    // something was done since the last waitForEvent
  std::vector<Event> events_;  // reused
};

}  // namespace penstock::bigquery
