#pragma once

#include <chrono>
#include <cstddef>

#include "penstock/base/clock.h"

/// What one AppendRows request may hold, and how long rows may wait to become one.
namespace penstock::bigquery {

inline constexpr size_t kMaxRowsPerAppend = 65536;          ///< BQW-032
inline constexpr size_t kMaxRowBytes = size_t{9} << 20;     ///< BQW-023
inline constexpr size_t kMaxBatchedRequestBytes = 9961472;  ///< 9.5 MiB, BQW-032
inline constexpr size_t kMaxRequestBytes = 10'000'000;      ///< the service's limit

/// How long rows may wait for room in the connections before that is an error (BQW-053).
inline constexpr base::Duration kPatienceForRoom = std::chrono::seconds(300);

}  // namespace penstock::bigquery
