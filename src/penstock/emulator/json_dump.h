#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace penstock::emulator {

/// The value as JSON text on one line, in which no tab and no line break is left as it is. Bytes
/// that are not UTF-8 (the REST face lets none in) become U+FFFD rather than an exception.
[[nodiscard]] std::string dumped(const nlohmann::json& value);

}  // namespace penstock::emulator
