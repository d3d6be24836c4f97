#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"

namespace penstock::base {

/// Reads a duration as people write it: a number and a unit, "500ms", "5 min", "1.5 h", or several
/// of them, largest first or not, which add up: "1h 30min". Units: ns, us, ms, s, min, h, d. A bare
/// "0" is zero. Signs, exponents and months are refused. At most 2^63-1 ns, about 292 years
/// (BASE-003). What is finer than a nanosecond is refused, never rounded away.
[[nodiscard]] absl::StatusOr<Duration> parseDuration(std::string_view text);

/// In the largest unit that shows it exactly: "500 ms", "5 min", "90 s", "0 s".
[[nodiscard]] std::string formatDuration(Duration duration);

/// In seconds and their fractions.
[[nodiscard]] constexpr double inSeconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace penstock::base
