#include "penstock/runtime/executor/subtask.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "penstock/base/log.h"

namespace penstock::runtime {
namespace {

absl::Status cancelledStatus() { return absl::CancelledError("the job was cancelled"); }

}  // namespace

Subtask::Subtask(const JobContext& job, SubtaskContext context)
    : job_(job), context_(std::move(context)) {}

Subtask::~Subtask() { join(); }

void Subtask::start() {
  thread_ = std::thread([this] { run(); });
}

void Subtask::join() {
  if (thread_.joinable()) thread_.join();
}

void Subtask::request(const CheckpointRequest& request) {
  {
    base::MutexLock lock(mutex_);
    request_ = request;
  }
  wakeup_.notify();
}

void Subtask::cancel() {
  cancelled_.store(true);
  std::shared_ptr<SubtaskSink> sink;
  {
    base::MutexLock lock(mutex_);
    sink = sharedSink_;
  }
  if (sink != nullptr) sink->cancel();
  wakeup_.notify();
}

void Subtask::post(std::variant<SubtaskIdle, SubtaskSnapshot, SubtaskEnded> what) {
  job_.events->post({context_.subtaskIndex, std::move(what)});
}

void Subtask::run() {
  absl::Status status;
  try {
    status = work();
  } catch (const std::exception& exception) {
    status = base::makeStatus(absl::StatusCode::kInternal, "subtask {} ended with an exception: {}",
                              context_.subtaskIndex, exception.what());
  }
  const ErrorOrigin turn = turn_;
  reader_.reset();
  if (const absl::Status closed = closeSink(); !closed.ok()) {
    // What counts is decided already: either the last checkpoint covers everything or an error came
    // first.
    base::logWarning("closing the sink of subtask {}: {}", context_.subtaskIndex,
                     base::describe(closed));
  }
  post(SubtaskEnded{std::move(status), turn});
}

absl::Status Subtask::work() {
  PENSTOCK_RETURN_IF_ERROR(openSink());
  while (true) {
    if (cancelled_.load()) return cancelledStatus();
    if (const std::optional<CheckpointRequest> request = takeRequest(); request.has_value()) {
      PENSTOCK_RETURN_IF_ERROR(answer(*request));
      if (request->last) return absl::OkStatus();
      continue;
    }
    if (reader_ == nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(const bool opened, openNextSplit());
      if (!opened) {
        PENSTOCK_RETURN_IF_ERROR(waitIdle());
        continue;
      }
    }
    PENSTOCK_RETURN_IF_ERROR(readSome());
  }
}

absl::Status Subtask::openSink() {
  turn_ = ErrorOrigin::kSink;
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<SubtaskSink> sink, (*job_.sinkFactory)(context_));
  sink_ = std::move(sink);
  {
    base::MutexLock lock(mutex_);
    sharedSink_ = sink_;
  }
  // A cancel() that came before saw no sink.
  if (cancelled_.load()) sink_->cancel();
  return absl::OkStatus();
}

absl::Status Subtask::closeSink() {
  if (sink_ == nullptr) return absl::OkStatus();
  try {
    return sink_->close();
  } catch (const std::exception& exception) {
    return absl::InternalError(exception.what());
  }
}

absl::StatusOr<bool> Subtask::openNextSplit() {
  if (idle_) return false;
  const std::optional<size_t> next = job_.queue->take();
  if (!next.has_value()) return false;
  const SplitProgress& split = (*job_.splits)[*next];
  turn_ = ErrorOrigin::kSource;
  PENSTOCK_ASSIGN_OR_RETURN(reader_,
                            job_.source->createReader(split.split, split.position, wakeup_));
  split_ = *next;
  return true;
}

absl::Status Subtask::readSome() {
  turn_ = ErrorOrigin::kSource;
  PENSTOCK_ASSIGN_OR_RETURN(const SplitReader::State state, reader_->read(batch_, nextPoll_));
  switch (state) {
    case SplitReader::State::kBatch:
      return writeBatch();
    case SplitReader::State::kNothingYet: {
      turn_ = ErrorOrigin::kSink;
      PENSTOCK_ASSIGN_OR_RETURN(nextPoll_, sink_->poll());
      break;
    }
    case SplitReader::State::kEnd:
      unreported_.splits.push_back({split_, reader_->position(), true});
      reader_.reset();
      break;
  }
  return absl::OkStatus();
}

absl::Status Subtask::writeBatch() {
  turn_ = ErrorOrigin::kSink;
  const size_t records = batch_.records.size();
  PENSTOCK_RETURN_IF_ERROR(sink_->write(batch_));
  unreported_.records += records;
  unreported_.bytes += batch_.inputBytes;
  recordsRead_.fetch_add(records, std::memory_order_relaxed);
  bytesRead_.fetch_add(batch_.inputBytes, std::memory_order_relaxed);
  nextPoll_ = {};  // what was written may have set a timer: poll before the next wait
  return absl::OkStatus();
}

absl::Status Subtask::waitIdle() {
  if (!idle_) {
    idle_ = true;
    post(SubtaskIdle{});
  }
  turn_ = ErrorOrigin::kSink;
  PENSTOCK_ASSIGN_OR_RETURN(const base::MonotonicTime next, sink_->poll());
  [[maybe_unused]] const Wakeup::Reason reason = wakeup_.wait(-1, next);
  return absl::OkStatus();
}

absl::Status Subtask::answer(const CheckpointRequest& request) {
  turn_ = ErrorOrigin::kSink;
  PENSTOCK_RETURN_IF_ERROR(sink_->flush(request.endOfInput));
  PENSTOCK_ASSIGN_OR_RETURN(unreported_.committables, sink_->prepareCommit());
  PENSTOCK_ASSIGN_OR_RETURN(unreported_.writerStates, sink_->snapshotState(request.number));
  if (reader_ != nullptr) {
    if (std::string position = reader_->position(); !position.empty()) {
      unreported_.splits.push_back({split_, std::move(position), false});
    }
  }
  unreported_.checkpoint = request.number;
  nextPoll_ = {};
  post(std::exchange(unreported_, SubtaskSnapshot()));
  return absl::OkStatus();
}

std::optional<CheckpointRequest> Subtask::takeRequest() {
  base::MutexLock lock(mutex_);
  return std::exchange(request_, std::nullopt);
}

}  // namespace penstock::runtime
