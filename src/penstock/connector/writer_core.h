#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/connector/failure.h"
#include "penstock/connector/row_batch.h"

/// The contract between the protocol cores and their hosts: nothing here blocks. The blocking C++
/// face (sink.h), the C ABI and the Flink adapter are loops over `poll`.
namespace penstock::connector {

/// An interned destination of one writer: an index, dense from 0.
enum class DestinationId : uint32_t {};
/// Of what belongs to no destination: unroutable records.
inline constexpr DestinationId kNoDestination{UINT32_MAX};
enum class QuestionId : uint64_t {};
using CheckpointId = int64_t;

/// What poll() answers.
struct Progress {
  enum class State {
    kDone,       ///< no operation is open
    kPending,    ///< the open operation waits for an event or until wakeAt
    kNeedsHost,  ///< the open operation waits for an answer to one of questions()
    kFailed,     ///< see status; the writer takes nothing but close and cancel from here on
  };
  State state = State::kDone;
  /// Poll again at the latest then, in every state but kFailed (timers run with no operation open
  /// too); base::kNever = only on an event.
  base::MonotonicTime wakeAt = base::kNever;
  absl::Status status;
};

enum class Admission {
  kAccepted,
  kWouldWait,  ///< poll (and answer questions), then try again
  kFailed,     ///< a captured terminal error: poll() says which
};

/// What only the host can decide. Collected in batches, answered when the host can.
struct Question {
  enum class Kind {
    kFailedRecords,  ///< what becomes of `failures`? OK drops them, an error fails the job with it
    kFlushHandler,   ///< flush the failure handler (BASE-022)
    kCreateOptions,  ///< creation options for `destination`, as a JSON document in Answer::document
    kNewSchema,      ///< the columns of `destination` are others now: prepare what writes its rows
  };
  QuestionId id{};
  Kind kind = Kind::kFailedRecords;
  DestinationId destination{};
  std::vector<FailedRecord> failures;
};

struct Answer {
  absl::Status status;
  std::string document;
};

/// Opaque versioned bytes that a host stores and redistributes.
struct Committable {
  std::string bytes;
};
struct WriterState {
  std::string bytes;
};

/// The writer that every host can use. One thread at a time, except cancel(). No call waits.
class WriterCore {
 public:
  virtual ~WriterCore() = default;

  // Hot path. A row is written in place: admitted, begun, then committed, discarded or failed.
  // Between beginRow and its end no other call is allowed.
  virtual Admission admit(DestinationId destination) = 0;
  virtual RowEncoder& beginRow(DestinationId destination) = 0;
  /// `origin` comes back in FailedRecord::rowOrigin if the row fails later on.
  virtual void commitRow(RowOrigin origin) = 0;
  /// A skip: leaves no trace but the counter recordsSkipped.
  virtual void discardRow() = 0;
  /// Serializer error or unroutable record, with or without a begun row: counted, then a question.
  virtual void failRow(FailedRecord failure) = 0;

  // Operations: begin one, then poll until it is done. At most one is open.
  virtual void beginFlush(bool endOfInput) = 0;
  /// Legal alone and repeatedly; after kDone takeCommittables() has the result.
  virtual void beginPrepareCommit() = 0;
  virtual std::vector<Committable> takeCommittables() = 0;
  /// At once, no I/O.
  virtual std::vector<WriterState> snapshotState(CheckpointId checkpoint) = 0;
  virtual void beginClose() = 0;

  /// Drains the mailbox, advances timers, never waits. Also to be called with nothing open.
  virtual Progress poll() = 0;
  /// Open questions, oldest first; valid until the next call.
  virtual std::span<const Question> questions() = 0;
  virtual void answer(QuestionId question, Answer answer) = 0;

  /// Any thread: whatever is open ends promptly with CANCELLED.
  virtual void cancel() = 0;
  /// The host's wait between polls: returns on an event for this writer or at `until`. Task thread
  /// only.
  virtual void waitForEvent(base::MonotonicTime until) = 0;
};

/// Publishes what a completed checkpoint covers; the same rules of begin, poll, cancel.
class CommitterCore {
 public:
  virtual ~CommitterCore() = default;
  virtual void beginCommit(std::span<const Committable> committables) = 0;
  virtual void beginClose() = 0;
  virtual Progress poll() = 0;
  virtual void cancel() = 0;
  virtual void waitForEvent(base::MonotonicTime until) = 0;
};

}  // namespace penstock::connector
