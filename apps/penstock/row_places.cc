#include "apps/penstock/row_places.h"

namespace penstock::command {

connector::RowOrigin RowPlaces::add(const runtime::RecordBatch& batch) {
  if (batches_.size() == kMostBatches) {
    batches_.pop_front();
    ++firstBatch_;
  }
  batches_.push_back(batch.laterOrigins());
  return connector::RowOrigin{(firstBatch_ + batches_.size() - 1) << 32};
}

std::string RowPlaces::describe(connector::RowOrigin origin) const {
  const auto number = static_cast<uint64_t>(origin);
  const uint64_t batch = number >> 32;
  if (batch < firstBatch_ || batch - firstBatch_ >= batches_.size()) return {};
  const auto& describe = batches_[batch - firstBatch_];
  return describe ? describe(number & UINT32_MAX) : std::string();
}

void RowPlaces::settled() {
  firstBatch_ += batches_.size();
  batches_.clear();
}

}  // namespace penstock::command
