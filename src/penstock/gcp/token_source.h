#pragma once

#include <functional>
#include <optional>
#include <string>

#include "penstock/base/status.h"

namespace penstock::gcp {

/// What a request carries to be let in. Never logged.
struct Authorization {
  std::string bearer;        ///< value of the header "authorization": "Bearer ..."
  std::string quotaProject;  ///< value of the header "x-goog-user-project"; empty = none
};

/// Access tokens for gRPC and REST alike (BASE-045). Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// The token in hand, if it is good for a while; near its end a new one is asked for in the
  /// background.
  [[nodiscard]] virtual std::optional<Authorization> current() = 0;

  /// UNAUTHENTICATED: these credentials are refused or there are none; UNAVAILABLE: nobody
  /// answered.
  using Callback = std::function<void(absl::StatusOr<Authorization>)>;
  /// Asks for a new token; for when `current` has none. The callback comes once, on any thread,
  /// never from inside this call.
  virtual void fetch(Callback callback) = 0;
};

}  // namespace penstock::gcp
