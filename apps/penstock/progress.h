#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/penstock/console.h"
#include "penstock/base/clock.h"

namespace penstock::command {

/// How far a load is at one moment.
struct LoadProgress {
  uint64_t rows = 0;
  uint64_t bytes = 0;    ///< of input, uncompressed
  int64_t inFlight = 0;  ///< appends sent and not answered
  uint64_t checkpoints = 0;
  uint64_t dropped = 0;
  /// Bytes of the whole input, if that is known and comparable to `bytes`.
  std::optional<uint64_t> totalBytes;
};

/// Turns moments into lines: a line that is redrawn on a terminal, a log line every few seconds
/// elsewhere.
class ProgressReporter {
 public:
  static constexpr base::Duration kLogInterval = std::chrono::seconds(5);

  ProgressReporter(Console& console, base::MonotonicTime start)
      : console_(console), start_(start), lastTime_(start), nextLog_(start + kLogInterval) {}

  /// To be called a few times a second.
  void report(const LoadProgress& progress, base::MonotonicTime now);
  /// Takes the redrawn line away.
  void finish();

 private:
  Console& console_;
  base::MonotonicTime start_;
  base::MonotonicTime lastTime_;
  base::MonotonicTime nextLog_;
  uint64_t lastRows_ = 0;
  double rowsPerSecond_ = 0;  // smoothed over a few reports
};

/// "1,200,000 rows  450.2 MB  602,000 rows/s  3 in flight  2 checkpoints".
[[nodiscard]] std::string progressText(const LoadProgress& progress, double rowsPerSecond);

}  // namespace penstock::command
