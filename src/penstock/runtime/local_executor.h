#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/connector/sink.h"
#include "penstock/runtime/error_origin.h"
#include "penstock/runtime/source.h"
#include "penstock/runtime/subtask_sink.h"

namespace penstock::runtime {

struct LocalExecutorOptions {
  /// Subtasks, each one thread that reads, serializes and writes. 1 to 256.
  int parallelism = 1;
  /// Where checkpoints are kept; made if missing, locked against other processes while the job
  /// runs. Empty: no checkpoints, a job that ends early starts over.
  std::string checkpointDirectory;
  /// From the end of one checkpoint to the start of the next; at least 1 ms. A checkpoint flushes
  /// the sink.
  base::Duration checkpointInterval = std::chrono::seconds(10);
  /// Checkpoints kept in the directory; at least 1.
  int checkpointsKept = 3;
  /// What the job does apart from its input (the target table, say), in one line that an error can
  /// show. A checkpoint of a job with another identity is refused.
  std::string jobIdentity;
  /// Publishes committables after each checkpoint, on the thread of run(); null: the sink has none.
  /// Outlives the executor, which does not close it.
  connector::Committer* committer = nullptr;
};

/// How far a job is. Records and bytes are of this process's run, whether or not a checkpoint
/// covers them.
struct ExecutionStatistics {
  uint64_t recordsRead = 0;  ///< handed to the sinks, those with a defect included
  uint64_t bytesRead = 0;    ///< of input, uncompressed
  uint64_t checkpointsCompleted = 0;
  base::Duration lastCheckpointDuration{};
  /// Of earlier runs of the same job, as the restored checkpoint covers them.
  uint64_t recordsRestored = 0;
  uint64_t bytesRestored = 0;
};

struct ExecutionResult {
  enum class End {
    kFinished,  ///< all input is read, flushed and, with a directory, covered by a checkpoint
    kStopped,   ///< requestStop(): what was read is flushed and covered; run again to continue
    kAlreadyFinished,  ///< the directory's checkpoint covers all input: nothing was read
  };
  End end = End::kFinished;
  ExecutionStatistics statistics;
  int64_t restoredCheckpoint = 0;  ///< the number of the checkpoint continued from; 0 = none
  int64_t lastCheckpoint = 0;  ///< the number of the newest checkpoint in the directory; 0 = none
};

/// Runs one job, source to sink, on threads of this process. At-least-once: after a crash or a stop
/// another run with the same directory reads again every record that the newest checkpoint does not
/// cover.
///
/// An executor runs once. `run` blocks; the other functions may be called from any thread
/// meanwhile.
class LocalExecutor {
 public:
  /// `source` outlives the executor.
  LocalExecutor(Source& source, SubtaskSinkFactory sinkFactory, LocalExecutorOptions options);
  ~LocalExecutor();
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  /// Runs the job to its end. The error is the first one that a subtask, the source or the
  /// checkpoint store reported; CANCELLED after cancel().
  [[nodiscard]] absl::StatusOr<ExecutionResult> run();

  /// Graceful: subtasks finish the batch at hand and flush, a last checkpoint is taken, run()
  /// returns kStopped. Does nothing when all input is read.
  void requestStop();
  /// Prompt: sinks are cancelled, nothing more is flushed, run() returns CANCELLED.
  void cancel();

  [[nodiscard]] ExecutionStatistics statistics() const;
  /// Once run() has returned: what its error is about.
  [[nodiscard]] ErrorOrigin errorOrigin() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::runtime
