#include "penstock/base/retry_schedule.h"

#include <algorithm>

namespace penstock::base {

Duration RetrySchedule::backoff(int attempt, Random& random) const {
  Duration base = std::min(initialBackoff, maxBackoff);
  for (int doubled = 1; doubled < attempt && base < maxBackoff; ++doubled) {
    base = base > maxBackoff / 2 ? maxBackoff : base * 2;
  }
  const double factor = 1.0 - jitter + 2.0 * jitter * random.uniform();
  const double scaled = static_cast<double>(base.count()) * factor;
  constexpr double kLargest = 9.2e18;
  const Duration wait(static_cast<int64_t>(std::min(scaled, kLargest)));
  return std::max<Duration>(wait, std::chrono::milliseconds(1));
}

}  // namespace penstock::base
