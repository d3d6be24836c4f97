#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/base/clock.h"

namespace penstock::bigquery {

struct SinkOptions;

/// How one connection is used.
struct ConnectionLimits {
  int maxInflightRequests = 100;
  int64_t maxInflightBytes = int64_t{100} << 20;
  base::Duration retryInitialDelay = std::chrono::milliseconds(500);  ///< 0 = none
  double retryDelayMultiplier = 2.0;
  base::Duration retryMaxDelay = std::chrono::seconds(30);  ///< 0 = no delay at all
  int retryMaxAttempts = 5;                                 ///< resends of one request
  base::Duration maxRetryDuration =
      std::chrono::minutes(5);  ///< reconnecting without an answer; 0 = no limit

  friend bool operator==(const ConnectionLimits&, const ConnectionLimits&) = default;
};

/// What counts for a process as a whole, whatever its sinks and their credentials.
struct ProcessLimits {
  int minConnections = 2;   ///< to a location, before load adds more
  int maxConnections = 20;  ///< to a location
  int64_t maxBufferedBytes = int64_t{128} << 20;

  friend bool operator==(const ProcessLimits&, const ProcessLimits&) = default;
};

/// What a sink asks of everything that it shares with other sinks of the process.
struct PoolOptions {
  ConnectionLimits connection;
  ProcessLimits process;
};

[[nodiscard]] PoolOptions poolOptions(const SinkOptions& options);

/// An option of which a sink asked for another value than the one that is in force for all.
struct OptionConflict {
  std::string key;
  std::string asked;
  std::string inForce;
};

[[nodiscard]] std::vector<OptionConflict> conflicts(const ConnectionLimits& inForce,
                                                    const ConnectionLimits& asked);
[[nodiscard]] std::vector<OptionConflict> conflicts(const ProcessLimits& inForce,
                                                    const ProcessLimits& asked);

}  // namespace penstock::bigquery
