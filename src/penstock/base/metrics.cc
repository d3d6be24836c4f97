#include "penstock/base/metrics.h"

namespace penstock::base {

Counter& MetricGroup::counter(std::string_view name) {
  MutexLock lock(mutex_);
  auto found = counters_.find(name);
  if (found == counters_.end()) {
    found = counters_.emplace(std::string(name), std::make_unique<Counter>()).first;
  }
  return *found->second;
}

Gauge& MetricGroup::gauge(std::string_view name) {
  MutexLock lock(mutex_);
  auto found = gauges_.find(name);
  if (found == gauges_.end()) {
    found = gauges_.emplace(std::string(name), std::make_unique<Gauge>()).first;
  }
  return *found->second;
}

MetricGroup::Snapshot MetricGroup::snapshot() const {
  MutexLock lock(mutex_);
  Snapshot result;
  for (const auto& [name, counter] : counters_) result.counters[name] = counter->value();
  for (const auto& [name, gauge] : gauges_) result.gauges[name] = gauge->value();
  return result;
}

}  // namespace penstock::base
