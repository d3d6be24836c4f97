#include "penstock/bigquery/sink/destination_appender.h"

#include <algorithm>
#include <utility>

#include "penstock/bigquery/sink/request_limits.h"

namespace penstock::bigquery {
namespace {

std::string datasetOf(const TableName& table) { return table.project + "." + table.dataset; }

}  // namespace

void DestinationAppender::open() {
  const DestinationHost::Shared& shared = context_.shared();
  // Other people's emulators want each default stream primed by the look-up (BQW-193).
  const bool mustPrime = shared.emulator && (!seenEmulator_ || foreignEmulator_);
  // Answers tell of changes that come while the table is open: whoever comes back asks what has
  // happened meanwhile to a table that it follows (BQW-166).
  const bool readSchema = context_.setup().followTable && wasClosed_;
  const bool mustLookUp = mustPrime || readSchema;
  if (!mustLookUp) {
    if (context_.options().location.has_value() && !shared.emulator) {
      finish(*context_.options().location);
      return;
    }
    if (const auto cached = shared.pool->cachedLocation(datasetOf(context_.table()));
        cached.has_value()) {
      finish(*cached);
      return;
    }
  }
  state_ = State::kLookingUp;
  context_.host().getWriteStream(context_.id(), context_.table().defaultStream(),
                                 /*fullView=*/readSchema);
}

absl::Status DestinationAppender::note(const absl::StatusOr<WriteStreamInfo>& info) {
  const DestinationHost::Shared& shared = context_.shared();
  if (!info.ok()) {
    // What emulators answer here for a table that is not there (BQW-193).
    return shared.emulator && info.status().code() == absl::StatusCode::kUnknown
               ? absl::Status(absl::StatusCode::kNotFound, info.status().message())
               : info.status();
  }
  seenEmulator_ = shared.emulator;
  foreignEmulator_ = shared.emulator && !info->announcesPenstock;
  if (info->location.empty() && !shared.emulator) {
    return absl::FailedPreconditionError(
        "GetWriteStream answered without a location: set the option `location`");
  }
  shared.pool->rememberLocation(datasetOf(context_.table()), info->location);
  return absl::OkStatus();
}

absl::Status DestinationAppender::onWriteStream(const absl::StatusOr<WriteStreamInfo>& info) {
  PENSTOCK_RETURN_IF_ERROR(note(info));
  finish(info->location);
  return absl::OkStatus();
}

void DestinationAppender::finish(const std::string& location) {
  const DestinationHost::Shared& shared = context_.shared();
  AppendPool::AppenderOptions options;
  options.target = context_.target();
  options.location = foreignEmulator_ ? std::string() : location;
  options.dedicated = foreignEmulator_;
  // The new one is registered before the old is closed (BQW-071); a connection that nobody else
  // uses ends with it.
  const AppenderId old = id_;
  id_ = shared.pool->openAppender(shared.writer, std::move(options));
  if (old != AppenderId::kNone) shared.pool->closeAppender(old);
  if (!std::exchange(counted_, true)) shared.openDestinations->add(1);
  state_ = State::kOpen;
  wasClosed_ = false;
}

bool DestinationAppender::append(SealedBatch& batch) {
  const AppendToken token{(static_cast<uint64_t>(context_.id()) << 32) | nextToken_};
  if (!context_.shared().pool->append(id_, token, batch.share())) {
    if (waitingSince_ == base::kNever) waitingSince_ = context_.now();
    context_.host().needsAttention(context_.id());
    return false;
  }
  // The answer comes through the mailbox, which is drained later.
  inFlight_.push_back({token, std::move(batch), std::nullopt});
  ++nextToken_;
  waitingSince_ = base::kNever;
  context_.shared().inFlightBatches->add(1);
  return true;
}

base::MonotonicTime DestinationAppender::patienceEnds() const {
  if (waitingSince_ == base::kNever) return base::kNever;
  return base::deadlineAfter(std::max(waitingSince_, context_.shared().pool->lastProgress(id_)),
                             kPatienceForRoom);
}

std::deque<DestinationAppender::InFlight>::iterator DestinationAppender::find(AppendToken token) {
  return std::find_if(inFlight_.begin(), inFlight_.end(),
                      [&](const InFlight& one) { return one.token == token; });
}

bool DestinationAppender::onAnswer(AppendToken token) {
  const auto entry = find(token);
  if (entry == inFlight_.end() || entry->outcome.has_value()) return false;
  context_.shared().inFlightBatches->add(-1);
  return true;
}

SealedBatch DestinationAppender::take(AppendToken token) {
  const auto entry = find(token);
  SealedBatch rows = std::move(entry->rows);
  inFlight_.erase(entry);
  return rows;
}

void DestinationAppender::hold(AppendToken token, AppendOutcome outcome) {
  find(token)->outcome = std::move(outcome);
}

void DestinationAppender::hold(SealedBatch rows, AppendOutcome outcome) {
  inFlight_.push_back({AppendToken{}, std::move(rows), std::move(outcome)});
}

bool DestinationAppender::allAnswered() const {
  return std::all_of(inFlight_.begin(), inFlight_.end(),
                     [](const InFlight& one) { return one.outcome.has_value(); });
}

void DestinationAppender::close() {
  const DestinationHost::Shared& shared = context_.shared();
  for (const InFlight& entry : inFlight_) {
    if (!entry.outcome.has_value()) shared.inFlightBatches->add(-1);
  }
  inFlight_.clear();
  if (id_ != AppenderId::kNone) shared.pool->closeAppender(id_);
  id_ = AppenderId::kNone;
  if (std::exchange(counted_, false)) shared.openDestinations->add(-1);
  waitingSince_ = base::kNever;
  wasClosed_ = state_ != State::kClosed;
  state_ = State::kClosed;
}

void DestinationAppender::addTo(DestinationStatistics& statistics) const {
  statistics.unansweredBatches += inFlight_.size();
  for (const InFlight& append : inFlight_) {
    if (append.rows) statistics.unansweredBytes += append.rows->framedBytes();
  }
}

}  // namespace penstock::bigquery
