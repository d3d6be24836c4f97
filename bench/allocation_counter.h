#pragma once

#include <cstdint>

namespace penstock::bench {

/// Calls of operator new since the process began, over all threads, by who made them.
struct AllocationCounts {
  uint64_t own = 0;  ///< return address in this program: Penstock, generated and header code
  uint64_t library =
      0;  ///< return address in a shared library: gRPC, protobuf, the standard library
};

[[nodiscard]] AllocationCounts allocationCounts();

}  // namespace penstock::bench
