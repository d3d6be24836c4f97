#include "apps/penstock/job_metrics.h"

namespace penstock::command {

std::shared_ptr<base::MetricGroup> JobMetrics::add(int subtask) {
  base::MutexLock lock(mutex_);
  return groups_.emplace_back(Group{subtask, std::make_shared<base::MetricGroup>()}).metrics;
}

uint64_t JobMetrics::counter(std::string_view name) const {
  base::MutexLock lock(mutex_);
  uint64_t sum = 0;
  for (const Group& group : groups_) sum += group.metrics->counter(name).value();
  return sum;
}

int64_t JobMetrics::gauge(std::string_view name) const {
  base::MutexLock lock(mutex_);
  int64_t sum = 0;
  for (const Group& group : groups_) sum += group.metrics->gauge(name).value();
  return sum;
}

std::vector<JobMetrics::Subtask> JobMetrics::snapshot() const {
  base::MutexLock lock(mutex_);
  std::vector<Subtask> subtasks;
  subtasks.reserve(groups_.size());
  for (const Group& group : groups_) {
    subtasks.push_back({group.subtask, group.metrics->snapshot()});
  }
  return subtasks;
}

}  // namespace penstock::command
