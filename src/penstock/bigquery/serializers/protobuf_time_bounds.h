#pragma once

#include <cstdint>

/// What google.protobuf.Timestamp and Duration may hold (their .proto files).
namespace penstock::bigquery {

inline constexpr int32_t kMaxNanos = 999'999'999;
inline constexpr int64_t kMinTimestampSeconds = -62'135'596'800;  ///< 0001-01-01T00:00:00Z
inline constexpr int64_t kMaxTimestampSeconds = 253'402'300'799;  ///< 9999-12-31T23:59:59Z
inline constexpr int64_t kMaxDurationSeconds = 315'576'000'000;   ///< either way

}  // namespace penstock::bigquery
