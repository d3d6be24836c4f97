#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fault.h"

namespace penstock::simulation {

/// Which part of a seed's schedule is played: all of it, or what shrinking has left. Whatever is
/// left out, everything before it happens as in the whole.
struct Excerpt {
  uint64_t seed = 0;
  int records = INT_MAX;  ///< of each split, the first so many
  int faults = INT_MAX;   ///< the first so many that strike
  int crashes = INT_MAX;  ///< the first so many
  int lastCrash = -1;     ///< the last of them comes so many steps after its start; < 0: as drawn
  uint32_t without = 0;   ///< faults that never strike, a bit each

  [[nodiscard]] bool has(Fault fault) const {
    return (without >> static_cast<unsigned>(fault) & 1) == 0;
  }
  void leaveOut(Fault fault) { without |= uint32_t{1} << static_cast<unsigned>(fault); }

  /// "12 records=5 faults=1 crashes=2 last-crash=40 without=silence,slow", and back; nothing if it
  /// is not like that.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<Excerpt> parse(std::string_view text);
};

}  // namespace penstock::simulation
