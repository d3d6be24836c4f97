#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/base/metrics.h"
#include "penstock/bigquery/sink/process_bounds.h"
#include "penstock/bigquery/sink/unsent_batches.h"

namespace penstock::bigquery {

/// What one writer holds of rows that nobody has acknowledged: those it still collects (unsent),
/// and those it has sealed into requests, which are on their way whatever may delay them. Draws on
/// the process's `maxBufferedBytes` and says what is to be done near that bound (BQW-033). Task
/// thread only.
///
/// Above seven eighths of the bound the largest unsent batches are sent, as many as it takes for
/// the total to come back below that once what is sealed has been acknowledged; at the bound rows
/// wait. A writer with nothing sealed never waits: whoever waits has an acknowledgement to come
/// that wakes it, so writers cannot wait for one another.
class BufferAccount {
 public:
  BufferAccount(std::shared_ptr<ProcessBounds> bounds, base::Gauge& gauge)
      : bounds_(std::move(bounds)), gauge_(gauge) {}
  ~BufferAccount() { close(); }
  BufferAccount(const BufferAccount&) = delete;
  BufferAccount& operator=(const BufferAccount&) = delete;

  /// The destination's unsent rows are so many bytes now.
  void setUnsent(connector::DestinationId destination, size_t bytes) {
    unsent_.set(destination, bytes);
    settle();
  }
  /// Has what setUnsent() needs brought into the cache.
  void prefetch(connector::DestinationId destination) const { unsent_.prefetch(destination); }
  void addSealed(int64_t bytes) {
    sealed_ += bytes;
    bounds_->addSealed(bytes);
    settle();
  }

  /// Whether nothing is to be done for a while: less than seven eighths of the bound is taken.
  [[nodiscard]] bool isRelaxed() const {
    return bounds_->buffered() <= softLimit(bounds_->maxBuffered());
  }
  /// The destination whose unsent rows are to be sent now, if any. Ask again after sending.
  [[nodiscard]] std::optional<connector::DestinationId> toSend() const;
  /// Whether the next row has to wait.
  [[nodiscard]] bool mustWait();
  /// Whether others hold what is too much: nothing of this writer's own can be sent.
  [[nodiscard]] bool othersHoldUnsent() const {
    return unsent_.bytes() == 0 && bounds_->sealed() < excess();
  }

  /// So many bytes may be collected before they are counted.
  [[nodiscard]] size_t step() const { return static_cast<size_t>(bounds_->bufferStep()); }
  [[nodiscard]] int64_t unsent() const { return static_cast<int64_t>(unsent_.bytes()); }
  [[nodiscard]] int64_t sealed() const { return sealed_; }
  /// Gives everything back.
  void close();

 private:
  static int64_t softLimit(int64_t limit) { return limit - limit / 8; }
  // What acknowledgements must take away for the total to be in order again.
  [[nodiscard]] int64_t excess() const {
    return bounds_->buffered() - softLimit(bounds_->maxBuffered());
  }
  /// Brings gauge and process up to date. The process is told in steps: one number that every
  /// thread changes with every row would be slower than the rows.
  void settle() {
    const int64_t held = unsent() + sealed_;
    gauge_.set(held);
    if (held > drawn_ || drawn_ - held > 2 * bounds_->bufferStep() || (held == 0 && drawn_ != 0)) {
      draw(held);
    }
  }
  void draw(int64_t held);

  const std::shared_ptr<ProcessBounds> bounds_;
  base::Gauge& gauge_;
  UnsentBatches unsent_;
  int64_t sealed_ = 0;
  int64_t drawn_ = 0;  // of the process's bound; at least what is held
  bool waiting_ = false;
};

}  // namespace penstock::bigquery
