#pragma once

#include <string>
#include <system_error>

#include "penstock/base/status.h"

namespace penstock::runtime {

/// "No such file or directory" for an errno value. Unlike strerror safe in any thread.
[[nodiscard]] inline std::string systemErrorText(int error) {
  return std::generic_category().message(error);
}

/// A status with the code that fits `error` and "`what`: `the system's text`".
[[nodiscard]] inline absl::Status systemError(int error, std::string_view what) {
  return absl::Status(absl::ErrnoToStatusCode(error),
                      fmt::format("{}: {}", what, systemErrorText(error)));
}

}  // namespace penstock::runtime
