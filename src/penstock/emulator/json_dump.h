#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace penstock::emulator {

/// The value as JSON text on one line. Bytes that are no UTF-8 become U+FFFD; never throws.
[[nodiscard]] std::string dumped(const nlohmann::json& value);

}  // namespace penstock::emulator
