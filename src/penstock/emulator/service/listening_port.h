#pragma once

#include <string>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// Whether a server could listen on host and port now: kUnavailable names both and says what the
/// system says. Asked before gRPC tries, which would print its own account of it.
[[nodiscard]] absl::Status checkCanListen(const std::string& host, int port);

/// "HOST:PORT", an IPv6 address in brackets.
[[nodiscard]] std::string hostAndPort(const std::string& host, int port);

}  // namespace penstock::emulator
