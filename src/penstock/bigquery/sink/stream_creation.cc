#include "penstock/bigquery/sink/stream_creation.h"

#include <utility>

#include "penstock/bigquery/sink/exactly_once_state.h"

namespace penstock::bigquery {

StreamCreation::StreamCreation(DestinationContext& context, BufferedStreamHost& host)
    : context_(context), host_(host) {
  create();
}

void StreamCreation::create() {
  state_ = State::kCreatingStream;
  resumeAt_ = base::kNever;
  host_.createStream(context_.id(), context_.table());
}

void StreamCreation::onStreamCreated(const StreamError& error, CreatedStream stream) {
  if (state_ != State::kCreatingStream) return;
  absl::Status status = error.status;
  if (status.ok() && !isStreamOf(context_.table(), stream.name)) {
    status = base::makeStatus(absl::StatusCode::kDataLoss, "the service calls the new stream '{}'",
                              stream.name);
  }
  if (status.ok()) {
    stream_ = std::move(stream);
    state_ = State::kDone;
    return;
  }
  host_.countFailedAppend(status);
  const Verdict verdict = classify(status);
  const bool missing = verdict == Verdict::kMissingTable &&
                       context_.options().createDisposition == CreateDisposition::kCreateIfNeeded;
  if (missing && !table_) {
    state_ = State::kCreatingTable;
    table_.emplace(context_, status);
    return;
  }
  const base::RetrySchedule schedule = context_.recoverySchedule();
  if ((missing || verdict == Verdict::kTransient) && schedule.allowsAnotherAfter(attempt_)) {
    state_ = State::kBackingOff;
    resumeAt_ = context_.afterBackoff(schedule, attempt_++);
    host_.needsAttention(context_.id());
    return;
  }
  fail(status, verdict);
}

void StreamCreation::onTableCreated(const AdminError& error) {
  if (!table_) return;
  table_->onTableCreated(error);
  resumeIfTableCreated();
}

void StreamCreation::onCreateOptions(std::string_view document) {
  if (table_) table_->onCreateOptions(document);
}

void StreamCreation::resumeIfTableCreated() {
  if (state_ != State::kCreatingTable || !table_->done()) return;
  attempt_ = 1;
  create();
}

void StreamCreation::advance() {
  if (state_ == State::kCreatingTable) {
    table_->advance();
  } else if (state_ == State::kBackingOff && context_.now() >= resumeAt_) {
    create();
  }
}

base::MonotonicTime StreamCreation::wakeAt() const {
  return state_ == State::kCreatingTable ? table_->wakeAt() : resumeAt_;
}

void StreamCreation::fail(const absl::Status& status, Verdict verdict) {
  std::string_view hint;
  if (verdict == Verdict::kTransient) {
    hint = "; run again from the last checkpoint when the service answers";
  } else if (status.code() == absl::StatusCode::kNotFound && !table_) {
    hint =
        "; the table does not exist and createDisposition is CREATE_NEVER: create it, or use "
        "CREATE_IF_NEEDED";
  } else if (verdict == Verdict::kMissingTable) {
    hint =
        "; the table may not exist or may not be writable: check its name, and that the "
        "credentials may update its data (bigquery.tables.updateData)";
  }
  absl::Status failure = base::makeStatus(
      status.code(), "cannot make a stream of {} (CreateWriteStream, attempt {}{}): {}{}",
      context_.table().dotted(), attempt_, table_ ? " since the table was created" : "",
      base::describe(status), hint);
  host_.fail(verdict == Verdict::kMissingTable ? context_.withOrigin(std::move(failure)) : failure);
}

}  // namespace penstock::bigquery
