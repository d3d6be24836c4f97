#pragma once

#include <memory>
#include <memory_resource>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/connector/row_batch.h"

namespace penstock::connector {

/// Recycles the bookkeeping of batches, so that a busy writer allocates none of it. A batch comes
/// back when its last holder lets go, on any thread. They lie side by side, so that those of
/// thousands of tables share pages, and stay until the pool goes. Thread-safe.
class RowBatchPool : public std::enable_shared_from_this<RowBatchPool> {
 public:
  /// So many free batches keep the capacity of their bookkeeping; more than a connection may have
  /// in flight.
  static constexpr size_t kMaxFree = 256;

  static std::shared_ptr<RowBatchPool> create(
      base::ChunkPool& chunks = base::ChunkPool::process()) {
    return std::shared_ptr<RowBatchPool>(new RowBatchPool(chunks));
  }

  ~RowBatchPool();
  RowBatchPool(const RowBatchPool&) = delete;
  RowBatchPool& operator=(const RowBatchPool&) = delete;

  /// An empty batch.
  [[nodiscard]] std::shared_ptr<RowBatch> acquire();

 private:
  explicit RowBatchPool(base::ChunkPool& chunks) : chunks_(chunks) {}
  void takeBack(RowBatch* batch);

  base::ChunkPool& chunks_;
  base::Mutex mutex_;
  std::pmr::monotonic_buffer_resource memory_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<RowBatch*> free_ PENSTOCK_GUARDED_BY(mutex_);  // all of them in the end
};

}  // namespace penstock::connector
