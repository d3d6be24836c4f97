#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "penstock/base/mailbox.h"
#include "penstock/base/mutex.h"
#include "penstock/runtime/checkpoint_store.h"
#include "penstock/runtime/error_origin.h"
#include "penstock/runtime/executor/split_queue.h"
#include "penstock/runtime/source.h"
#include "penstock/runtime/subtask_sink.h"
#include "penstock/runtime/wakeup.h"

namespace penstock::runtime {

/// What the coordinator asks of a subtask: flush the sink, then say where everything stands.
struct CheckpointRequest {
  connector::CheckpointId number = 0;
  bool endOfInput = false;
  bool last = false;  ///< the subtask ends after it
};

/// A subtask's part of a checkpoint.
struct SubtaskSnapshot {
  struct Split {
    size_t index;
    std::string position;
    bool finished;
  };
  connector::CheckpointId checkpoint = 0;
  std::vector<Split> splits;  ///< those it read from since its part of the checkpoint before
  uint64_t records = 0;       ///< since then
  uint64_t bytes = 0;
  std::vector<connector::WriterState> writerStates;
  std::vector<connector::Committable> committables;
};

/// What a subtask tells the coordinator.
struct SubtaskIdle {};  ///< no split is left to take; it stays for checkpoints. Once at most
struct SubtaskEnded {   ///< its thread is done; OK after the last checkpoint
  absl::Status status;
  ErrorOrigin origin = ErrorOrigin::kNone;
};
struct SubtaskEvent {
  int subtask = 0;
  std::variant<SubtaskIdle, SubtaskSnapshot, SubtaskEnded> what;
};

/// What all subtasks of a job share.
struct JobContext {
  Source* source = nullptr;
  const SubtaskSinkFactory* sinkFactory = nullptr;
  const std::vector<SplitProgress>* splits = nullptr;  ///< as the job found them; does not change
  SplitQueue* queue = nullptr;
  base::Mailbox<SubtaskEvent>* events = nullptr;
};

/// One thread that reads splits and writes their records to a sink of its own. Between two batches
/// it answers the coordinator's requests. The public functions are the coordinator's, except where
/// they say "any thread".
class Subtask {
 public:
  Subtask(const JobContext& job, SubtaskContext context);
  ~Subtask();
  Subtask(const Subtask&) = delete;
  Subtask& operator=(const Subtask&) = delete;

  void start();
  void join();
  void request(const CheckpointRequest& request);
  /// Any thread: ends the subtask promptly, without flushing.
  void cancel();

  /// Any thread.
  [[nodiscard]] uint64_t recordsRead() const {
    return recordsRead_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t bytesRead() const { return bytesRead_.load(std::memory_order_relaxed); }

 private:
  // All of these run on the subtask's thread.
  void run();
  absl::Status work();
  absl::Status openSink();
  absl::Status closeSink();
  absl::Status readSome();
  absl::Status writeBatch();
  absl::StatusOr<bool> openNextSplit();
  absl::Status waitIdle();
  absl::Status answer(const CheckpointRequest& request);
  std::optional<CheckpointRequest> takeRequest();
  void post(std::variant<SubtaskIdle, SubtaskSnapshot, SubtaskEnded> what);

  const JobContext job_;
  SubtaskContext context_;
  Wakeup wakeup_;
  std::thread thread_;

  std::atomic<bool> cancelled_{false};
  base::Mutex mutex_;
  std::optional<CheckpointRequest> request_ PENSTOCK_GUARDED_BY(mutex_);
  std::shared_ptr<SubtaskSink> sharedSink_ PENSTOCK_GUARDED_BY(mutex_);  // for cancel()

  // Of the subtask's thread:
  std::shared_ptr<SubtaskSink> sink_;
  std::unique_ptr<SplitReader> reader_;
  size_t split_ = 0;  // that reader_ reads
  RecordBatch batch_;
  bool idle_ = false;
  base::MonotonicTime nextPoll_{};
  SubtaskSnapshot unreported_;
  ErrorOrigin turn_ = ErrorOrigin::kJob;  // who is asked something: where an error comes from

  std::atomic<uint64_t> recordsRead_{0};
  std::atomic<uint64_t> bytesRead_{0};
};

}  // namespace penstock::runtime
