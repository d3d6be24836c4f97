#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/penstock/console.h"
#include "apps/penstock/row_places.h"
#include "penstock/connector/failure.h"

namespace penstock::command {

enum class OnError { kFail, kDrop };

/// What becomes of bad records, over all subtasks of a load: the first one ends it, or all are
/// counted and the first few shown. Thread-safe; outlives its handlers.
class RecordFailures {
 public:
  /// Dropped records that are shown; the rest are only counted.
  static constexpr uint64_t kShown = 10;

  RecordFailures(OnError onError, Console& console) : onError_(onError), console_(console) {}

  /// A handler for one writer, whose rows came from `places` (null: it is not known).
  [[nodiscard]] std::unique_ptr<connector::FailureHandler> makeHandler(
      std::shared_ptr<const RowPlaces> places = nullptr);

  [[nodiscard]] uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  /// Whether a bad record has ended the load.
  [[nodiscard]] bool endedLoad() const { return endedLoad_.load(std::memory_order_relaxed); }

 private:
  class Handler;
  absl::Status handle(const connector::FailedRecord& failure);

  const OnError onError_;
  Console& console_;
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> endedLoad_{false};
};

/// "events.jsonl line 17: field 'n': ..."; without an origin, the row's destination.
[[nodiscard]] std::string describeFailure(const connector::FailedRecord& failure);

}  // namespace penstock::command
