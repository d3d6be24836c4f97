#pragma once

#include "penstock/base/clock.h"
#include "penstock/base/random.h"

namespace penstock::base {

/// Exponential backoff with jitter (BASE-036): after attempt n the wait is
/// `min(initial * 2^(n-1), max)` times a factor uniform in [1 - jitter, 1 + jitter], at least 1 ms.
/// The jitter keeps the mean and may exceed `maxBackoff` by 25 %.
struct RetrySchedule {
  Duration initialBackoff = std::chrono::milliseconds(500);  ///< >= 1 ms
  Duration maxBackoff = std::chrono::seconds(10);            ///< >= initialBackoff
  int maxAttempts = 10;  ///< counts the first try (BASE-037); >= 1
  double jitter = 0.25;  ///< not an option; tests use 0

  /// The wait after attempt `attempt` (from 1).
  [[nodiscard]] Duration backoff(int attempt, Random& random) const;

  /// Whether another attempt may follow attempt `attempt`.
  [[nodiscard]] bool allowsAnotherAfter(int attempt) const { return attempt < maxAttempts; }
};

}  // namespace penstock::base
