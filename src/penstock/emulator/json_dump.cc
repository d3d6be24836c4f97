#include "penstock/emulator/json_dump.h"

#include <nlohmann/json.hpp>

namespace penstock::emulator {

std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace penstock::emulator
