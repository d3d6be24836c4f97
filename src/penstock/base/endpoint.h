#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::base {

/// A host and a port, as people write them in one setting.
struct Endpoint {
  std::string host;   ///< verbatim, never empty: IPv6 brackets and `dns:///name` stay as they were
  uint16_t port = 0;  ///< 1..65535

  /// "host:port".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Splits `text` at its last colon (BASE-006). Whitespace is refused, never trimmed; whether the
/// host exists is not asked. `setting` is the name of the setting the caller used; the error shows
/// it, the value and the expected form.
[[nodiscard]] absl::StatusOr<Endpoint> parseEndpoint(std::string_view setting,
                                                     std::string_view text);

}  // namespace penstock::base
