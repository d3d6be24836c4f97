#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// How much each destination has collected and not sent, ordered by size in constant time a row:
/// sizes are told apart to within an eighth, and of those that are not, the one that has had its
/// size for longest counts as the largest. One thread at a time.
class UnsentBatches {
 public:
  /// What `destination` has now; 0 = nothing.
  void set(connector::DestinationId destination, size_t bytes);
  /// Has what set() needs brought into the cache.
  void prefetch(connector::DestinationId destination) const {
    __builtin_prefetch(nodes_.data() + static_cast<size_t>(destination), 1);
  }
  [[nodiscard]] std::optional<connector::DestinationId> largest() const;
  /// Over all destinations.
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBuckets = 512;  // eight for each power of two
  struct Node {
    size_t bytes = 0;
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };
  struct List {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };

  static size_t bucketOf(size_t bytes);
  void unlink(uint32_t index, size_t bucket);
  void append(uint32_t index, size_t bucket);

  std::vector<Node> nodes_;  // by destination
  std::array<List, kBuckets> lists_{};
  std::array<uint64_t, kBuckets / 64> occupied_{};  // a bit for each list that is not empty
  size_t bytes_ = 0;
};

}  // namespace penstock::bigquery
