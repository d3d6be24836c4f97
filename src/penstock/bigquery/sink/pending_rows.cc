#include "penstock/bigquery/sink/pending_rows.h"

#include <algorithm>

#include "penstock/bigquery/sink/append_request_encoding.h"
#include "penstock/bigquery/sink/request_limits.h"

namespace penstock::bigquery {

void PendingRows::measure(bool atOffsets) {
  AppendRequestHeader header;
  header.stream = context_.target()->stream;
  header.descriptor = context_.target()->descriptor;
  header.fields = context_.target()->missingValues;
  if (atOffsets) header.offset = INT64_MAX;
  header.framedRowBytes = kMaxRequestBytes;  // for the length of the length
  constexpr size_t kTraceId = 64;
  constexpr size_t kLongerName = 64;  // of a stream of our own than the default one's
  requestOverhead_ =
      appendRequestBytes(header) - kMaxRequestBytes + kTraceId + (atOffsets ? kLongerName : 0);
  maxBatchRowBytes_ =
      static_cast<size_t>(context_.options().defaultStreamOptions.maxAppendRequestBytes);
  maxBatchFramedBytes_ =
      kMaxBatchedRequestBytes - std::min(requestOverhead_, kMaxBatchedRequestBytes);
}

bool PendingRows::onRowCommitted(std::optional<connector::FailedRecord>* refused) {
  const size_t rows = batch_->rowCount();
  const bool tooLarge =
      batch_->rowBytes() > maxBatchRowBytes_ || batch_->framedBytes() > maxBatchFramedBytes_;
  if (tooLarge && rows > 1) {
    Rows full = std::move(batch_);
    batch_ = context_.shared().batches->acquire();
    full->moveLastRowTo(*batch_);
    seal(std::move(full));
  }
  if (!tooLarge && rows < kMaxRowsPerAppend) return false;
  const std::string_view last = batch_->row(batch_->rowCount() - 1);
  if (last.size() > kMaxRowBytes || batch_->framedBytes() + requestOverhead_ > kMaxRequestBytes) {
    *refused = takeOversizedRow();
  } else if (batch_->rowCount() >= kMaxRowsPerAppend) {
    seal(std::move(batch_));
  }
  return true;
}

connector::FailedRecord PendingRows::takeOversizedRow() {
  const std::string_view row = batch_->row(0);  // it is alone in the batch
  connector::FailedRecord failure = context_.failedRecord(row, batch_->originOf(0));
  failure.errorMessage = fmt::format(
      "the row has {} bytes; the largest that can be sent is {} (9 MiB), and a request with its "
      "schema at most {}",
      row.size(), kMaxRowBytes, kMaxRequestBytes);
  batch_.reset();
  return failure;
}

void PendingRows::seal() {
  if (hasBatch()) seal(std::move(batch_));
  batch_.reset();
}

void PendingRows::seal(Rows rows) {
  sealed_.emplace_back(std::move(rows), *context_.shared().buffers);
  context_.shared().buffers->setUnsent(context_.id(), unsentBytes());
}

void PendingRows::addTo(DestinationStatistics& statistics) const {
  if (hasBatch()) {
    statistics.bufferedRows = batch_->rowCount();
    statistics.bufferedBytes = batch_->framedBytes();
  }
  statistics.unansweredBatches += sealed_.size();
  for (const SealedBatch& rows : sealed_) statistics.unansweredBytes += rows->framedBytes();
}

}  // namespace penstock::bigquery
