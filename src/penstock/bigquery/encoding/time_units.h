#pragma once

#include <cstdint>

namespace penstock::bigquery {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kSecondsPerDay = 86'400;
inline constexpr int64_t kNanosPerMicro = 1'000;

}  // namespace penstock::bigquery
