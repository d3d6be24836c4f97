#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "penstock/bigquery/sink/schema_reconciliation.h"
#include "penstock/bigquery/sink/sink_statistics.h"
#include "penstock/bigquery/sink/stream_appends.h"

namespace penstock::bigquery {

/// Getting the rows of one stream to land after something has gone wrong, or after a restore:
/// first in, first out, one append at a time, each at its offset (BQW-104 to 107, BQW-130 to 132).
/// Made when it begins, gone when it is done. Task thread only, nothing here waits.
///
/// What an outcome means depends on what is known of the stream's end:
///   kProbe   nothing: a restored stream, and the first append to it says whether it is as it was
///            left. If not, it is abandoned, and its rows go to another stream
///   kResend  an append may have landed though it failed: being there already is as good
///   kReplay  behind a refused row everything has a new offset: nothing can be there already but
///            what the replay itself has sent before
///
///   kSettling --every append in flight is answered--> kAppending
///   kAppending --all landed--> kDone, --a passing failure--> kBackingOff --time--> kAppending
///   kAppending --refused rows--> kAsking --the host has answered--> kAppending, as kReplay; a
///   probe
///              stays one, as the service may look at rows before it looks at offsets
///   kAppending --columns the table has not, once--> kReconciling --in line--> kAppending
///   kAppending, as kProbe, --the stream is not as it was left--> kAbandoned
///
/// A failure of another kind, or one attempt too many, fails the writer; the state stays.
class StreamRecovery {
 public:
  enum class State {
    kSettling,
    kAppending,
    kBackingOff,
    kAsking,
    kReconciling,
    kDone,
    kAbandoned,
  };

  /// `nextOffset`: of the destination's stream; moves when refused rows go.
  StreamRecovery(DestinationContext& context, StreamAppends& appends, int64_t& nextOffset);
  /// A probe with the first append to a restored stream.
  StreamRecovery(DestinationContext& context, StreamAppends& appends, int64_t& nextOffset,
                 StreamAppend first);

  /// Begins, once made; may be done at once.
  void begin();
  /// An append in flight was answered.
  void onAnswer();
  /// The host has decided about the refused rows, with OK.
  void onHostAnswer();
  void onTableRead(const AdminError& error, const TableInfo& table);
  void onSchemaUpdated(const AdminError& error);
  /// Time, or room in the pool.
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const {
    return reconciliation_ ? reconciliation_->wakeAt() : resumeAt_;
  }

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool isProbe() const { return mode_ == Mode::kProbe; }
  /// What has not landed, not counting what is in flight.
  [[nodiscard]] std::deque<StreamAppend>& queue() { return queue_; }
  [[nodiscard]] const std::deque<StreamAppend>& queue() const { return queue_; }

  /// Fills in what the recovery knows, and adds what it holds.
  void addTo(DestinationStatistics& statistics) const;

 private:
  enum class Mode { kResend, kReplay, kProbe };
  enum class Remedy { kLanded, kAgain, kReopenAndAgain, kReconcile, kRoute, kAbandon, kFail };

  void settle();
  void next();
  /// False: something is waited for before the next one.
  bool judge(StreamAppend& head);
  [[nodiscard]] Remedy remedyFor(const StreamAppend& head, Verdict verdict) const;
  [[nodiscard]] Remedy remedyForOffsetError(const StreamAppend& head, Verdict verdict) const;
  void appendHead();
  void tryAgain(const absl::Status& status, Verdict verdict);
  bool route(StreamAppend& head);
  [[nodiscard]] bool somethingLandedBehind() const;
  [[nodiscard]] bool somethingMayLandLate() const;
  void renumber(int64_t offset);
  void resumeIfReconciled();
  [[nodiscard]] base::RetrySchedule schedule() const;
  void fail(const absl::Status& status, Verdict verdict);

  DestinationContext& context_;
  StreamAppends& appends_;
  int64_t& nextOffset_;
  Mode mode_;
  State state_;
  std::deque<StreamAppend> queue_;  // in order; those with an outcome are judged when they come up
  int attempts_ = 0;                // recovery appends of the first one, at its offset
  bool reopen_ = false;             // before the next append
  bool reopened_ = false;           // since the recovery began
  bool reconciled_ = false;
  bool mayLandLate_ = false;  // in kReplay: something at an offset from before
  std::optional<SchemaReconciliation> reconciliation_;  // in kReconciling
  base::MonotonicTime resumeAt_ = base::kNever;
};

}  // namespace penstock::bigquery
