#include "penstock/runtime/local_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/base/log.h"
#include "penstock/base/mailbox.h"
#include "penstock/base/mutex.h"
#include "penstock/runtime/checkpoint_store.h"
#include "penstock/runtime/executor/split_queue.h"
#include "penstock/runtime/executor/subtask.h"

namespace penstock::runtime {
namespace {

constexpr int kMaxParallelism = 256;

absl::Status checkOptions(const LocalExecutorOptions& options) {
  if (options.parallelism < 1 || options.parallelism > kMaxParallelism) {
    return base::invalidArgument("parallelism must be 1 to {}, not {}", kMaxParallelism,
                                 options.parallelism);
  }
  if (options.checkpointInterval < std::chrono::milliseconds(1)) {
    return base::invalidArgument("the checkpoint interval must be at least 1 ms");
  }
  if (options.checkpointsKept < 1) {
    return base::invalidArgument("at least one checkpoint must be kept, not {}",
                                 options.checkpointsKept);
  }
  return absl::OkStatus();
}

}  // namespace

/// The coordinator: run() is its thread.
class LocalExecutor::Implementation {
 public:
  Implementation(Source& source, SubtaskSinkFactory sinkFactory, LocalExecutorOptions options)
      : source_(source), sinkFactory_(std::move(sinkFactory)), options_(std::move(options)) {}

  absl::StatusOr<ExecutionResult> run() {
    if (started_.exchange(true)) return absl::FailedPreconditionError("an executor runs once");
    fail(checkOptions(options_), ErrorOrigin::kJob);
    if (error_.ok()) runJob();
    store_.reset();  // gives up the directory's lock
    if (!error_.ok()) return error_;
    return ExecutionResult{end_, statistics(), restoredCheckpoint_, lastCheckpoint_};
  }

  [[nodiscard]] ErrorOrigin errorOrigin() const { return errorOrigin_; }

  void requestStop() {
    stopRequested_.store(true);
    events_.wake();
  }

  void cancel() {
    cancelled_.store(true);
    cancelSubtasks();
    if (options_.committer != nullptr) options_.committer->cancel();
    events_.wake();
  }

  ExecutionStatistics statistics() const {
    ExecutionStatistics statistics;
    {
      base::MutexLock lock(subtasksMutex_);
      for (const auto& subtask : subtasks_) {
        statistics.recordsRead += subtask->recordsRead();
        statistics.bytesRead += subtask->bytesRead();
      }
    }
    statistics.checkpointsCompleted = checkpointsCompleted_.load();
    statistics.lastCheckpointDuration = base::Duration(lastCheckpointNanoseconds_.load());
    statistics.recordsRestored = recordsRestored_.load();
    statistics.bytesRestored = bytesRestored_.load();
    return statistics;
  }

 private:
  void runJob() {
    fail(restore(), ErrorOrigin::kCheckpoints);
    if (error_.ok()) fail(checkCommittables(), ErrorOrigin::kCheckpoints);
    if (error_.ok()) fail(commitRestored(), ErrorOrigin::kCommit);
    if (!error_.ok()) return;
    if (alreadyFinished_) {
      end_ = ExecutionResult::End::kAlreadyFinished;
      return;
    }
    startSubtasks();
    coordinate();
    stopSubtasks();
    end_ = progress_.finished ? ExecutionResult::End::kFinished : ExecutionResult::End::kStopped;
  }

  /// Opens the directory and takes over what its newest checkpoint says.
  absl::Status restore() {
    for (std::string& split : source_.splits())
      progress_.splits.push_back({std::move(split), {}, false});
    progress_.jobIdentity = options_.jobIdentity;
    progress_.sourceIdentity = source_.identity();
    if (options_.checkpointDirectory.empty()) return absl::OkStatus();
    PENSTOCK_RETURN_IF_ERROR(source_.checkRestorable());
    PENSTOCK_ASSIGN_OR_RETURN(
        store_, CheckpointStore::open(options_.checkpointDirectory, options_.checkpointsKept));
    PENSTOCK_ASSIGN_OR_RETURN(std::optional<Checkpoint> newest, store_->newest());
    if (!newest.has_value()) return absl::OkStatus();
    PENSTOCK_RETURN_IF_ERROR(checkSameJob(*newest));
    progress_ = *std::move(newest);
    restoredCheckpoint_ = progress_.number;
    lastCheckpoint_ = progress_.number;
    recordsRestored_.store(progress_.records);
    bytesRestored_.store(progress_.bytes);
    alreadyFinished_ = progress_.finished;
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status checkCommittables() const {
    if (progress_.committables.empty() || options_.committer != nullptr) return absl::OkStatus();
    return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                            "checkpoint directory {} holds rows that are still to be committed, "
                            "and this job's sink commits none: run it with the sink that wrote "
                            "the checkpoint",
                            options_.checkpointDirectory);
  }

  /// The process may have died between the checkpoint and its commit, the last one's too.
  absl::Status commitRestored() {
    if (progress_.committables.empty()) return absl::OkStatus();
    return base::withContext(options_.committer->commit(progress_.committables),
                             fmt::format("committing checkpoint {} of {}", progress_.number,
                                         options_.checkpointDirectory));
  }

  [[nodiscard]] absl::Status checkSameJob(const Checkpoint& checkpoint) const {
    if (checkpoint.jobIdentity != options_.jobIdentity) {
      return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                              "checkpoint directory {} belongs to another job ({}); this one is "
                              "{}: give it a directory "
                              "of its own",
                              options_.checkpointDirectory, checkpoint.jobIdentity,
                              options_.jobIdentity);
    }
    return base::withContext(source_.checkIdentity(checkpoint.sourceIdentity),
                             fmt::format("checkpoint directory {}", options_.checkpointDirectory));
  }

  void startSubtasks() {
    splitsAtStart_ = progress_.splits;
    for (size_t at = 0; at < splitsAtStart_.size(); ++at) {
      if (!splitsAtStart_[at].finished) queue_.add(at);
    }
    const size_t count = std::clamp<size_t>(queue_.size(), 1, options_.parallelism);
    std::vector<SubtaskContext> contexts(count);
    for (size_t at = 0; at < progress_.writerStates.size(); ++at) {
      contexts[at % count].restoredStates.push_back(progress_.writerStates[at]);
    }
    const JobContext job{&source_, &sinkFactory_, &splitsAtStart_, &queue_, &events_};
    base::MutexLock lock(subtasksMutex_);
    for (size_t at = 0; at < count; ++at) {
      contexts[at].subtaskIndex = static_cast<int>(at);
      contexts[at].parallelism = static_cast<int>(count);
      subtasks_.push_back(std::make_unique<Subtask>(job, std::move(contexts[at])));
    }
    for (const auto& subtask : subtasks_) subtask->start();
    running_ = count;
  }

  /// Until the last checkpoint is complete or something failed.
  void coordinate() {
    nextCheckpoint_ = afterInterval();
    std::vector<SubtaskEvent> events;
    while (error_.ok() && !lastComplete_) {
      if (cancelled_.load()) {
        fail(cancelledStatus(), ErrorOrigin::kJob);
        return;
      }
      if (!inProgress_.has_value()) beginCheckpointIfDue();
      events_.waitUntil(inProgress_.has_value() ? base::kNever : nextCheckpoint_);
      events_.drain(events);
      for (SubtaskEvent& event : events) handle(event);
    }
  }

  /// Lets the threads end, whatever they are doing.
  void stopSubtasks() {
    if (!error_.ok()) cancelSubtasks();
    std::vector<SubtaskEvent> events;
    while (running_ > 0) {
      events_.waitUntil(base::kNever);
      events_.drain(events);
      for (SubtaskEvent& event : events) {
        if (std::holds_alternative<SubtaskEnded>(event.what)) --running_;
      }
    }
    for (const auto& subtask : subtasks_) subtask->join();
  }

  void cancelSubtasks() {
    std::vector<Subtask*> subtasks;
    {
      base::MutexLock lock(subtasksMutex_);
      for (const auto& subtask : subtasks_) subtasks.push_back(subtask.get());
    }
    for (Subtask* subtask : subtasks) subtask->cancel();
  }

  /// The first error counts.
  void fail(absl::Status status, ErrorOrigin origin) {
    if (status.ok() || !error_.ok()) return;
    error_ = std::move(status);
    errorOrigin_ = origin;
  }

  void handle(SubtaskEvent& event) {
    if (auto* snapshot = std::get_if<SubtaskSnapshot>(&event.what)) {
      collect(*snapshot);
    } else if (auto* ended = std::get_if<SubtaskEnded>(&event.what)) {
      --running_;
      if (ended->status.ok()) return;
      if (cancelled_.load()) {
        fail(cancelledStatus(), ErrorOrigin::kJob);
      } else {
        fail(ended->status, ended->origin);
      }
    } else {
      ++idle_;
    }
  }

  static absl::Status cancelledStatus() { return absl::CancelledError("the job was cancelled"); }

  // ---- Checkpoints ----

  struct CheckpointInProgress {
    CheckpointRequest request;
    base::MonotonicTime begun;
    size_t missing;  // snapshots
  };

  [[nodiscard]] base::MonotonicTime afterInterval() const {
    if (store_ == nullptr) return base::kNever;
    return base::deadlineAfter(base::systemClock().now(), options_.checkpointInterval);
  }

  void beginCheckpointIfDue() {
    const base::MonotonicTime now = base::systemClock().now();
    const bool allRead = idle_ == subtasks_.size();
    const bool stop = stopRequested_.load();
    if (!allRead && !stop && now < nextCheckpoint_) return;
    CheckpointRequest request{progress_.number + 1, allRead, allRead || stop};
    inProgress_ = CheckpointInProgress{request, now, subtasks_.size()};
    progress_.number = request.number;
    progress_.finished = allRead;
    progress_.writerStates.clear();
    progress_.committables.clear();
    for (const auto& subtask : subtasks_) subtask->request(request);
  }

  void collect(SubtaskSnapshot& snapshot) {
    for (SubtaskSnapshot::Split& split : snapshot.splits) {
      SplitProgress& progress = progress_.splits[split.index];
      progress.position = std::move(split.position);
      progress.finished = split.finished;
    }
    progress_.records += snapshot.records;
    progress_.bytes += snapshot.bytes;
    std::move(snapshot.writerStates.begin(), snapshot.writerStates.end(),
              std::back_inserter(progress_.writerStates));
    std::move(snapshot.committables.begin(), snapshot.committables.end(),
              std::back_inserter(progress_.committables));
    if (--inProgress_->missing == 0) completeCheckpoint();
  }

  void completeCheckpoint() {
    const CheckpointInProgress checkpoint = *std::exchange(inProgress_, std::nullopt);
    if (store_ != nullptr) fail(store_->write(progress_), ErrorOrigin::kCheckpoints);
    if (error_.ok() && options_.committer != nullptr && !progress_.committables.empty()) {
      fail(base::withContext(options_.committer->commit(progress_.committables),
                             fmt::format("committing checkpoint {}", progress_.number)),
           ErrorOrigin::kCommit);
    }
    if (!error_.ok()) return;
    if (store_ != nullptr) {
      lastCheckpoint_ = checkpoint.request.number;
      checkpointsCompleted_.fetch_add(1);
      lastCheckpointNanoseconds_.store((base::systemClock().now() - checkpoint.begun).count());
    }
    lastComplete_ = checkpoint.request.last;
    nextCheckpoint_ = afterInterval();
  }

  Source& source_;
  const SubtaskSinkFactory sinkFactory_;
  const LocalExecutorOptions options_;

  std::atomic<bool> started_{false};
  std::atomic<bool> stopRequested_{false};
  std::atomic<bool> cancelled_{false};
  base::Mailbox<SubtaskEvent> events_;

  // The coordinator's:
  std::unique_ptr<CheckpointStore> store_;
  Checkpoint progress_;  // the newest checkpoint, or the one in the making
  std::vector<SplitProgress> splitsAtStart_;
  SplitQueue queue_;
  std::optional<CheckpointInProgress> inProgress_;
  base::MonotonicTime nextCheckpoint_ = base::kNever;
  size_t running_ = 0;
  size_t idle_ = 0;
  bool lastComplete_ = false;
  bool alreadyFinished_ = false;
  int64_t restoredCheckpoint_ = 0;
  int64_t lastCheckpoint_ = 0;
  ExecutionResult::End end_ = ExecutionResult::End::kFinished;
  absl::Status error_;
  ErrorOrigin errorOrigin_ = ErrorOrigin::kNone;

  mutable base::Mutex subtasksMutex_;
  std::vector<std::unique_ptr<Subtask>> subtasks_;  // changed once, under the lock; others than the
                                                    // coordinator read it under the lock

  std::atomic<uint64_t> checkpointsCompleted_{0};
  std::atomic<int64_t> lastCheckpointNanoseconds_{0};
  std::atomic<uint64_t> recordsRestored_{0};
  std::atomic<uint64_t> bytesRestored_{0};
};

LocalExecutor::LocalExecutor(Source& source, SubtaskSinkFactory sinkFactory,
                             LocalExecutorOptions options)
    : implementation_(
          std::make_unique<Implementation>(source, std::move(sinkFactory), std::move(options))) {}
LocalExecutor::~LocalExecutor() = default;

absl::StatusOr<ExecutionResult> LocalExecutor::run() { return implementation_->run(); }
void LocalExecutor::requestStop() { implementation_->requestStop(); }
void LocalExecutor::cancel() { implementation_->cancel(); }
ExecutionStatistics LocalExecutor::statistics() const { return implementation_->statistics(); }
ErrorOrigin LocalExecutor::errorOrigin() const { return implementation_->errorOrigin(); }

}  // namespace penstock::runtime
