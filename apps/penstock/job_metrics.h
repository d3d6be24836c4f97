#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/metrics.h"
#include "penstock/base/mutex.h"

namespace penstock::command {

/// The metrics of a job's subtasks, a group each. Thread-safe.
class JobMetrics {
 public:
  /// The group of one more subtask.
  [[nodiscard]] std::shared_ptr<base::MetricGroup> add(int subtask);

  /// Over all subtasks.
  [[nodiscard]] uint64_t counter(std::string_view name) const;
  [[nodiscard]] int64_t gauge(std::string_view name) const;

  struct Subtask {
    int index = 0;
    base::MetricGroup::Snapshot metrics;
  };
  [[nodiscard]] std::vector<Subtask> snapshot() const;

 private:
  struct Group {
    int subtask = 0;
    std::shared_ptr<base::MetricGroup> metrics;
  };
  mutable base::Mutex mutex_;
  std::vector<Group> groups_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::command
