#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "penstock/bigquery/sink/append_pool.h"

namespace penstock::simulation {

/// What the subtasks of a process share, and what must hold of it at any moment.
class ProcessWatch {
 public:
  ProcessWatch(const std::vector<std::shared_ptr<bigquery::AppendPool>>& pools,
               const bigquery::ProcessBounds& bounds)
      : pools_(pools), bounds_(bounds) {}

  /// `dedicated`: connections that belong to one stream each, which nothing bounds.
  void look(size_t subtasks, std::vector<std::string>& violations, bool dedicated = false) {
    const bigquery::ProcessLimits limits = bounds_.limits();
    for (const auto& pool : pools_) {
      mostConnections_ = std::max(mostConnections_, pool->connectionCount());
      if (!dedicated && pool->connectionCount() > static_cast<size_t>(limits.maxConnections)) {
        violations.push_back(fmt::format("{} connections, at most {} are allowed",
                                         pool->connectionCount(), limits.maxConnections));
      }
    }
    // A row for each subtask may go beyond the bound: one with nothing under way is never held up.
    constexpr size_t kLongestRow = 40;
    const auto most = limits.maxBufferedBytes + static_cast<int64_t>(subtasks * kLongestRow);
    boundReached_ = boundReached_ || bounds_.buffered() >= limits.maxBufferedBytes;
    if (bounds_.buffered() > most) {
      violations.push_back(fmt::format("{} bytes are buffered, {} are allowed", bounds_.buffered(),
                                       limits.maxBufferedBytes));
    }
  }

  void checkNothingIsLeft(std::vector<std::string>& violations) const {
    for (const auto& pool : pools_) {
      if (pool->connectionCount() != 0) {
        violations.push_back(fmt::format("{} connections are left after every writer has closed",
                                         pool->connectionCount()));
      }
      if (pool->inflightRequests() != 0) violations.push_back("permits are left");
    }
    if (bounds_.buffered() != 0 || bounds_.sealed() != 0) {
      violations.push_back(fmt::format("{} buffered bytes are left, {} of them sealed",
                                       bounds_.buffered(), bounds_.sealed()));
    }
  }

  /// More connections than the floor were opened.
  [[nodiscard]] bool grown() const {
    return mostConnections_ > static_cast<size_t>(bounds_.limits().minConnections);
  }
  [[nodiscard]] bool boundReached() const { return boundReached_; }

 private:
  const std::vector<std::shared_ptr<bigquery::AppendPool>>& pools_;
  const bigquery::ProcessBounds& bounds_;
  size_t mostConnections_ = 0;
  bool boundReached_ = false;
};

}  // namespace penstock::simulation
