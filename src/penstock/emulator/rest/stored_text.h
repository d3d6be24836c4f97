#pragma once

#include <string>
#include <string_view>

/// Texts that writers may give in more than one form and the service shows in one.
namespace penstock::emulator {

/// An INTERVAL, given as "Y-M D H:M:S[.F]" or as an ISO 8601 duration, in the first form with
/// months below 12, minutes and seconds below 60, and a fraction of three or six digits (nine where
/// it is finer than a microsecond): "1-2 3 4:5:6.500". As it came when it is neither.
[[nodiscard]] std::string shownInterval(std::string_view text);

/// A JSON document without the blanks between its parts.
[[nodiscard]] std::string shownJson(std::string_view text);

}  // namespace penstock::emulator
