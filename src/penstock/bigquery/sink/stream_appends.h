#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "penstock/bigquery/sink/destination_context.h"
#include "penstock/bigquery/sink/sealed_batch.h"
#include "penstock/bigquery/sink/sink_statistics.h"

namespace penstock::bigquery {

/// Rows with their place in a stream, from their first hand-off until they have landed.
struct StreamAppend {
  SealedBatch rows;
  int64_t offset = 0;
  bool sentBefore = false;  ///< handed to a connection once, in whatever stream
  int transmissions = 0;    ///< written at this offset of this stream, over all connections
  AppendToken token{};
  std::optional<AppendOutcome> outcome;

  [[nodiscard]] int64_t end() const { return offset + static_cast<int64_t>(rows->rowCount()); }
};

/// One stream's place in the pool, on a connection of its own, and what is in flight there, first
/// in, first out. Task thread only.
class StreamAppends {
 public:
  explicit StreamAppends(DestinationContext& context) : context_(context) {}

  /// Opens, or opens anew, for rows laid out as the destination's target says. Sends nothing.
  /// `location`: empty = unknown.
  void open(const std::string& stream, const std::string& location);
  /// The same stream on a new connection, for the rows as they are laid out now.
  void reopen() { open(stream_, location_); }
  [[nodiscard]] bool isOpen() const { return id_ != AppenderId::kNone; }

  /// Takes `append` and sends it. False, and nothing taken: no room within the connection's limits,
  /// and patience begins to run.
  [[nodiscard]] bool append(StreamAppend& append);
  /// The answer to an append; null if it is none of those in flight.
  StreamAppend* onAnswer(AppendToken token, AppendOutcome outcome);

  [[nodiscard]] std::deque<StreamAppend>& inFlight() { return inFlight_; }
  [[nodiscard]] const std::deque<StreamAppend>& inFlight() const { return inFlight_; }
  [[nodiscard]] bool allAnswered() const;

  /// When the wait for room has lasted too long (BQW-053); kNever when nobody waits.
  [[nodiscard]] base::MonotonicTime patienceEnds() const;
  void stopWaiting() { waitingSince_ = base::kNever; }

  void addTo(DestinationStatistics& statistics) const;

  /// Lets go of everything in flight, and of the connection.
  void close();

 private:
  DestinationContext& context_;
  AppenderId id_ = AppenderId::kNone;
  std::string stream_;
  std::string location_;
  std::deque<StreamAppend> inFlight_;
  uint32_t nextToken_ = 1;
  base::MonotonicTime waitingSince_ = base::kNever;  // for room
};

}  // namespace penstock::bigquery
