#pragma once

#include "penstock/base/retry_schedule.h"

namespace penstock::bigquery {

/// What is waited with for the service to go by a table's new columns: flat, about 15 min, not an
/// option (section 2.3 of the sink's specification).
[[nodiscard]] constexpr base::RetrySchedule schemaWaitSchedule() {
  constexpr base::Duration kWait = std::chrono::seconds(30);
  constexpr int kAttempts = 30;
  return {.initialBackoff = kWait, .maxBackoff = kWait, .maxAttempts = kAttempts};
}

}  // namespace penstock::bigquery
