#pragma once

#include <memory>
#include <span>
#include <vector>

#include "penstock/base/metrics.h"
#include "penstock/connector/destination_resolver.h"
#include "penstock/connector/writer_core.h"

/// The blocking face that C++ programs see: thin loops over the cores of writer_core.h.
namespace penstock::connector {

/// What a writer is told about where it runs.
struct WriterInit {
  int subtaskIndex = 0;
  int parallelism = 1;
  /// Where its metrics go; null = a group of its own.
  std::shared_ptr<base::MetricGroup> metrics;
};

/// Writes records to one sink. One thread at a time (the "task thread"), except cancel().
template <typename Record>
class SinkWriter {
 public:
  virtual ~SinkWriter() = default;
  /// Takes one record; waits where the service's limits say so. An error is final for the writer:
  /// everything not covered by the last successful flush must be written again by a new one.
  virtual absl::Status write(const Record& record, const WriteContext& context) = 0;
  /// Takes records that lie side by side, in order: what a call of write() for each would do, at
  /// less cost. `context` is that of each; its rowOrigin is the first record's, the next ones
  /// follow it.
  virtual absl::Status writeBatch(std::span<const Record> records, const WriteContext& context) {
    WriteContext each = context;
    for (const Record& record : records) {
      PENSTOCK_RETURN_IF_ERROR(write(record, each));
      each.rowOrigin = following(each.rowOrigin);
    }
    return absl::OkStatus();
  }
  /// Returns when everything written before is acknowledged, skipped or with the failure handler,
  /// whose own flush has then run (BASE-022). What a checkpoint calls.
  virtual absl::Status flush(bool endOfInput) = 0;
  virtual absl::StatusOr<std::vector<Committable>> prepareCommit() {
    return std::vector<Committable>();
  }
  virtual absl::StatusOr<std::vector<WriterState>> snapshotState(CheckpointId) {
    return std::vector<WriterState>();
  }
  /// Does not flush (BASE-024).
  virtual absl::Status close() = 0;
  /// Any thread: the call in progress, and every later one, ends promptly with CANCELLED.
  virtual void cancel() = 0;
};

/// Publishes what a completed checkpoint covers. One thread at a time, except cancel().
class Committer {
 public:
  virtual ~Committer() = default;
  /// Returns when all is published. Must accept what an earlier call has published already. An
  /// error is final: the job fails, and its restart commits again.
  virtual absl::Status commit(std::span<const Committable> committables) = 0;
  virtual absl::Status close() { return absl::OkStatus(); }
  /// Any thread: the call in progress, and every later one, ends promptly with CANCELLED.
  virtual void cancel() = 0;
};

/// Makes writers: one per subtask. Thread-safe.
template <typename Record>
class Sink {
 public:
  virtual ~Sink() = default;
  virtual absl::StatusOr<std::unique_ptr<SinkWriter<Record>>> createWriter(
      const WriterInit& init) const = 0;
  /// A sink without state (the default) starts afresh.
  virtual absl::StatusOr<std::unique_ptr<SinkWriter<Record>>> restoreWriter(
      const WriterInit& init, std::span<const WriterState>) const {
    return createWriter(init);
  }
  /// Null: nothing to commit.
  virtual absl::StatusOr<std::unique_ptr<Committer>> createCommitter() const {
    return std::unique_ptr<Committer>();
  }
};

}  // namespace penstock::connector
