#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/sink/sink_statistics.h"

namespace penstock::bigquery {

/// Where a writer leaves its statistics for other threads: they ask, and it answers on its own
/// thread when it next gets to it. Costs the writer nothing while nobody asks. Thread-safe;
/// outlives the writer for those who hold it.
class StatisticsBoard {
 public:
  /// `wake` makes the writer look here; called on the asker's thread.
  explicit StatisticsBoard(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Asks for new statistics; the answer is a ticket for latest().
  uint64_t request();
  /// The newest statistics; waits for those that `ticket` asked for until `until` at most. A writer
  /// that is busy elsewhere leaves older ones: see their `taken`.
  [[nodiscard]] WriterStatistics latest(uint64_t ticket, base::MonotonicTime until) const;

  // The writer's side.
  [[nodiscard]] bool isWanted() const { return wanted_.load(std::memory_order_relaxed); }
  void publish(WriterStatistics statistics);
  /// The last ones; every request is answered with them from here on.
  void publishFinal(WriterStatistics statistics);

 private:
  const std::function<void()> wake_;
  std::atomic<bool> wanted_{false};
  mutable base::Mutex mutex_;
  mutable base::CondVar published_;
  WriterStatistics latest_ PENSTOCK_GUARDED_BY(mutex_);
  uint64_t requests_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  uint64_t answered_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // the newest request that latest_ answers
  bool closed_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::bigquery
