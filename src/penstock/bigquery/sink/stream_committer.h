#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mailbox.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/stream_admin.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// The committer of the exactly-once sink: makes the rows that a completed checkpoint covers
/// visible by FlushRows (BQW-120 to 123). Idempotent: what is flushed already is a success. A core:
/// no thread, no waiting; one thread at a time, except cancel().
///
/// One request at a time for a stream, kMostInFlight streams at a time; several committables of one
/// stream are one request, for the highest offset. A failed commit waits for the others, so that as
/// much as possible is visible, and then reports the first error; after it the committer takes
/// nothing but close and cancel.
///
///   each stream: kWaiting --a place is free--> kFlushing --done, or flushed before--> kEnded
///                kFlushing --passing--> kBackingOff --time--> kWaiting, in front
///                kFlushing --otherwise, or one attempt too many--> kEnded, the error is kept
class StreamCommitter final : public connector::CommitterCore {
 public:
  static constexpr size_t kMostInFlight = 32;

  struct Dependencies {
    std::shared_ptr<StreamAdmin> streams;
    base::Clock* clock = nullptr;  ///< outlives the committer
    std::unique_ptr<base::Random> random;
  };

  /// Checks the options again (BASE-005). The recovery schedule and `createDisposition` count here.
  static absl::StatusOr<std::unique_ptr<StreamCommitter>> create(const SinkOptions& options,
                                                                 Dependencies dependencies);

  // connector::CommitterCore
  /// Bytes that are no committable of ours fail the commit before anything is sent.
  void beginCommit(std::span<const connector::Committable> committables) override;
  void beginClose() override;
  connector::Progress poll() override;
  void cancel() override;
  void waitForEvent(base::MonotonicTime until) override;

 private:
  struct Flush {
    enum class State { kWaiting, kFlushing, kBackingOff, kEnded };
    std::string stream;
    int64_t offset = 0;
    State state = State::kWaiting;
    int attempt = 1;
    base::MonotonicTime resumeAt = base::kNever;
  };
  struct Event {
    uint64_t commit = 0;
    size_t flush = 0;
    StreamError error;
    int64_t offset = 0;
  };
  struct Inbox {
    base::Mailbox<Event> mailbox;
    std::atomic<bool> cancelled{false};
  };

  StreamCommitter(const SinkOptions& options, Dependencies dependencies);

  absl::Status collect(std::span<const connector::Committable> committables);
  void begin(size_t index);
  void onFlushed(const Event& event);
  void flushFailed(Flush& flush, const StreamError& error);
  void end(Flush& flush);
  void beginDue();
  [[nodiscard]] bool mayRetry(const absl::Status& status) const;
  [[nodiscard]] absl::Status failureOf(const Flush& flush, const StreamError& error) const;

  const SinkOptions options_;
  Dependencies dependencies_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::vector<Flush> flushes_;   // of the open commit, one a stream
  std::deque<size_t> waiting_;   // of them, in order
  std::vector<size_t> resting_;  // of them: those that back off
  size_t inFlight_ = 0;
  size_t open_ = 0;          // of the commit, not ended
  uint64_t commit_ = 0;      // the number of the open commit; answers to others are ignored
  absl::Status firstError_;  // of the open commit
  absl::Status failure_;     // final
  bool closed_ = false;
  bool progressed_ = false;    // something was done since the last waitForEvent
  std::vector<Event> events_;  // reused
};

}  // namespace penstock::bigquery
