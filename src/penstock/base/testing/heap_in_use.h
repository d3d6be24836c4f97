#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>

#include "penstock/base/sanitizers.h"

#if PENSTOCK_ADDRESS_SANITIZER || PENSTOCK_THREAD_SANITIZER
#define PENSTOCK_SANITIZED_HEAP
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizers' own; Debian's GCC has no header
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace penstock::base {

/// Bytes that the process has allocated and not freed.
inline int64_t heapInUse() {
#ifdef PENSTOCK_SANITIZED_HEAP
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#endif
}

}  // namespace penstock::base
