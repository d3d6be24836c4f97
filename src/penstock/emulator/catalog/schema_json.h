#pragma once

#include <nlohmann/json_fwd.hpp>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// A schema out of the REST form ({"fields": [...]}), checked by the service's rules: known types
/// and modes, names (characters, length, reserved prefixes, no two alike but for case), a RECORD
/// with fields and at most 15 levels of them, type parameters in bounds, a RANGE's element type.
/// kInvalidArgument names the field. Keys that the emulator has no use for are left out.
absl::StatusOr<Schema> parseSchema(const nlohmann::json& schema);

/// The REST form, with the legacy type names that the service answers with and integers as strings.
[[nodiscard]] nlohmann::json schemaJson(const Schema& schema);

}  // namespace penstock::emulator
