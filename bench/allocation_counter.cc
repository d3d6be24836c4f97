// Replaces operator new of the whole process, shared libraries included, by one that counts.

#include "bench/allocation_counter.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace penstock::bench {
namespace {

/// The program's own code in memory.
struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

int findOwnCode(dl_phdr_info* info, size_t, void* to) {
  auto* range = static_cast<CodeRange*>(to);
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const ElfW(Phdr)& header = info->dlpi_phdr[index];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    range->begin = info->dlpi_addr + header.p_vaddr;
    range->end = range->begin + header.p_memsz;
  }
  return 1;  // the program itself is the first: stop here
}

CodeRange ownCode() {
  CodeRange range;
  dl_iterate_phdr(findOwnCode, &range);
  return range;
}

/// One thread's counts: written by it alone, unless there are more threads than slots.
struct alignas(64) Slot {
  std::atomic<uint64_t> own{0};
  std::atomic<uint64_t> library{0};
};

constexpr size_t kSlots = 256;
std::array<Slot, kSlots> slots;
std::atomic<size_t> threads{0};

Slot& slotOfThread() {
  thread_local Slot* slot =
      &slots[std::min(threads.fetch_add(1, std::memory_order_relaxed), kSlots - 1)];
  return *slot;
}

void count(const void* caller) {
  // operator new may run before this file's own initialization: the range is found on first use.
  static const CodeRange own = ownCode();
  const auto address = reinterpret_cast<uintptr_t>(caller);
  Slot& slot = slotOfThread();
  std::atomic<uint64_t>& counter =
      address >= own.begin && address < own.end ? slot.own : slot.library;
  counter.fetch_add(1, std::memory_order_relaxed);
}

void* allocate(std::size_t size, std::size_t alignment, const void* caller) {
  count(caller);
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocateOrThrow(std::size_t size, std::size_t alignment, const void* caller) {
  void* memory = allocate(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace

AllocationCounts allocationCounts() {
  AllocationCounts counts;
  for (const Slot& slot : slots) {
    counts.own += slot.own.load(std::memory_order_relaxed);
    counts.library += slot.library.load(std::memory_order_relaxed);
  }
  return counts;
}

}  // namespace penstock::bench

using penstock::bench::allocate;
using penstock::bench::allocateOrThrow;
using penstock::bench::kUsual;

#define PENSTOCK_CALLER __builtin_return_address(0)

void* operator new(std::size_t size) { return allocateOrThrow(size, kUsual, PENSTOCK_CALLER); }
void* operator new[](std::size_t size) { return allocateOrThrow(size, kUsual, PENSTOCK_CALLER); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocateOrThrow(size, static_cast<std::size_t>(alignment), PENSTOCK_CALLER);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocateOrThrow(size, static_cast<std::size_t>(alignment), PENSTOCK_CALLER);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, kUsual, PENSTOCK_CALLER);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, kUsual, PENSTOCK_CALLER);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
