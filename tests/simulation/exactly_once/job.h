#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exactly_once/ledger.h"
#include "exactly_once/plan.h"
#include "exactly_once/subtask.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/stream_committer.h"
#include "process_watch.h"
#include "simulated_service.h"

namespace penstock::simulation {

/// How often what happened.
struct JobCounts {
  int crashes = 0;
  int failures = 0;     ///< restarts after a writer's or committer's own failure
  int checkpoints = 0;  ///< completed
  int givenUp = 0;      ///< checkpoints
  int rescaled = 0;     ///< restarts with another parallelism
  int restores = 0;     ///< with states
  int recommits = 0;    ///< restores with committables
  uint64_t retries = 0;
};

/// A checkpoint's content: what survives a crash.
struct StoredCheckpoint {
  connector::CheckpointId number = 0;
  Positions positions;
  std::vector<connector::WriterState> states;
  std::vector<connector::Committable> committables;
  bool endOfInput = false;
  bool allPrepared = false;    // for the ledger
  size_t committablesEnd = 0;  // of all that were taken in this run
};

/// A checkpoint that is being made.
struct CheckpointUnderWay {
  StoredCheckpoint content;
  std::vector<bool> answered;  // by subtask
  bool givenUp = false;
  bool storing = false;
};

/// A job with checkpoints, as decision 0017 describes its host: subtasks, a coordinator that stores
/// checkpoints, and a committer. Everything in memory goes when it crashes; what has been stored
/// stays, and a restart goes on from there with another parallelism.
class Job {
 public:
  Job(World& world, SimulatedService& service, const Plan& plan, Ledger& ledger,
      std::vector<std::string>& violations);
  ~Job();

  /// One turn of everything; returns when to come back at the latest.
  base::MonotonicTime run();
  /// All input is covered by a checkpoint, and that is committed.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Ends in good order, and checks that nothing is left.
  void close();

  [[nodiscard]] const JobCounts& counts() const { return counts_; }
  [[nodiscard]] bool restarted() const { return counts_.crashes + counts_.failures > 0; }

 private:
  void start();
  void startWriters();
  void startCommitter();
  void stop();
  void crash();
  void failOver(const absl::Status& why);
  void restartLater();
  /// Counts down to the next crash.
  bool crashesNow();

  void runSubtasks(base::MonotonicTime& next);
  void coordinate(base::MonotonicTime& next);
  void beginCheckpoint(bool endOfInput);
  [[nodiscard]] std::vector<Step> drawSteps(bool endOfInput, bool givenUp);
  void collect(size_t subtask, SubtaskPart part);
  void onAllAnswered();
  void store();
  void runCommitter(base::MonotonicTime& next);
  void commit();
  void onCommitted();
  [[nodiscard]] bool allIdle() const;

  World& world_;
  SimulatedService& service_;
  const Plan& plan_;
  Ledger& ledger_;
  std::vector<std::string>& violations_;
  JobCounts counts_;
  bool finished_ = false;

  // Durable.
  StoredCheckpoint stored_;
  connector::CheckpointId numbers_ = 0;  // given to checkpoints, also of those given up

  // Of the process.
  int run_ = 0;
  bool down_ = true;
  int stepsToCrash_ = -1;  // < 0: none comes
  size_t crashesDone_ = 0;
  int parallelism_ = 0;
  std::shared_ptr<bigquery::ProcessBounds> bounds_;
  std::vector<std::shared_ptr<bigquery::AppendPool>> pools_;
  std::unique_ptr<ProcessWatch> watch_;
  std::deque<size_t> splits_;
  Positions positions_;  // as the newest parts say
  std::vector<std::unique_ptr<Subtask>> subtasks_;
  std::unique_ptr<bigquery::StreamCommitter> committer_;
  bool writersWait_ = false;  // for the commit after a restore
  base::MonotonicTime nextCheckpoint_{};
  std::optional<CheckpointUnderWay> checkpoint_;
  /// Taken, and not confirmed by a commit; in the order in which they came.
  std::deque<connector::Committable> unconfirmed_;
  size_t confirmed_ = 0;  // in this run, before those
  bool commitOpen_ = false;
  size_t committing_ = 0;                  // of them, by the newest commit
  connector::CheckpointId committed_ = 0;  // that the newest commit is of
  std::optional<Positions> promised_;      // to be visible after it
  bool last_ = false;                      // it is that of the end of input
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace penstock::simulation
