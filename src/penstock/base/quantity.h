#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/base/status.h"

/// Numbers with units, exact: what durations and byte sizes have in common.
namespace penstock::base {

struct Unit {
  std::string_view name;
  int64_t factor = 1;  ///< in the smallest unit
};

struct Quantity {
  enum class Problem { kNone, kMalformed, kUnknownUnit, kTooLarge, kTooFine };
  Problem problem = Problem::kNone;
  int64_t value = 0;      ///< in the smallest unit
  std::string_view unit;  ///< the last unit read
  bool hasUnit = false;
};

/// Takes one number and its unit (letters behind it, blanks between allowed) off the front of
/// `text`. Digits with at most one point, no sign, no exponent. A missing unit counts in the
/// smallest one.
[[nodiscard]] Quantity takeQuantity(std::string_view& text, std::span<const Unit> units);

}  // namespace penstock::base
