#pragma once

#include <chrono>

/// Time as the cores see it: always through a Clock, so that a simulation can own it.
namespace penstock::base {

using Duration = std::chrono::nanoseconds;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// "Never": later than every deadline.
inline constexpr MonotonicTime kNever = MonotonicTime::max();

/// `now + budget`, saturating at kNever: the largest budget is "effectively unbounded" and must not
/// overflow into the past (BASE-004). A negative budget gives `now`.
[[nodiscard]] constexpr MonotonicTime deadlineAfter(MonotonicTime now, Duration budget) {
  if (budget <= Duration::zero()) return now;
  if (now.time_since_epoch() > Duration::max() - budget) return kNever;
  return now + budget;
}

/// Source of time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic: for deadlines, timers and ages.
  [[nodiscard]] virtual MonotonicTime now() const = 0;
  /// Wall clock: for what people read and for token expiry; may jump.
  [[nodiscard]] virtual WallTime wallNow() const = 0;
};

/// The machine's clock.
[[nodiscard]] Clock& systemClock();

}  // namespace penstock::base
