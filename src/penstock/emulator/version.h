#pragma once

#include <string_view>

namespace penstock::emulator {

/// Penstock's version, by which the emulator announces itself in the header `x-penstock-emulator`
/// of its answers, on gRPC and on REST.
[[nodiscard]] std::string_view version();

}  // namespace penstock::emulator
