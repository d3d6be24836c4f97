#pragma once

#include <string_view>

#include "penstock/base/status.h"

namespace penstock::base {

/// Whether `value` may stand as one component of a resource path (BASE-001): not blank, no
/// whitespace at its ends, no '/', which would silently address another resource. The services' own
/// naming rules are not repeated here. `what` names the component ("project"); the error shows it
/// and the value.
[[nodiscard]] absl::Status checkResourceComponent(std::string_view what, std::string_view value);

/// For full paths and values that are merely forwarded: not blank.
[[nodiscard]] absl::Status checkNotBlank(std::string_view what, std::string_view value);

}  // namespace penstock::base
