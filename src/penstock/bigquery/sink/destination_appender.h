#pragma once

#include <deque>
#include <optional>

#include "penstock/bigquery/sink/destination_context.h"
#include "penstock/bigquery/sink/sealed_batch.h"
#include "penstock/bigquery/sink/sink_statistics.h"

namespace penstock::bigquery {

/// One destination's place in the pool of connections: finding out where its table is, opening, and
/// what is in flight. Task thread only.
///
///   kClosed --open--> kLookingUp --location--> kOpen
///   kOpen --open again, a rebuild--> kLookingUp --location--> kOpen
///
/// With a known location kLookingUp is passed over. A rebuild keeps the old appender until the new
/// one is registered, so a failed one loses nothing (BQW-071).
class DestinationAppender {
 public:
  enum class State { kClosed, kLookingUp, kOpen };

  explicit DestinationAppender(DestinationContext& context) : context_(context) {}

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool isOpen() const { return state_ == State::kOpen; }

  /// Opens, or opens anew. The target must be prepared.
  void open();
  /// The answer of the look-up. An error leaves what was open before, unused: open() again.
  absl::Status onWriteStream(const absl::StatusOr<WriteStreamInfo>& info);
  /// What any GetWriteStream answer for this table means: emulators' answers are taken as the
  /// service's (BQW-193), a location is remembered.
  absl::Status note(const absl::StatusOr<WriteStreamInfo>& info);

  /// Sends a batch. False, and nothing taken: no room within the connection's limits, and patience
  /// begins to run.
  [[nodiscard]] bool append(SealedBatch& batch);
  /// When the wait for room has lasted too long: 300 s from its beginning, the last answer,
  /// reconnection or end (BQW-053). kNever when nobody waits.
  [[nodiscard]] base::MonotonicTime patienceEnds() const;
  /// The wait is over, or counts from anew.
  void stopWaiting() { waitingSince_ = base::kNever; }

  struct InFlight {
    AppendToken token{};
    SealedBatch rows;
    std::optional<AppendOutcome> outcome;  // a failure that waits for its siblings
  };
  /// Whether an append with this token is unanswered; counts it as answered if so.
  [[nodiscard]] bool onAnswer(AppendToken token);
  /// Takes the rows of an append out.
  SealedBatch take(AppendToken token);
  /// Keeps a failed append with what failed it.
  void hold(AppendToken token, AppendOutcome outcome);
  /// The same for rows that never left.
  void hold(SealedBatch rows, AppendOutcome outcome);
  [[nodiscard]] bool empty() const { return inFlight_.empty(); }
  [[nodiscard]] bool allAnswered() const;
  /// Everything in flight, in order; nothing is afterwards.
  std::deque<InFlight> takeAll() { return std::exchange(inFlight_, {}); }

  /// Adds what is in flight.
  void addTo(DestinationStatistics& statistics) const;

  /// Lets go of everything in flight, and of the place in the pool.
  void close();

 private:
  std::deque<InFlight>::iterator find(AppendToken token);
  void finish(const std::string& location);

  DestinationContext& context_;
  State state_ = State::kClosed;
  AppenderId id_ = AppenderId::kNone;
  bool seenEmulator_ = false;     // the emulator has answered for this table
  bool foreignEmulator_ = false;  // and it is not ours
  bool wasClosed_ = false;        // and has not been opened since
  bool counted_ = false;          // among openDestinations
  std::deque<InFlight> inFlight_;
  uint32_t nextToken_ = 1;
  base::MonotonicTime waitingSince_ = base::kNever;  // for room
};

}  // namespace penstock::bigquery
