#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/sink/append_outcome.h"
#include "penstock/bigquery/sink/pool_options.h"
#include "penstock/bigquery/sink/sink_statistics.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bigquery {

/// Stream and writer schema of appends; shared by all requests of one appender. Two requests have
/// the same schema on the wire exactly if they share this object.
struct StreamTarget {
  std::string stream;         ///< projects/P/datasets/D/tables/T/streams/_default
  std::string descriptor;     ///< serialized google.protobuf.DescriptorProto of the rows
  std::string missingValues;  ///< fields of each request, encoded (BQW-194); empty = none
};

/// Identifies one append to the writer that asked for it.
enum class AppendToken : uint64_t {};

/// One append on its way. Immutable rows: a retry sends the same slices.
struct AppendRequest {
  uint32_t writer = 0;  ///< who gets the outcome
  AppendToken token{};
  std::shared_ptr<const StreamTarget> target;
  std::shared_ptr<const connector::RowBatch> rows;
  /// Where the stream must end for the rows to be taken; unset on default streams. All requests of
  /// a connection have one, or none has.
  std::optional<int64_t> offset;
};

/// Rows that wait for their turn to be written stay within this many bytes over all connections to
/// a location (on each, one request of any size may wait): enough to keep the transport busy, and
/// little enough to be in the cache still when they are written.
inline constexpr size_t kMaxWaitingBytes = size_t{8} << 20;

/// Oldest sent request unanswered for this long: the connection is given up (BQW-056).
inline constexpr base::Duration kWatchdog = std::chrono::minutes(5);

/// Rows that have waited for longer than this on a connection that answers: it takes them more
/// slowly than they come, and another connection may do better.
inline constexpr base::Duration kSlowStream = std::chrono::milliseconds(250);

/// The state machine of one AppendRows connection: matches answers to requests first in, first out
/// (BQW-050), re-sends what the service answers with a passing error (BQW-054), reconnects and
/// re-sends what was unanswered (BQW-055), gives up on silence (BQW-056). No threads, no I/O:
/// inputs are calls and events with the time, outputs are actions that the owner carries out
/// afterwards, in order.
///
/// Where requests have offsets, those behind one that is sent again cannot have been taken: they go
/// again with it, in order, and the answers to what was sent before are ignored.
///
///   kIdle --append--> kOpen --call ended, passing--> kBackoff --time--> kOpen
///                       |  \--call ended, nothing outstanding--> kIdle
///                       \--call ended otherwise, silence, stray answer--> kFinal
class AppendConnection {
 public:
  enum class State { kIdle, kOpen, kBackoff, kFinal };

  struct Action {
    enum class Kind { kStartCall, kWrite, kCancelCall, kComplete };
    Kind kind;
    AppendRequestBytes bytes;  // kWrite
    AppendRequest request;     // kComplete
    AppendOutcome outcome;     // kComplete
  };
  using Actions = std::vector<Action>;

  /// `multiplexed`: requests of several streams share the connection (BQW-051).
  AppendConnection(const ConnectionLimits& limits, bool multiplexed, std::string traceId,
                   base::Random& random)
      : limits_(limits), multiplexed_(multiplexed), traceId_(std::move(traceId)), random_(random) {}

  [[nodiscard]] State state() const { return state_; }
  /// Whether one more request of `bytes` fits the in-flight limits (an oversized one fits an idle
  /// connection). `mayWait`: how many bytes may wait here to be written.
  [[nodiscard]] bool hasRoomFor(size_t bytes, size_t mayWait = kMaxWaitingBytes) const;
  /// Whether so much has become free that it is worth waking those who wait for room: they take it
  /// in one go then, instead of a context switch a request.
  [[nodiscard]] bool hasAmpleRoom(size_t mayWait = kMaxWaitingBytes) const;
  /// Whether further requests had better go elsewhere (BQW-059): more than a fifth of either
  /// in-flight limit is taken, or rows wait for kSlowStream.
  [[nodiscard]] bool isOverwhelmed(base::MonotonicTime now) const;
  [[nodiscard]] size_t inflightRequests() const { return inflightRequests_; }
  /// Those of them whose writer still waits for the outcome.
  [[nodiscard]] size_t awaitedRequests() const { return inflightRequests_ - forgottenRequests_; }
  [[nodiscard]] size_t inflightBytes() const { return inflightBytes_; }
  /// Last answer, reconnection or end: what a waiting append measures its patience from (BQW-053).
  [[nodiscard]] base::MonotonicTime lastProgress() const { return lastProgress_; }

  /// Everything but what the owner knows (id, location, appenders).
  [[nodiscard]] ConnectionStatistics statistics(base::MonotonicTime now) const;

  /// Takes a request that has room, on a connection that is not final.
  void append(AppendRequest request, base::MonotonicTime now, Actions& actions);

  // Events of the current call.
  void onMessage(AppendResponse response, base::MonotonicTime now, Actions& actions);
  void onWriteDone(bool ok, base::MonotonicTime now, Actions& actions);
  void onDone(const absl::Status& status, StorageErrorCode storageError, base::MonotonicTime now,
              Actions& actions);

  /// Runs what is due.
  void advance(base::MonotonicTime now, Actions& actions);
  /// When advance() has something to do next.
  [[nodiscard]] base::MonotonicTime nextTimer() const;

  /// Forgets everything outstanding of `writer` (it is closing); answers to it are still matched.
  void forgetWriter(uint32_t writer);
  /// Ends the connection without outcomes: its last appender has closed.
  void shutDown(Actions& actions);

 private:
  struct Entry {
    AppendRequest request;
    size_t bytes = 0;
    int resends = 0;             // answered with a passing error and sent again
    bool forgotten = false;      // its writer has closed
    bool carriesSchema = false;  // as it was last written
    bool stale = false;          // only in sent_: has gone again, its answer here is ignored
    int transmissions = 0;       // how often it was written
    base::MonotonicTime time{};  // waiting: since when; sent: when; delayed: due
  };

  void wait(Entry entry);
  void waitInFront(Entry entry);
  Entry takeWaiting();
  void openCall(base::MonotonicTime now, Actions& actions);
  void writeNext(base::MonotonicTime now, Actions& actions);
  void requeueUnanswered();
  void resend(Entry entry, base::Duration delay, base::MonotonicTime now);
  /// Takes back all that was written behind a request that goes again.
  void requeueBehind();
  void release(const Entry& entry);
  void complete(Entry entry, AppendOutcome outcome, Actions& actions);
  void finish(AppendOutcome first, const absl::Status& rest, base::MonotonicTime now,
              Actions& actions);
  void sendDelayed(base::MonotonicTime now);
  [[nodiscard]] std::optional<base::Duration> resendDelay(const Entry& entry,
                                                          absl::StatusCode code) const;
  AppendRequestBytes encode(const AppendRequest& request);

  const ConnectionLimits limits_;
  const bool multiplexed_;
  const std::string traceId_;
  base::Random& random_;

  State state_ = State::kIdle;
  std::deque<Entry> waiting_;  // to be written, in order
  size_t waitingBytes_ = 0;
  std::deque<Entry> sent_;     // written on the current call, unanswered, in order
  std::deque<Entry> delayed_;  // to be sent again at a time of their own
  size_t inflightRequests_ = 0;
  size_t inflightBytes_ = 0;
  size_t forgottenRequests_ = 0;
  bool writing_ = false;  // a write is on its way; the next waits for its end
  std::shared_ptr<const StreamTarget> lastTarget_;  // whose schema the current call has seen last
  bool missingValuesSet_ = false;                   // the current call has been told some
  int reconnects_ = 0;                              // since the last answer
  base::MonotonicTime lostSince_ = base::kNever;    // first loss since the last answer
  base::MonotonicTime reconnectAt_ = base::kNever;
  base::MonotonicTime pausedUntil_{};  // nothing is written before: the next one waits for its turn
  base::MonotonicTime lastProgress_{};
  base::MonotonicTime openedAt_{};
  bool answered_ = false;  // the current call has been

  // For statistics only.
  uint64_t answers_ = 0;
  uint64_t resends_ = 0;
  uint64_t calls_ = 0;
  absl::Status lastEnd_;
  LatencyHistogram latency_;
};

}  // namespace penstock::bigquery
