#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/connector/writer_core.h"
#include "penstock/runtime/record_batch.h"

namespace penstock::runtime {

/// Where one subtask's records go: a serializer and a sink writer chained on the subtask's thread.
/// All calls come from that thread, except cancel(). The order is that of connector::WriterCore:
/// for a checkpoint flush, prepareCommit, snapshotState.
class SubtaskSink {
 public:
  virtual ~SubtaskSink() = default;

  /// Takes every record of the batch, waiting for room as needed; nothing of the batch may be used
  /// after the return. Records with a defect go to the failure handler. An error fails the job.
  [[nodiscard]] virtual absl::Status write(const RecordBatch& batch) = 0;

  /// Advances timers while the input has nothing to give. Returns when to be called again at the
  /// latest.
  [[nodiscard]] virtual absl::StatusOr<base::MonotonicTime> poll() { return base::kNever; }

  /// Returns when everything written is settled: acknowledged by the service or handed to the
  /// failure handler. `endOfInput`: no write follows.
  [[nodiscard]] virtual absl::Status flush(bool endOfInput) = 0;

  /// What a completed checkpoint publishes. Default: nothing.
  [[nodiscard]] virtual absl::StatusOr<std::vector<connector::Committable>> prepareCommit() {
    return std::vector<connector::Committable>();
  }
  /// What the writer needs to continue after a restore. Default: nothing.
  [[nodiscard]] virtual absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId) {
    return std::vector<connector::WriterState>();
  }

  /// Frees everything without flushing. Called exactly once, also after an error or cancel().
  [[nodiscard]] virtual absl::Status close() = 0;

  /// Any thread, any time, repeatedly: the call in progress and later ones end promptly with
  /// CANCELLED.
  virtual void cancel() = 0;
};

struct SubtaskContext {
  int subtaskIndex = 0;  ///< from 0
  int parallelism = 1;
  /// This subtask's share of the writer states of the checkpoint that is restored; empty on a fresh
  /// start.
  std::vector<connector::WriterState> restoredStates;
};

/// Makes the sink of one subtask, on that subtask's thread.
using SubtaskSinkFactory =
    std::function<absl::StatusOr<std::unique_ptr<SubtaskSink>>(const SubtaskContext&)>;

}  // namespace penstock::runtime
