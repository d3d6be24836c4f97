#pragma once

#include <span>
#include <string>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::runtime {

struct InputPaths {
  std::vector<std::string> paths;    ///< no folder among them; `-` is standard input
  std::vector<std::string> notices;  ///< what was left out and why, one line each
};

/// Finds the files that `arguments` mean: a file or pipe as it is; a folder with everything below
/// it, sorted by name, without names that begin with `.` or `_`; otherwise a pattern of `*`, `?`,
/// `[...]`; `-`. What is reached twice is listed once. Errors name the argument: nothing there, no
/// match, an empty folder, one that cannot be listed, standard input given twice.
[[nodiscard]] absl::StatusOr<InputPaths> findInputs(std::span<const std::string> arguments);

}  // namespace penstock::runtime
