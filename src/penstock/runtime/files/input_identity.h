#pragma once

#include <span>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/runtime/input_file.h"

namespace penstock::runtime {

/// The inputs as a checkpoint remembers them: a JSON document of each one's absolute path, size and
/// hash of its head.
[[nodiscard]] std::string describeInputs(std::span<const InputFile> files);

/// OK if `stored`, which describeInputs made, says the same of the same files in the same order.
/// Otherwise FAILED_PRECONDITION naming the first file that differs and how; INVALID_ARGUMENT if
/// `stored` cannot be read.
[[nodiscard]] absl::Status checkInputs(std::span<const InputFile> files, std::string_view stored);

}  // namespace penstock::runtime
