#pragma once

#include <string>

#include "penstock/base/status.h"

namespace penstock::command {

/// A whole file of text; a UTF-8 byte-order mark at its head is left out. Errors do not name the
/// file: missing or unreadable, a directory, UTF-16 or UTF-32.
[[nodiscard]] absl::StatusOr<std::string> readTextFile(const std::string& path);

}  // namespace penstock::command
