#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"

/// What a sink is doing at one moment: for people (and the statistics document of the command) that
/// want to know why nothing moves. Plain values; taking them costs nothing while nobody asks.
namespace penstock::bigquery {

/// How long something took, over many times: a bucket for each power of two of microseconds. One
/// thread.
class LatencyHistogram {
 public:
  void add(base::Duration duration);

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] base::Duration mean() const;
  [[nodiscard]] base::Duration longest() const { return longest_; }
  /// The upper bound of the bucket that the `share` (0 to 1) of all times reaches to; at most
  /// longest().
  [[nodiscard]] base::Duration quantile(double share) const;

 private:
  static constexpr size_t kBuckets = 40;  // up to 2^39 us, six days
  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  base::Duration sum_{};
  base::Duration longest_{};
};

/// One AppendRows connection.
struct ConnectionStatistics {
  uint64_t id = 0;
  std::string location;         ///< that it serves; empty = unknown
  bool dedicated = false;       ///< used by one table only
  std::string state;            ///< "idle", "open", "backoff", "final"
  size_t appenders = 0;         ///< open ones that use it
  size_t inflightRequests = 0;  ///< queued or sent and not answered
  size_t inflightBytes = 0;
  size_t waitingRequests = 0;  ///< of these: not written yet
  size_t delayedRequests = 0;  ///< of these: to be sent again at a time of their own
  uint64_t answers = 0;        ///< so far
  uint64_t resends = 0;        ///< requests answered with a passing error and sent again, so far
  uint64_t reconnects = 0;     ///< calls opened after one had ended, so far
  std::string lastEnd;         ///< how the last call ended: "UNAVAILABLE: ..."; empty: none has
  base::Duration sinceProgress{};            ///< since the last answer, reconnection or end
  std::optional<base::Duration> oldestSent;  ///< how long the oldest request has been unanswered
  LatencyHistogram latency;                  ///< from a request's writing to its answer
};

/// The connections that the writers of a process share.
struct PoolStatistics {
  std::vector<ConnectionStatistics> connections;
};

/// One table of a writer.
struct DestinationStatistics {
  std::string table;         ///< PROJECT.DATASET.TABLE
  std::string state;         ///< "idle", "opening", "open", "backing off", ...
  size_t bufferedRows = 0;   ///< in the batch that is being filled
  size_t bufferedBytes = 0;  ///< of them
  size_t unansweredBatches = 0;
  size_t unansweredBytes = 0;
  int repairAttempt = 0;    ///< of the repair in progress; 0 = none
  std::string lastFailure;  ///< what the repair began with; empty: none
};

/// One writer (subtask).
struct WriterStatistics {
  base::MonotonicTime taken{};                      ///< when; the default value: never yet
  std::string operation;                            ///< "none", "flush", "closed"
  size_t openQuestions = 0;                         ///< records that the host decides about
  std::string failure;                              ///< the error that ended it; empty: none
  std::vector<DestinationStatistics> destinations;  ///< open ones; at most kMostDestinations
  size_t destinationsLeftOut = 0;                   ///< beyond those: idle ones first

  static constexpr size_t kMostDestinations = 100;
};

}  // namespace penstock::bigquery
