#pragma once

#include <optional>
#include <string_view>

#include "penstock/bigquery/sink/destination_context.h"

namespace penstock::bigquery {

/// Creating a destination's missing table over REST (BQW-151 to 153): asks the host for what it is
/// created with, if the destination wants that, and tries again what passes. Task thread only,
/// nothing here waits.
///
///   [kAskingOptions --the host's answer-->] kCreating --created, or someone was first--> kDone
///   kCreating --passing refusal--> kPausing --time--> kCreating
///
/// Anything else fails the writer; the state stays.
class TableCreation {
 public:
  enum class State { kAskingOptions, kCreating, kPausing, kDone };

  /// `verdict`: what the service said to whoever needed the table; told with every failure.
  TableCreation(DestinationContext& context, absl::Status verdict);

  void onCreateOptions(std::string_view document);
  void onTableCreated(const AdminError& error);
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const { return resumeAt_; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool done() const { return state_ == State::kDone; }

 private:
  void create();
  void fail(absl::Status status);

  DestinationContext& context_;
  State state_ = State::kCreating;
  const absl::Status verdict_;
  std::optional<TableCreateOptions> options_;  // the host's, once known
  int attempt_ = 1;
  base::MonotonicTime resumeAt_ = base::kNever;
};

}  // namespace penstock::bigquery
