#include "penstock/bigquery/sink/stream_appends.h"

#include <algorithm>
#include <utility>

#include "penstock/bigquery/sink/request_limits.h"

namespace penstock::bigquery {

void StreamAppends::open(const std::string& stream, const std::string& location) {
  const DestinationHost::Shared& shared = context_.shared();
  auto target = std::make_shared<StreamTarget>(*context_.target());
  target->stream = stream;
  AppendPool::AppenderOptions options;
  options.target = std::move(target);
  options.location = location;
  options.dedicated = true;
  if (id_ != AppenderId::kNone) shared.pool->closeAppender(id_);
  id_ = shared.pool->openAppender(shared.writer, std::move(options));
  if (&stream != &stream_) stream_ = stream;
  if (&location != &location_) location_ = location;
  stopWaiting();
}

bool StreamAppends::append(StreamAppend& append) {
  const AppendToken token{(static_cast<uint64_t>(context_.id()) << 32) | nextToken_};
  if (!context_.shared().pool->append(id_, token, append.rows.share(), append.offset)) {
    if (waitingSince_ == base::kNever) waitingSince_ = context_.now();
    context_.host().needsAttention(context_.id());
    return false;
  }
  // The answer comes through the mailbox, which is drained later.
  append.token = token;
  append.outcome.reset();
  append.sentBefore = true;
  inFlight_.push_back(std::move(append));
  ++nextToken_;
  waitingSince_ = base::kNever;
  context_.shared().inFlightBatches->add(1);
  return true;
}

StreamAppend* StreamAppends::onAnswer(AppendToken token, AppendOutcome outcome) {
  const auto found = std::find_if(inFlight_.begin(), inFlight_.end(),
                                  [&](const StreamAppend& one) { return one.token == token; });
  if (found == inFlight_.end() || found->outcome.has_value()) return nullptr;
  context_.shared().inFlightBatches->add(-1);
  found->transmissions += outcome.transmissions;
  found->outcome = std::move(outcome);
  return &*found;
}

bool StreamAppends::allAnswered() const {
  return std::all_of(inFlight_.begin(), inFlight_.end(),
                     [](const StreamAppend& one) { return one.outcome.has_value(); });
}

base::MonotonicTime StreamAppends::patienceEnds() const {
  if (waitingSince_ == base::kNever) return base::kNever;
  return base::deadlineAfter(std::max(waitingSince_, context_.shared().pool->lastProgress(id_)),
                             kPatienceForRoom);
}

void StreamAppends::close() {
  for (const StreamAppend& append : inFlight_) {
    if (!append.outcome.has_value()) context_.shared().inFlightBatches->add(-1);
  }
  inFlight_.clear();
  if (id_ != AppenderId::kNone) context_.shared().pool->closeAppender(id_);
  id_ = AppenderId::kNone;
  stopWaiting();
}

void StreamAppends::addTo(DestinationStatistics& statistics) const {
  statistics.unansweredBatches += inFlight_.size();
  for (const StreamAppend& append : inFlight_) {
    if (append.rows) statistics.unansweredBytes += append.rows->framedBytes();
  }
}

}  // namespace penstock::bigquery
