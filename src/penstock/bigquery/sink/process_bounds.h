#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/sink/pool_options.h"

namespace penstock::bigquery {

/// What all pools of a process share: the limits that count for the process as a whole (BQW-058),
/// and what has been taken of `maxBufferedBytes` (BQW-033; see BufferAccount).
/// Those of the first writer are in force until the last one has left; a later writer that asks for
/// others goes on with them and its sink is told so once. Thread-safe.
class ProcessBounds {
 public:
  /// The process's own; one of a test's own otherwise.
  static const std::shared_ptr<ProcessBounds>& ofProcess();

  /// A writer begins. Returns the limits that are in force from now on.
  ProcessLimits enter(const ProcessLimits& asked);
  /// It has ended.
  void leave();

  [[nodiscard]] ProcessLimits limits() const;

  [[nodiscard]] int64_t maxBuffered() const { return maxBuffered_.load(std::memory_order_relaxed); }
  /// Row bytes that the writers hold, in steps of each: never less than they do.
  [[nodiscard]] int64_t buffered() const { return buffered_.load(std::memory_order_relaxed); }
  /// Those of them that are on their way.
  [[nodiscard]] int64_t sealed() const { return sealed_.load(std::memory_order_relaxed); }
  void addBuffered(int64_t bytes) { buffered_.fetch_add(bytes, std::memory_order_relaxed); }
  void addSealed(int64_t bytes) { sealed_.fetch_add(bytes, std::memory_order_relaxed); }
  /// How much a writer draws in advance.
  [[nodiscard]] int64_t bufferStep() const {
    return std::min<int64_t>(int64_t{64} << 10, maxBuffered() / 1024);
  }

  /// Warns of each conflict that has not been warned of before. `where`: whose value is in force,
  /// as in "the connections to us". Calls the log hook: hold no lock.
  void warn(const std::vector<OptionConflict>& conflicts, const std::string& where);

 private:
  std::atomic<int64_t> maxBuffered_{ProcessLimits{}.maxBufferedBytes};
  std::atomic<int64_t> buffered_{0};
  std::atomic<int64_t> sealed_{0};
  mutable base::Mutex mutex_;
  ProcessLimits limits_ PENSTOCK_GUARDED_BY(mutex_);
  size_t writers_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::set<std::string> warned_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::bigquery
