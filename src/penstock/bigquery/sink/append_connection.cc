#include "penstock/bigquery/sink/append_connection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "penstock/bigquery/sink/append_request_encoding.h"
#include "penstock/bigquery/sink/missing_values.h"

namespace penstock::bigquery {
namespace {

constexpr base::Duration kFirstReconnectDelay = std::chrono::milliseconds(50);
constexpr base::Duration kLongestReconnectDelay = std::chrono::seconds(60);

base::Duration reconnectDelay(int reconnects) {
  base::Duration delay = kFirstReconnectDelay;
  for (int i = 0; i < reconnects && delay < kLongestReconnectDelay; ++i) delay *= 2;
  return std::min(delay, kLongestReconnectDelay);
}

// The service ends connections that nobody has used for a while and says so; that is no failure
// (BQW-055).
bool isIdleClose(const absl::Status& status) {
  return base::messageOf(status).find("inactive") != std::string_view::npos;
}

AppendOutcome closedWriter(const absl::Status& why) {
  AppendOutcome outcome;
  outcome.kind = AppendOutcome::Kind::kClosedWriter;
  outcome.response.status = why;
  return outcome;
}

}  // namespace

bool AppendConnection::hasRoomFor(size_t bytes, size_t mayWait) const {
  if (inflightRequests_ == 0) return true;
  return inflightRequests_ < static_cast<size_t>(limits_.maxInflightRequests) &&
         inflightBytes_ + bytes <= static_cast<size_t>(limits_.maxInflightBytes) &&
         (waiting_.empty() || waitingBytes_ + bytes <= mayWait);
}

bool AppendConnection::hasAmpleRoom(size_t mayWait) const {
  const auto requests = static_cast<size_t>(limits_.maxInflightRequests);
  const auto bytes = static_cast<size_t>(limits_.maxInflightBytes);
  return inflightRequests_ < requests - requests / 8 && inflightBytes_ <= bytes - bytes / 8 &&
         waitingBytes_ <= mayWait / 4;
}

bool AppendConnection::isOverwhelmed(base::MonotonicTime now) const {
  if (inflightRequests_ > static_cast<size_t>(limits_.maxInflightRequests) / 5 ||
      inflightBytes_ > static_cast<size_t>(limits_.maxInflightBytes) / 5) {
    return true;
  }
  return state_ == State::kOpen && answered_ && !waiting_.empty() &&
         now - std::max(waiting_.front().time, openedAt_) > kSlowStream;
}

void AppendConnection::wait(Entry entry) {
  waitingBytes_ += entry.bytes;
  waiting_.push_back(std::move(entry));
}

void AppendConnection::waitInFront(Entry entry) {
  waitingBytes_ += entry.bytes;
  waiting_.push_front(std::move(entry));
}

AppendConnection::Entry AppendConnection::takeWaiting() {
  Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  waitingBytes_ -= entry.bytes;
  return entry;
}

ConnectionStatistics AppendConnection::statistics(base::MonotonicTime now) const {
  constexpr std::array<const char*, 4> kStates = {"idle", "open", "backoff", "final"};
  ConnectionStatistics statistics;
  statistics.dedicated = !multiplexed_;
  statistics.state = kStates[static_cast<size_t>(state_)];
  statistics.inflightRequests = inflightRequests_;
  statistics.inflightBytes = inflightBytes_;
  statistics.waitingRequests = waiting_.size();
  statistics.delayedRequests = delayed_.size();
  statistics.answers = answers_;
  statistics.resends = resends_;
  statistics.reconnects = calls_ - std::min<uint64_t>(calls_, 1);
  if (!lastEnd_.ok()) statistics.lastEnd = base::describe(lastEnd_);
  statistics.sinceProgress = now - lastProgress_;
  if (!sent_.empty()) statistics.oldestSent = now - sent_.front().time;
  statistics.latency = latency_;
  return statistics;
}

void AppendConnection::append(AppendRequest request, base::MonotonicTime now, Actions& actions) {
  Entry entry;
  entry.bytes = request.rows->framedBytes();
  entry.request = std::move(request);
  entry.time = now;
  ++inflightRequests_;
  inflightBytes_ += entry.bytes;
  wait(std::move(entry));
  if (state_ == State::kIdle) openCall(now, actions);
  writeNext(now, actions);
}

void AppendConnection::openCall(base::MonotonicTime now, Actions& actions) {
  state_ = State::kOpen;
  writing_ = false;
  lastTarget_ = nullptr;
  reconnectAt_ = base::kNever;
  lastProgress_ = now;
  openedAt_ = now;
  answered_ = false;
  ++calls_;
  Action start;
  start.kind = Action::Kind::kStartCall;
  actions.push_back(std::move(start));
}

void AppendConnection::writeNext(base::MonotonicTime now, Actions& actions) {
  if (state_ != State::kOpen || writing_ || waiting_.empty() || now < pausedUntil_) return;
  Entry entry = takeWaiting();
  ++entry.transmissions;
  Action write;
  write.kind = Action::Kind::kWrite;
  entry.carriesSchema = entry.request.target != lastTarget_;
  write.bytes = encode(entry.request);
  actions.push_back(std::move(write));
  writing_ = true;
  entry.time = now;
  sent_.push_back(std::move(entry));
}

AppendRequestBytes AppendConnection::encode(const AppendRequest& request) {
  const bool first = lastTarget_ == nullptr;
  AppendRequestHeader header;
  header.framedRowBytes = request.rows->framedBytes();
  header.offset = request.offset;
  if (multiplexed_ || first) header.stream = request.target->stream;
  if (request.target != lastTarget_) header.descriptor = request.target->descriptor;
  if (first) header.traceId = traceId_;
  // A default for missing values stays in force on its call: whoever has none sets it back.
  missingValuesSet_ = (missingValuesSet_ && !first) || !request.target->missingValues.empty();
  if (!request.target->missingValues.empty()) {
    header.fields = request.target->missingValues;
  } else if (missingValuesSet_) {
    header.fields = kServiceMissingValues;
  }
  lastTarget_ = request.target;
  return {encodeAppendHeader(header), request.rows};
}

std::optional<base::Duration> AppendConnection::resendDelay(const Entry& entry,
                                                            absl::StatusCode code) const {
  if (!isRetriedInStream(code) || entry.resends >= limits_.retryMaxAttempts) return std::nullopt;
  // Only a spent quota, and INTERNAL on a default stream, are waited out (BQW-054).
  const bool waits = code == absl::StatusCode::kResourceExhausted ||
                     (code == absl::StatusCode::kInternal && !entry.request.offset.has_value());
  if (!waits) return base::Duration::zero();
  const auto initial = static_cast<double>(limits_.retryInitialDelay.count());
  const auto longest = static_cast<double>(limits_.retryMaxDelay.count());
  const double bound =
      std::min(longest, initial * std::pow(limits_.retryDelayMultiplier, entry.resends));
  // "At most" the bound: jitter keeps writers that failed together from coming back together.
  return base::Duration(static_cast<int64_t>(bound * (0.5 + 0.5 * random_.uniform())));
}

void AppendConnection::onMessage(AppendResponse response, base::MonotonicTime now,
                                 Actions& actions) {
  if (state_ != State::kOpen) return;
  reconnects_ = 0;
  lostSince_ = base::kNever;
  lastProgress_ = now;
  answered_ = true;
  if (sent_.empty()) {
    const absl::Status why = absl::InternalError(
        "the service answered an append that was never sent; the connection is given up");
    Action cancel;
    cancel.kind = Action::Kind::kCancelCall;
    actions.push_back(std::move(cancel));
    finish(closedWriter(why), why, now, actions);
    return;
  }
  Entry entry = std::move(sent_.front());
  sent_.pop_front();
  ++answers_;
  latency_.add(now - entry.time);
  if (entry.stale) return;
  if (!response.status.ok()) {
    // The service may have turned the request down before it took note of the schema.
    if (entry.carriesSchema) lastTarget_ = nullptr;
    if (const auto delay = resendDelay(entry, exactCode(response.status))) {
      resend(std::move(entry), *delay, now);
      writeNext(now, actions);
      return;
    }
  }
  AppendOutcome outcome;
  outcome.response = std::move(response);
  complete(std::move(entry), std::move(outcome), actions);
}

void AppendConnection::resend(Entry entry, base::Duration delay, base::MonotonicTime now) {
  ++entry.resends;
  ++resends_;
  if (entry.request.offset.has_value()) {
    requeueBehind();
    waitInFront(std::move(entry));
    pausedUntil_ = base::deadlineAfter(now, delay);
  } else if (delay == base::Duration::zero()) {
    wait(std::move(entry));
  } else {
    entry.time = base::deadlineAfter(now, delay);
    delayed_.push_back(std::move(entry));
  }
}

void AppendConnection::requeueBehind() {
  for (auto sent = sent_.rbegin(); sent != sent_.rend(); ++sent) {
    if (sent->stale || sent->forgotten) continue;
    Entry placeholder;
    placeholder.stale = true;
    placeholder.time = sent->time;
    std::swap(*sent, placeholder);
    waitInFront(std::move(placeholder));
  }
}

void AppendConnection::onWriteDone(bool ok, base::MonotonicTime now, Actions& actions) {
  if (state_ != State::kOpen) return;
  if (!ok) return;  // the end of the call is on its way; nothing more may be written
  writing_ = false;
  writeNext(now, actions);
}

void AppendConnection::requeueUnanswered() {
  // In front of what has not been written yet, in the order in which they were written.
  while (!sent_.empty()) {
    Entry entry = std::move(sent_.back());
    sent_.pop_back();
    if (entry.stale) continue;
    if (!entry.forgotten) {
      waitInFront(std::move(entry));
      continue;
    }
    release(entry);
  }
}

void AppendConnection::release(const Entry& entry) {
  --inflightRequests_;
  inflightBytes_ -= entry.bytes;
  if (entry.forgotten) --forgottenRequests_;
}

void AppendConnection::onDone(const absl::Status& status, StorageErrorCode storageError,
                              base::MonotonicTime now, Actions& actions) {
  if (state_ != State::kOpen) return;
  writing_ = false;
  lastProgress_ = now;
  lastEnd_ = status;
  requeueUnanswered();
  if (status.ok() || isIdleClose(status) || isReconnectable(exactCode(status))) {
    if (inflightRequests_ == 0) {
      state_ = State::kIdle;  // the next append opens a call again
      return;
    }
    if (isIdleClose(status)) {
      openCall(now, actions);
      writeNext(now, actions);
      return;
    }
    if (lostSince_ == base::kNever) lostSince_ = now;
    const bool mayRetry = limits_.maxRetryDuration == base::Duration::zero() ||
                          now - lostSince_ <= limits_.maxRetryDuration;
    if (mayRetry) {
      state_ = State::kBackoff;
      reconnectAt_ = base::deadlineAfter(now, reconnectDelay(reconnects_));
      ++reconnects_;
      return;
    }
  }
  AppendOutcome first;
  first.kind = AppendOutcome::Kind::kCallFailed;
  first.response.status =
      status.ok() ? absl::UnavailableError("the service ended the connection") : status;
  first.response.storageError = storageError;
  finish(first, first.response.status, now, actions);
}

void AppendConnection::finish(AppendOutcome first, const absl::Status& rest,
                              base::MonotonicTime now, Actions& actions) {
  state_ = State::kFinal;
  lastProgress_ = now;
  requeueUnanswered();
  bool isFirst = true;
  waitingBytes_ = 0;
  for (std::deque<Entry>* queue : {&waiting_, &delayed_}) {
    while (!queue->empty()) {
      Entry entry = std::move(queue->front());
      queue->pop_front();
      AppendOutcome outcome = closedWriter(rest);
      if (isFirst) std::swap(outcome, first);
      isFirst = false;
      complete(std::move(entry), std::move(outcome), actions);
    }
  }
}

void AppendConnection::complete(Entry entry, AppendOutcome outcome, Actions& actions) {
  release(entry);
  if (entry.forgotten) return;
  outcome.transmissions = entry.transmissions;
  Action action;
  action.kind = Action::Kind::kComplete;
  action.request = std::move(entry.request);
  action.outcome = std::move(outcome);
  actions.push_back(std::move(action));
}

void AppendConnection::sendDelayed(base::MonotonicTime now) {
  for (auto entry = delayed_.begin(); entry != delayed_.end();) {
    if (entry->time > now) {
      ++entry;
      continue;
    }
    wait(std::move(*entry));
    entry = delayed_.erase(entry);
  }
}

void AppendConnection::advance(base::MonotonicTime now, Actions& actions) {
  if (state_ == State::kFinal) return;
  sendDelayed(now);
  if (state_ == State::kIdle && !waiting_.empty()) openCall(now, actions);
  if (state_ == State::kBackoff && now >= reconnectAt_) openCall(now, actions);
  if (state_ == State::kOpen && !sent_.empty() && now - sent_.front().time >= kWatchdog) {
    const absl::Status why = absl::DeadlineExceededError(
        "no answer to an append for 5 minutes; the connection is given up");
    Action cancel;
    cancel.kind = Action::Kind::kCancelCall;
    actions.push_back(std::move(cancel));
    finish(closedWriter(why), why, now, actions);
    return;
  }
  writeNext(now, actions);
}

base::MonotonicTime AppendConnection::nextTimer() const {
  base::MonotonicTime next = base::kNever;
  if (state_ == State::kFinal) return next;
  if (state_ == State::kBackoff) next = reconnectAt_;
  if (state_ == State::kOpen && !writing_ && !waiting_.empty()) next = pausedUntil_;
  if (state_ == State::kOpen && !sent_.empty()) {
    next = std::min(next, base::deadlineAfter(sent_.front().time, kWatchdog));
  }
  for (const Entry& entry : delayed_) next = std::min(next, entry.time);
  return next;
}

void AppendConnection::forgetWriter(uint32_t writer) {
  for (std::deque<Entry>* queue : {&waiting_, &delayed_}) {
    for (auto entry = queue->begin(); entry != queue->end();) {
      if (entry->request.writer != writer) {
        ++entry;
        continue;
      }
      release(*entry);
      if (queue == &waiting_) waitingBytes_ -= entry->bytes;
      entry = queue->erase(entry);
    }
  }
  for (Entry& entry : sent_) {
    if (entry.request.writer != writer || entry.forgotten || entry.stale) continue;
    entry.forgotten = true;
    ++forgottenRequests_;
  }
}

void AppendConnection::shutDown(Actions& actions) {
  if (state_ == State::kOpen) {
    Action cancel;
    cancel.kind = Action::Kind::kCancelCall;
    actions.push_back(std::move(cancel));
  }
  state_ = State::kFinal;
  waiting_.clear();
  waitingBytes_ = 0;
  sent_.clear();
  delayed_.clear();
  inflightRequests_ = 0;
  inflightBytes_ = 0;
  forgottenRequests_ = 0;
}

}  // namespace penstock::bigquery
