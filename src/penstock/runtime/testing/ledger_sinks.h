#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/runtime/local_executor.h"

/// Sinks that note what reaches them, for tests of the executor.
namespace penstock::runtime {

/// What all sinks of a test wrote, and what they should do besides. Thread-safe.
class Ledger {
 public:
  /// A record counts only once it is flushed.
  void settle(const std::vector<std::string>& records) {
    base::MutexLock lock(mutex_);
    for (const std::string& record : records) ++settled_[record];
    changed_.notifyAll();
  }
  void note(const std::string& event) {
    base::MutexLock lock(mutex_);
    ++events_[event];
    changed_.notifyAll();
  }
  int count(const std::string& event) {
    base::MutexLock lock(mutex_);
    return events_[event];
  }
  /// False when it did not happen within ten seconds.
  bool waitFor(const std::string& event, int times = 1) {
    base::MutexLock lock(mutex_);
    const auto deadline = base::systemClock().now() + std::chrono::seconds(10);
    while (events_[event] < times && base::systemClock().now() < deadline) {
      changed_.waitUntil(mutex_, deadline);
    }
    return events_[event] >= times;
  }
  std::map<std::string, int> settled() {
    base::MutexLock lock(mutex_);
    return settled_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, int> settled_;
  std::map<std::string, int> events_;
};

/// Holds records back until it is flushed, as a real sink does.
class BufferingSink : public SubtaskSink {
 public:
  BufferingSink(Ledger& ledger, const SubtaskContext& context)
      : ledger_(ledger), context_(context) {}

  absl::Status write(const RecordBatch& batch) override {
    ledger_.note("write");
    buffered_.insert(buffered_.end(), batch.records.begin(), batch.records.end());
    return absl::OkStatus();
  }
  absl::StatusOr<base::MonotonicTime> poll() override {
    ledger_.note("poll");
    return base::kNever;
  }
  absl::Status flush(bool endOfInput) override {
    ledger_.note(endOfInput ? "flush at end" : "flush");
    ledger_.settle(std::exchange(buffered_, {}));
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId) override {
    if (!buffered_.empty()) return absl::InternalError("snapshot before flush");
    return std::vector<connector::WriterState>{{"state " + std::to_string(context_.subtaskIndex)}};
  }
  absl::Status close() override {
    ledger_.note("close");
    return absl::OkStatus();
  }
  void cancel() override { ledger_.note("cancel"); }

 protected:
  Ledger& ledger_;
  SubtaskContext context_;
  std::vector<std::string> buffered_;
};

/// One whose write or flush waits until it is cancelled.
class HangingSink final : public BufferingSink {
 public:
  using BufferingSink::BufferingSink;
  absl::Status write(const RecordBatch&) override { return hang("hanging write"); }
  void cancel() override {
    base::MutexLock lock(mutex_);
    cancelled_ = true;
    condition_.notifyAll();
  }

 private:
  absl::Status hang(const std::string& where) {
    ledger_.note(where);
    base::MutexLock lock(mutex_);
    while (!cancelled_) condition_.wait(mutex_);
    return absl::CancelledError("cancelled");
  }
  base::Mutex mutex_;
  base::CondVar condition_;
  bool cancelled_ = false;
};

template <typename Sink>
SubtaskSinkFactory factoryOf(Ledger& ledger) {
  return [&ledger](const SubtaskContext& context) -> absl::StatusOr<std::unique_ptr<SubtaskSink>> {
    ledger.note("open");
    for (const connector::WriterState& state : context.restoredStates) {
      ledger.note("restored " + state.bytes);
    }
    return std::make_unique<Sink>(ledger, context);
  };
}

inline LocalExecutorOptions optionsFor(int parallelism, const std::string& directory = "") {
  LocalExecutorOptions options;
  options.parallelism = parallelism;
  options.checkpointDirectory = directory;
  options.checkpointInterval = std::chrono::milliseconds(1);
  options.jobIdentity = "a job";
  return options;
}

inline std::map<std::string, int> onceEach(size_t splits, size_t records) {
  std::map<std::string, int> expected;
  for (size_t split = 0; split < splits; ++split) {
    for (size_t record = 0; record < records; ++record) {
      expected[std::to_string(split) + ":" + std::to_string(record)] = 1;
    }
  }
  return expected;
}

inline std::string errorOf(const absl::StatusOr<ExecutionResult>& result) {
  return std::string(base::messageOf(result.status()));
}

}  // namespace penstock::runtime
