#include "penstock/bigquery/sink/stream_committer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "penstock/bigquery/sink/append_outcome.h"
#include "penstock/bigquery/sink/exactly_once_state.h"

namespace penstock::bigquery {
namespace {

// One attempt; the recovery schedule counts what lasts longer as failed.
constexpr base::Duration kFlushTimeout = std::chrono::seconds(60);

}  // namespace

absl::StatusOr<std::unique_ptr<StreamCommitter>> StreamCommitter::create(
    const SinkOptions& options, Dependencies dependencies) {
  PENSTOCK_RETURN_IF_ERROR(validate(options));
  return std::unique_ptr<StreamCommitter>(new StreamCommitter(options, std::move(dependencies)));
}

StreamCommitter::StreamCommitter(const SinkOptions& options, Dependencies dependencies)
    : options_(exactlyOnceOptions(options)), dependencies_(std::move(dependencies)) {}

void StreamCommitter::beginCommit(std::span<const connector::Committable> committables) {
  if (closed_ || !failure_.ok()) return;
  flushes_.clear();
  waiting_.clear();
  resting_.clear();
  ++commit_;
  inFlight_ = 0;
  open_ = 0;
  firstError_ = absl::OkStatus();
  failure_ = collect(committables);
  if (!failure_.ok()) return;
  open_ = flushes_.size();
  for (size_t index = 0; index < flushes_.size(); ++index) waiting_.push_back(index);
  beginDue();
}

absl::Status StreamCommitter::collect(std::span<const connector::Committable> committables) {
  std::unordered_map<std::string, size_t> places;
  for (const connector::Committable& bytes : committables) {
    PENSTOCK_ASSIGN_OR_RETURN(const StreamCommittable committable, decodeCommittable(bytes));
    const auto [place, isNew] = places.try_emplace(committable.stream, flushes_.size());
    if (isNew)
      flushes_.push_back({.stream = committable.stream, .offset = committable.flushOffset});
    Flush& flush = flushes_[place->second];
    flush.offset = std::max(flush.offset, committable.flushOffset);
  }
  return absl::OkStatus();
}

void StreamCommitter::begin(size_t index) {
  Flush& flush = flushes_[index];
  flush.state = Flush::State::kFlushing;
  ++inFlight_;
  progressed_ = true;
  dependencies_.streams->flushRows(
      flush.stream, flush.offset, kFlushTimeout,
      [inbox = inbox_, commit = commit_, index](StreamError error, int64_t offset) {
        inbox->mailbox.post({commit, index, std::move(error), offset});
      });
}

void StreamCommitter::onFlushed(const Event& event) {
  if (event.commit != commit_ || event.flush >= flushes_.size()) return;
  Flush& flush = flushes_[event.flush];
  if (flush.state != Flush::State::kFlushing) return;
  --inFlight_;
  const StreamError& error = event.error;
  if (error.status.ok() && event.offset != flush.offset) {
    // Who flushed the stream to elsewhere is not this job (BQW-123).
    flushFailed(flush, {absl::DataLossError(fmt::format(
                            "the service says that the stream is flushed up to {}", event.offset)),
                        StorageErrorCode::kNone});
    return;
  }
  // Flushed before: by an attempt whose answer was lost, or by the run before (BQW-121).
  const bool flushedBefore = error.status.code() == absl::StatusCode::kAlreadyExists ||
                             error.storageError == StorageErrorCode::kOffsetAlreadyExists;
  if (error.status.ok() || flushedBefore) {
    end(flush);
    return;
  }
  if (mayRetry(error.status) &&
      options_.defaultStreamOptions.recoverySchedule().allowsAnotherAfter(flush.attempt)) {
    flush.state = Flush::State::kBackingOff;
    flush.resumeAt = base::deadlineAfter(dependencies_.clock->now(),
                                         options_.defaultStreamOptions.recoverySchedule().backoff(
                                             flush.attempt++, *dependencies_.random));
    resting_.push_back(event.flush);
    return;
  }
  flushFailed(flush, error);
}

void StreamCommitter::flushFailed(Flush& flush, const StreamError& error) {
  if (firstError_.ok()) firstError_ = failureOf(flush, error);
  end(flush);
}

void StreamCommitter::end(Flush& flush) {
  flush.state = Flush::State::kEnded;
  --open_;
}

bool StreamCommitter::mayRetry(const absl::Status& status) const {
  if (isTransient(exactCode(status))) return true;
  // A table that has just been created may answer so for a moment (BQW-122).
  return status.code() == absl::StatusCode::kPermissionDenied &&
         options_.createDisposition == CreateDisposition::kCreateIfNeeded;
}

absl::Status StreamCommitter::failureOf(const Flush& flush, const StreamError& error) const {
  const int most = options_.defaultStreamOptions.recoverySchedule().maxAttempts;
  const bool spent = flush.attempt >= most && mayRetry(error.status);
  std::string_view hint;
  if (spent && isTransient(exactCode(error.status))) {
    hint = "; the checkpoint keeps what is to be committed: run again when the service answers";
  } else if (error.status.code() == absl::StatusCode::kPermissionDenied) {
    hint =
        "; check that the table exists and that the credentials may update its data "
        "(bigquery.tables.updateData)";
  } else if (error.status.code() == absl::StatusCode::kNotFound ||
             error.storageError == StorageErrorCode::kStreamNotFound ||
             error.storageError == StorageErrorCode::kStreamFinalized) {
    hint =
        "; the stream is gone, and with it what had not been flushed: was the table deleted, or "
        "the job down for longer than the 7 days that a stream lives?";
  }
  return base::makeStatus(error.status.code(),
                          "cannot commit the rows up to offset {} of {} (FlushRows, attempt {} of "
                          "{}): {}{}",
                          flush.offset, flush.stream, flush.attempt, most,
                          base::describe(error.status), hint);
}

void StreamCommitter::beginDue() {
  const base::MonotonicTime now = dependencies_.clock->now();
  std::erase_if(resting_, [&](size_t index) {
    if (flushes_[index].resumeAt > now) return false;
    flushes_[index].state = Flush::State::kWaiting;
    waiting_.push_front(index);
    return true;
  });
  while (!waiting_.empty() && inFlight_ < kMostInFlight) {
    const size_t next = waiting_.front();
    waiting_.pop_front();
    begin(next);
  }
}

connector::Progress StreamCommitter::poll() {
  connector::Progress progress;
  if (closed_) return progress;
  if (failure_.ok() && inbox_->cancelled.load(std::memory_order_acquire)) {
    failure_ = absl::CancelledError("the committer was cancelled");
  }
  if (inbox_->mailbox.drain(events_)) {
    for (const Event& event : events_) onFlushed(event);
    events_.clear();
    progressed_ = true;
  }
  if (failure_.ok() && open_ == 0) failure_ = std::exchange(firstError_, absl::OkStatus());
  if (!failure_.ok()) {
    progress.state = connector::Progress::State::kFailed;
    progress.status = failure_;
    return progress;
  }
  beginDue();
  if (open_ == 0) return progress;
  progress.state = connector::Progress::State::kPending;
  for (const size_t index : resting_) {
    progress.wakeAt = std::min(progress.wakeAt, flushes_[index].resumeAt);
  }
  return progress;
}

void StreamCommitter::beginClose() { closed_ = true; }

void StreamCommitter::cancel() {
  inbox_->cancelled.store(true, std::memory_order_release);
  inbox_->mailbox.wake();
}

void StreamCommitter::waitForEvent(base::MonotonicTime until) {
  if (std::exchange(progressed_, false)) return;
  inbox_->mailbox.waitUntil(until);
}

}  // namespace penstock::bigquery
