#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/runtime/record_batch.h"
#include "penstock/runtime/wakeup.h"

/// What the local executor reads from. Splits and positions are short UTF-8 texts that only their
/// source understands: the executor hands them round and stores them in checkpoints.
namespace penstock::runtime {

/// Reads one split from a position to its end. One thread at a time.
class SplitReader {
 public:
  virtual ~SplitReader() = default;

  enum class State {
    kBatch,       ///< `batch` holds at least one record, or input without records (blank lines)
    kNothingYet,  ///< nothing arrived until the deadline, or the reader's Wakeup was notified
    kEnd,         ///< the split is read to its end
  };
  /// The next records. Waits at most until `deadline` where the input is a stream; files do not
  /// wait. An error ends the load: the input cannot be read on.
  [[nodiscard]] virtual absl::StatusOr<State> read(RecordBatch& batch,
                                                   base::MonotonicTime deadline) = 0;

  /// The position behind the last batch handed out: a reader created there continues with the
  /// record after.
  [[nodiscard]] virtual std::string position() const = 0;
};

/// A bounded input made of splits that may be read in any order and by different threads.
class Source {
 public:
  virtual ~Source() = default;

  /// What the input is, as text: stored in every checkpoint.
  [[nodiscard]] virtual std::string identity() const = 0;
  /// OK if a checkpoint that was taken of the input `stored` may be continued with this one;
  /// otherwise FAILED_PRECONDITION naming what differs.
  [[nodiscard]] virtual absl::Status checkIdentity(std::string_view stored) const = 0;
  /// OK if reading can continue in another process; otherwise INVALID_ARGUMENT naming the input
  /// that cannot (standard input).
  [[nodiscard]] virtual absl::Status checkRestorable() const = 0;

  /// All splits, in the order they should be started.
  [[nodiscard]] virtual std::vector<std::string> splits() const = 0;
  /// A reader of `split` from `position` (empty: from its beginning). `wakeup` interrupts its
  /// waiting and outlives it. Thread-safe.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<SplitReader>> createReader(
      std::string_view split, std::string_view position, const Wakeup& wakeup) = 0;
};

}  // namespace penstock::runtime
