#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"

namespace penstock::base {

/// A count that only grows. Written by one thread, read by any (BASE-042).
class Counter {
 public:
  void add(uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// A value that goes up and down. Any thread.
class Gauge {
 public:
  void set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(int64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  [[nodiscard]] int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// Named counters and gauges of one writer. A metric is created on first use and never removed
/// (BASE-041); the references stay valid as long as the group. Names are lowerCamelCase, dotted for
/// lazy families: `errorClass.UNAVAILABLE.errors`. Thread-safe.
class MetricGroup {
 public:
  Counter& counter(std::string_view name);
  Gauge& gauge(std::string_view name);

  struct Snapshot {
    std::map<std::string, uint64_t> counters;
    std::map<std::string, int64_t> gauges;
  };
  [[nodiscard]] Snapshot snapshot() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Counter>, std::less<>> counters_
      PENSTOCK_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<Gauge>, std::less<>> gauges_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::base
