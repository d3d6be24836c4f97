#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "penstock/bigquery/sink/destination_context.h"
#include "penstock/bigquery/sink/sealed_batch.h"
#include "penstock/bigquery/sink/sink_statistics.h"

namespace penstock::bigquery {

/// The rows of one destination until they are handed to a connection: the batch that is being
/// filled, and full ones that wait their turn. Knows what a request may hold (BQW-023, BQW-030,
/// BQW-032). Task thread only.
class PendingRows {
 public:
  explicit PendingRows(DestinationContext& context) : context_(context) {}

  /// Reads the limits off the options and the destination's target, which must be prepared.
  /// `atOffsets`: requests go to a stream of the writer's own, and say where.
  void measure(bool atOffsets);

  connector::RowBatch& batch() {
    if (!batch_) batch_ = context_.shared().batches->acquire();
    return *batch_;
  }
  [[nodiscard]] bool hasBatch() const { return batch_ != nullptr && !batch_->empty(); }
  [[nodiscard]] size_t unsentBytes() const { return batch_ ? batch_->framedBytes() : 0; }
  /// While the batch is within so many framed bytes and kMaxRowsPerAppend rows, onRowCommitted has
  /// nothing to do.
  [[nodiscard]] size_t batchBytesToLookAgain() const {
    // The rows' own bytes are never more than the framed ones.
    return std::min(maxBatchRowBytes_, maxBatchFramedBytes_);
  }

  /// After a row was committed to batch(), and measure(): seals what is due. The row comes back if
  /// no request can hold it. True: there is something to send, or the row came back.
  bool onRowCommitted(std::optional<connector::FailedRecord>* refused);
  /// An empty batch holds nothing.
  void onRowDiscarded() {
    if (batch_ && batch_->empty()) batch_.reset();
  }
  /// Ends the batch, if there is one.
  void seal();

  /// Full batches, the oldest first.
  [[nodiscard]] std::deque<SealedBatch>& sealed() { return sealed_; }
  [[nodiscard]] const std::deque<SealedBatch>& sealed() const { return sealed_; }
  [[nodiscard]] bool empty() const { return !hasBatch() && sealed_.empty(); }
  /// Lets go of a batch without rows.
  void rest() {
    if (!hasBatch()) batch_.reset();
  }
  void clear() {
    batch_.reset();
    sealed_.clear();
  }

  void addTo(DestinationStatistics& statistics) const;

 private:
  using Rows = std::shared_ptr<connector::RowBatch>;

  void seal(Rows rows);
  [[nodiscard]] connector::FailedRecord takeOversizedRow();

  DestinationContext& context_;
  size_t requestOverhead_ = 0;  // bytes of a request besides its framed rows
  size_t maxBatchRowBytes_ = 0;
  size_t maxBatchFramedBytes_ = 0;
  Rows batch_;  // being filled; null when nothing is
  std::deque<SealedBatch> sealed_;
};

}  // namespace penstock::bigquery
