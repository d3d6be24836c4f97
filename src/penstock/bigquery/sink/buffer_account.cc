#include "penstock/bigquery/sink/buffer_account.h"

namespace penstock::bigquery {

void BufferAccount::draw(int64_t held) {
  // Nothing held, nothing drawn: what is at rest leaves no trace.
  const int64_t wanted = held == 0 ? 0 : held + bounds_->bufferStep();
  bounds_->addBuffered(wanted - drawn_);
  drawn_ = wanted;
}

std::optional<connector::DestinationId> BufferAccount::toSend() const {
  // What is sealed already will be acknowledged without being asked again; a writer at the bound
  // with nothing sealed of its own would have nothing to wait for.
  const int64_t beyond = excess();
  if (beyond <= 0) return std::nullopt;
  const bool atBound = bounds_->buffered() >= bounds_->maxBuffered();
  if (bounds_->sealed() >= beyond && !(atBound && sealed_ == 0)) return std::nullopt;
  return unsent_.largest();
}

bool BufferAccount::mustWait() {
  const int64_t limit = bounds_->maxBuffered();
  // Once rows wait, they do until there is room for many: not a context switch a row.
  const int64_t full = waiting_ ? limit - limit / 32 : limit;
  waiting_ = sealed_ > 0 && bounds_->buffered() >= full;
  return waiting_;
}

void BufferAccount::close() {
  bounds_->addSealed(-sealed_);
  bounds_->addBuffered(-drawn_);
  sealed_ = 0;
  drawn_ = 0;
  unsent_ = {};
  gauge_.set(0);
}

}  // namespace penstock::bigquery
