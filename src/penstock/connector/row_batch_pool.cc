#include "penstock/connector/row_batch_pool.h"

#include <new>

namespace penstock::connector {

RowBatchPool::~RowBatchPool() {
  base::MutexLock lock(mutex_);
  for (RowBatch* batch : free_) batch->~RowBatch();  // each that is not held it in being
}

std::shared_ptr<RowBatch> RowBatchPool::acquire() {
  RowBatch* batch = nullptr;
  {
    base::MutexLock lock(mutex_);
    if (free_.empty()) {
      batch = new (memory_.allocate(sizeof(RowBatch), alignof(RowBatch))) RowBatch(chunks_);
    } else {
      batch = free_.back();
      free_.pop_back();
    }
  }
  return {batch, [pool = shared_from_this()](RowBatch* returned) { pool->takeBack(returned); }};
}

void RowBatchPool::takeBack(RowBatch* batch) {
  batch->clear();  // its chunks go back now, whatever becomes of the rest
  base::MutexLock lock(mutex_);
  if (free_.size() >= kMaxFree) batch->shrink();
  free_.push_back(batch);
}

}  // namespace penstock::connector
