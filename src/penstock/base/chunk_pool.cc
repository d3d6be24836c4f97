#include "penstock/base/chunk_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "penstock/base/sanitizers.h"

#if PENSTOCK_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace penstock::base {

/// Memory for many chunks of one size; its own description lies behind them.
struct ChunkSlab {
  char* memory;
  size_t cut = 0;  // chunks made so far, one behind the other
  size_t inUse = 0;
};

namespace {

constexpr size_t kSlabBytes = size_t{2} << 20;  // a huge page
constexpr size_t kCacheLine = 64;

// A line more than the chunk: equal places of neighbouring chunks would compete for the same sets
// of the cache.
constexpr size_t strideOf(size_t bytes) { return bytes + kCacheLine; }
constexpr size_t chunksOf(size_t bytes) {
  return (kSlabBytes - sizeof(ChunkSlab)) / strideOf(bytes);
}

size_t classOf(size_t bytes, const std::array<size_t, 3>& classes) {
  size_t index = 0;
  while (index < classes.size() && bytes > classes[index]) ++index;
  return index;
}

/// Null without memory.
char* mapSlab() {
  // Twice as much, to have an aligned one in it; the rest is given back.
  void* const mapped =
      ::mmap(nullptr, 2 * kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) & (kSlabBytes - 1);
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + kSlabBytes, kSlabBytes - before);
  ::madvise(begin + before, kSlabBytes, MADV_HUGEPAGE);  // a wish: small pages do as well
#if PENSTOCK_ADDRESS_SANITIZER
  // A free chunk of the heap may be known only by one of a slab, where LeakSanitizer does not look.
  __lsan_register_root_region(begin + before, kSlabBytes);
#endif
  return begin + before;
}

void unmapSlab(char* memory) {
#if PENSTOCK_ADDRESS_SANITIZER
  __lsan_unregister_root_region(memory, kSlabBytes);
#endif
  ::munmap(memory, kSlabBytes);
}

}  // namespace

void Chunk::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) pool_->takeBack(this);
}

ChunkPool& ChunkPool::process() {
  static ChunkPool* pool = new ChunkPool;
  return *pool;
}

ChunkPool::~ChunkPool() {
  MutexLock lock(mutex_);
  for (size_t index = 0; index < kClasses.size(); ++index) {
    while (Chunk* const chunk = free_[index]) {
      if (chunk->slab_ != nullptr) {
        removeSlab(chunk->slab_, index);
      } else {
        unlink(chunk, index);
        std::free(chunk);
      }
    }
  }
}

size_t ChunkPool::slabs() const {
  MutexLock lock(mutex_);
  return slabs_;
}

Chunk* ChunkPool::acquire(size_t minimum) {
  inUse_.fetch_add(1, std::memory_order_relaxed);
  size_t bytes = minimum + sizeof(Chunk);
  if (const size_t index = classOf(bytes, kClasses); index < kClasses.size()) {
    bytes = kClasses[index];
    MutexLock lock(mutex_);
    if (free_[index] != nullptr) return takeFree(index);
    if (heapBytes_ + bytes > kHeapBytes) {
      if (Chunk* const chunk = cut(index); chunk != nullptr) return chunk;
    }
    heapBytes_ += bytes;
  }
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();  // nothing sensible is left to do without memory
  return new (memory) Chunk(this, nullptr, bytes - sizeof(Chunk));
}

Chunk* ChunkPool::takeFree(size_t index) {
  Chunk* const chunk = free_[index];
  unlink(chunk, index);
  if (chunk->slab_ != nullptr) ++chunk->slab_->inUse;
  chunk->references_.store(1, std::memory_order_relaxed);
  return chunk;
}

void ChunkPool::takeBack(Chunk* chunk) {
  inUse_.fetch_sub(1, std::memory_order_relaxed);
  const size_t bytes = chunk->capacity_ + sizeof(Chunk);
  if (const size_t index = classOf(bytes, kClasses); index < kClasses.size()) {
    MutexLock lock(mutex_);
    if (ChunkSlab* const slab = chunk->slab_; slab != nullptr) {
      link(chunk, index);
      if (--slab->inUse == 0 && freeBytes_ > kMaxFreeBytes) removeSlab(slab, index);
      return;
    }
    if (freeBytes_ + bytes <= kMaxFreeBytes) return link(chunk, index);
    heapBytes_ -= bytes;
  }
  std::free(chunk);
}

void ChunkPool::link(Chunk* chunk, size_t index) {
  chunk->previous_ = nullptr;
  chunk->next_ = free_[index];
  if (chunk->next_ != nullptr) chunk->next_->previous_ = chunk;
  free_[index] = chunk;
  freeBytes_ += kClasses[index];
}

void ChunkPool::unlink(Chunk* chunk, size_t index) {
  (chunk->previous_ == nullptr ? free_[index] : chunk->previous_->next_) = chunk->next_;
  if (chunk->next_ != nullptr) chunk->next_->previous_ = chunk->previous_;
  freeBytes_ -= kClasses[index];
}

Chunk* ChunkPool::cut(size_t index) {
  ChunkSlab*& slab = newest_[index];
  if (slab == nullptr) {
    char* const memory = mapSlab();
    if (memory == nullptr) return nullptr;
    slab = new (memory + kSlabBytes - sizeof(ChunkSlab)) ChunkSlab{memory};
    ++slabs_;
  }
  char* const memory = slab->memory + slab->cut * strideOf(kClasses[index]);
  Chunk* const chunk = new (memory) Chunk(this, slab, kClasses[index] - sizeof(Chunk));
  ++slab->inUse;
  if (++slab->cut == chunksOf(kClasses[index])) slab = nullptr;
  return chunk;
}

void ChunkPool::removeSlab(ChunkSlab* slab, size_t index) {
  for (size_t at = 0; at < slab->cut; ++at) {
    unlink(reinterpret_cast<Chunk*>(slab->memory + at * strideOf(kClasses[index])), index);
  }
  if (newest_[index] == slab) newest_[index] = nullptr;
  unmapSlab(slab->memory);
  --slabs_;
}

}  // namespace penstock::base
