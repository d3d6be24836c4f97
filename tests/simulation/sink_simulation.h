#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::simulation {

/// What one seed showed.
struct SeedReport {
  uint64_t seed = 0;
  std::vector<std::string> violations;  ///< empty: every promise was kept
  int rowsWritten = 0;
  int badRows = 0;
  int retries = 0;
  int restarts = 0;
  int lostAnswers = 0;
  int failedWriters = 0;
  int grown = 0;       ///< 1: load opened more connections than the floor
  int atTheBound = 0;  ///< 1: maxBufferedBytes was reached

  [[nodiscard]] std::string describe() const;
};

/// Plays one seeded schedule: writers of several subtasks share a pool and write to several tables,
/// good rows, bad rows and rows whose serializer fails, with faults on every call, checkpoints, a
/// host that answers late, and crashes. Checks that at each completed checkpoint everything before
/// it is in its table or with the failure handler, that nothing else is, that connections and
/// buffered bytes stay within their bounds, and that permits, bytes and memory come back.
SeedReport playSinkSeed(uint64_t seed);

}  // namespace penstock::simulation
