#pragma once

#include <chrono>
#include <thread>

#include "penstock/base/retry_schedule.h"

namespace penstock::command {

/// How often a question of the command itself is asked where the answer says that the service is
/// busy or failing for now: somebody waits for it, so not for long.
inline constexpr base::RetrySchedule kAskingSchedule{
    .initialBackoff = std::chrono::milliseconds(500),
    .maxBackoff = std::chrono::seconds(2),
    .maxAttempts = 3};

/// The first answer of `ask` that `isPassing` does not hold for, or the last one.
template <typename Ask, typename IsPassing>
[[nodiscard]] auto askPatiently(Ask&& ask, IsPassing&& isPassing) {
  const auto random = base::systemRandom();
  for (int attempt = 1;; ++attempt) {
    auto answer = ask();
    if (!isPassing(answer) || !kAskingSchedule.allowsAnotherAfter(attempt)) return answer;
    // There is nothing to wait for but time; a signal ends the process meanwhile.
    std::this_thread::sleep_for(kAskingSchedule.backoff(attempt, *random));
  }
}

}  // namespace penstock::command
