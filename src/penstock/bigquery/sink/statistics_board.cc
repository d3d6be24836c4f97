#include "penstock/bigquery/sink/statistics_board.h"

#include <utility>

#include "penstock/base/clock.h"

namespace penstock::bigquery {

uint64_t StatisticsBoard::request() {
  uint64_t ticket = 0;
  {
    base::MutexLock lock(mutex_);
    ticket = ++requests_;
    if (closed_) return ticket;
    wanted_.store(true, std::memory_order_relaxed);
  }
  wake_();
  return ticket;
}

WriterStatistics StatisticsBoard::latest(uint64_t ticket, base::MonotonicTime until) const {
  base::MutexLock lock(mutex_);
  while (!closed_ && answered_ < ticket && base::systemClock().now() < until) {
    published_.waitUntil(mutex_, until);
  }
  return latest_;
}

void StatisticsBoard::publish(WriterStatistics statistics) {
  base::MutexLock lock(mutex_);
  wanted_.store(false, std::memory_order_relaxed);
  latest_ = std::move(statistics);
  answered_ = requests_;
  published_.notifyAll();
}

void StatisticsBoard::publishFinal(WriterStatistics statistics) {
  publish(std::move(statistics));
  base::MutexLock lock(mutex_);
  closed_ = true;
  published_.notifyAll();
}

}  // namespace penstock::bigquery
