#include "penstock/base/duration.h"

#include <array>

#include "penstock/base/quantity.h"
#include "penstock/base/text.h"

namespace penstock::base {
namespace {

// Largest first: formatting takes the first that divides.
constexpr std::array<Unit, 7> kDurationUnits = {{{"d", 86'400'000'000'000},
                                                 {"h", 3'600'000'000'000},
                                                 {"min", 60'000'000'000},
                                                 {"s", 1'000'000'000},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};

absl::Status malformed(std::string_view text) {
  return invalidArgument(
      "'{}' is not a duration: expected a number and a unit (ns, us, ms, s, min, h, d), "
      "like 500ms or 5 min",
      text);
}

absl::Status tooLong(std::string_view text) {
  return invalidArgument("'{}' is too long: at most 2^63-1 ns, about 292 years", text);
}

}  // namespace

absl::StatusOr<Duration> parseDuration(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest.empty()) return malformed(text);
  int64_t total = 0;
  while (!rest.empty()) {
    const Quantity part = takeQuantity(rest, kDurationUnits);
    switch (part.problem) {
      case Quantity::Problem::kNone:
        break;
      case Quantity::Problem::kTooLarge:
        return tooLong(text);
      case Quantity::Problem::kTooFine:
        return invalidArgument("'{}' is finer than a nanosecond", text);
      case Quantity::Problem::kMalformed:
      case Quantity::Problem::kUnknownUnit:
        return malformed(text);
    }
    if (!part.hasUnit && part.value != 0) return malformed(text);
    if (__builtin_add_overflow(total, part.value, &total)) return tooLong(text);
  }
  return Duration(total);
}

std::string formatDuration(Duration duration) {
  const int64_t count = duration.count();
  if (count == 0) return "0 s";
  for (const Unit& unit : kDurationUnits) {
    if (count % unit.factor == 0) return fmt::format("{} {}", count / unit.factor, unit.name);
  }
  return fmt::format("{} ns", count);
}

}  // namespace penstock::base
