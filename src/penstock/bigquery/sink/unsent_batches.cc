#include "penstock/bigquery/sink/unsent_batches.h"

#include <bit>

namespace penstock::bigquery {

size_t UnsentBatches::bucketOf(size_t bytes) {
  if (bytes < 8) return bytes;
  const auto exponent = static_cast<size_t>(std::bit_width(bytes)) - 1;
  return exponent * 8 + ((bytes >> (exponent - 3)) & 7);
}

void UnsentBatches::set(connector::DestinationId destination, size_t bytes) {
  const auto index = static_cast<uint32_t>(destination);
  if (index >= nodes_.size()) {
    if (bytes == 0) return;
    nodes_.resize(index + 1);
  }
  Node& node = nodes_[index];
  bytes_ += bytes - node.bytes;
  const size_t from = bucketOf(node.bytes);
  const size_t to = bucketOf(bytes);
  const bool wasListed = node.bytes != 0;
  node.bytes = bytes;
  if (wasListed && from == to) return;
  if (wasListed) unlink(index, from);
  if (bytes != 0) append(index, to);
}

void UnsentBatches::unlink(uint32_t index, size_t bucket) {
  Node& node = nodes_[index];
  List& list = lists_[bucket];
  (node.previous == kNone ? list.first : nodes_[node.previous].next) = node.next;
  (node.next == kNone ? list.last : nodes_[node.next].previous) = node.previous;
  if (list.first == kNone) occupied_[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
}

void UnsentBatches::append(uint32_t index, size_t bucket) {
  Node& node = nodes_[index];
  List& list = lists_[bucket];
  node.previous = list.last;
  node.next = kNone;
  (list.last == kNone ? list.first : nodes_[list.last].next) = index;
  list.last = index;
  occupied_[bucket / 64] |= uint64_t{1} << (bucket % 64);
}

std::optional<connector::DestinationId> UnsentBatches::largest() const {
  for (size_t word = occupied_.size(); word-- > 0;) {
    if (occupied_[word] == 0) continue;
    const size_t bucket = word * 64 + static_cast<size_t>(std::bit_width(occupied_[word])) - 1;
    return connector::DestinationId{lists_[bucket].first};
  }
  return std::nullopt;
}

}  // namespace penstock::bigquery
