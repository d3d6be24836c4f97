#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"

namespace penstock::emulator {

/// What datasets.insert is asked to make, checked by the service's rules: name, location, labels,
/// expirations. The location is `defaultLocation` where the body names none. kInvalidArgument.
absl::StatusOr<DatasetDefinition> parseDatasetDefinition(const DatasetReference& reference,
                                                         const nlohmann::json& body,
                                                         const std::string& defaultLocation);

/// The properties that a dataset has after datasets.patch (a member that is null goes) or
/// datasets.update (a member that is left out goes). The location cannot change.
absl::StatusOr<std::string> changedDataset(const Dataset& live, const nlohmann::json& body,
                                           bool patch);

}  // namespace penstock::emulator
