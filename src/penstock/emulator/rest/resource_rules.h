#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "penstock/base/status.h"

/// What the service asks of names, labels and locations, whatever resource has them. Errors are
/// kInvalidArgument.
namespace penstock::emulator {

/// Letters, digits and underscores, at most 1,024.
[[nodiscard]] absl::Status checkDatasetId(const std::string& id);
/// At most 1,024 bytes, without the characters that names of tables cannot have.
[[nodiscard]] absl::Status checkTableId(const std::string& id);

/// {"key": "value", ...} of at most 64 labels: lower-case letters, digits, underscores and dashes,
/// at most 63 characters; a key begins with a letter. Letters of scripts without case are fine.
[[nodiscard]] absl::Status checkLabels(const nlohmann::json& labels);

/// A location as the service shows it: multi-regions in upper case ("US", "EU"), regions in lower
/// case ("europe-west1"), however it was given.
[[nodiscard]] absl::StatusOr<std::string> canonicalLocation(const std::string& location);

}  // namespace penstock::emulator
