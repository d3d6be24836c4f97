#pragma once

#include <cstddef>

/// What one AppendRows request may hold.
namespace penstock::bigquery {

inline constexpr size_t kMaxRowsPerAppend = 65536;          ///< BQW-032
inline constexpr size_t kMaxRowBytes = size_t{9} << 20;     ///< BQW-023
inline constexpr size_t kMaxBatchedRequestBytes = 9961472;  ///< 9.5 MiB, BQW-032
inline constexpr size_t kMaxRequestBytes = 10'000'000;      ///< the service's limit

}  // namespace penstock::bigquery
