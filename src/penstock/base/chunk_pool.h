#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "penstock/base/mutex.h"

namespace penstock::base {

class ChunkPool;
struct ChunkSlab;

/// A piece of memory that rows are written into and that a transport may go on reading after
/// everyone else has let go of it: counted references, the last one returns it to its pool, on any
/// thread.
class Chunk {
 public:
  char* data() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  [[nodiscard]] size_t capacity() const { return capacity_; }

  void addReference() { references_.fetch_add(1, std::memory_order_relaxed); }
  /// Gives up one reference; at the last the memory goes back to the pool.
  void release();

 private:
  friend class ChunkPool;  // makes chunks and links free ones
  Chunk(ChunkPool* pool, ChunkSlab* slab, size_t capacity)
      : pool_(pool), slab_(slab), capacity_(capacity) {}

  std::atomic<uint32_t> references_{1};
  ChunkPool* pool_;
  ChunkSlab* slab_;  // that it lies in; null = in the heap
  size_t capacity_;
  // Among the free chunks of its size.
  Chunk* next_ = nullptr;
  Chunk* previous_ = nullptr;
};

/// Recycles chunks of 4, 16 and 64 KiB (header included); larger ones are made and freed as asked.
/// Keeps at most `kMaxFreeBytes` of free chunks, and what lies between chunks in use. Thread-safe;
/// must outlive its chunks.
///
/// The first few come from the heap. With thousands of tables chunks are written in turn, each to
/// be found anew in the page tables, which takes as long as writing a row: from `kHeapBytes` on
/// they are cut from slabs of 2 MiB, which the kernel backs with huge pages where it may.
class ChunkPool {
 public:
  static constexpr size_t kMaxFreeBytes = size_t{64} << 20;
  static constexpr size_t kHeapBytes = size_t{4} << 20;
  static constexpr size_t kSmallest = 4096 - sizeof(Chunk);
  static constexpr size_t kMiddle = 16384 - sizeof(Chunk);
  static constexpr size_t kLargestPooled = 65536 - sizeof(Chunk);

  ChunkPool() = default;
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  /// The process's pool; never destroyed, since a transport may drop its last slice very late.
  static ChunkPool& process();

  /// A chunk of at least `minimum` usable bytes with one reference.
  [[nodiscard]] Chunk* acquire(size_t minimum);

  /// Chunks that someone still holds; 0 when nothing leaks.
  [[nodiscard]] size_t chunksInUse() const { return inUse_.load(std::memory_order_relaxed); }
  /// Slabs that chunks are cut from at present.
  [[nodiscard]] size_t slabs() const;

 private:
  friend class Chunk;  // returns itself
  static constexpr std::array<size_t, 3> kClasses = {4096, 16384, 65536};

  Chunk* takeFree(size_t index) PENSTOCK_REQUIRES(mutex_);
  /// A new chunk out of a slab; null without memory.
  Chunk* cut(size_t index) PENSTOCK_REQUIRES(mutex_);
  void link(Chunk* chunk, size_t index) PENSTOCK_REQUIRES(mutex_);
  void unlink(Chunk* chunk, size_t index) PENSTOCK_REQUIRES(mutex_);
  void removeSlab(ChunkSlab* slab, size_t index) PENSTOCK_REQUIRES(mutex_);
  void takeBack(Chunk* chunk);

  mutable Mutex mutex_;
  std::array<Chunk*, 3> free_ PENSTOCK_GUARDED_BY(mutex_) = {};
  std::array<ChunkSlab*, 3> newest_ PENSTOCK_GUARDED_BY(mutex_) = {};  // not all cut, or null
  size_t freeBytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  size_t heapBytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // of pooled sizes, free or not
  size_t slabs_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> inUse_{0};
};

}  // namespace penstock::base
