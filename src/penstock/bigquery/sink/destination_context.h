#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/sink/append_outcome.h"
#include "penstock/bigquery/sink/destination_host.h"

namespace penstock::bigquery {

/// What a failed append asks for (BQW-042).
enum class Remedy {
  kRetry,
  kCreate,     ///< the table, then again
  kReconcile,  ///< the table's columns, then again
  kRoute,      ///< the refused rows; the others again
  kFail,
};

/// What the parts of one destination have in common: who it is, how its rows are laid out, what it
/// counts, and how it reaches its host. Task thread only.
class DestinationContext {
 public:
  DestinationContext(DestinationHost& host, connector::DestinationId id, DestinationSetup setup)
      : host_(host), id_(id), setup_(std::move(setup)) {}

  [[nodiscard]] DestinationHost& host() const { return host_; }
  [[nodiscard]] connector::DestinationId id() const { return id_; }
  [[nodiscard]] const TableName& table() const { return setup_.table; }
  [[nodiscard]] const DestinationSetup& setup() const { return setup_; }
  [[nodiscard]] const DestinationHost::Shared& shared() const { return host_.shared(); }
  [[nodiscard]] const SinkOptions& options() const { return *shared().options; }
  [[nodiscard]] base::RetrySchedule recoverySchedule() const {
    return options().defaultStreamOptions.recoverySchedule();
  }
  [[nodiscard]] base::MonotonicTime now() const { return shared().clock->now(); }
  /// When to come back after attempt `attempt` of `schedule`.
  [[nodiscard]] base::MonotonicTime afterBackoff(const base::RetrySchedule& schedule,
                                                 int attempt) const {
    return base::deadlineAfter(now(), schedule.backoff(attempt, *shared().random));
  }

  /// The columns as they were read from the table.
  void setSchema(TableSchema schema) { setup_.schema = std::move(schema); }
  /// Other columns from here on; an empty descriptor follows from the schema. prepareTarget is due.
  void replaceSchema(std::optional<TableSchema> schema, std::string descriptor);
  /// Stream and row layout; null until prepareTarget.
  [[nodiscard]] const std::shared_ptr<const StreamTarget>& target() const { return target_; }
  /// Lays out the rows, by the descriptor or what follows from the schema.
  absl::Status prepareTarget();

  /// A failed record of this destination, everything but the error filled in; `row` = its bytes.
  [[nodiscard]] connector::FailedRecord failedRecord(std::string_view row,
                                                     connector::RowOrigin origin) const;
  /// Whether the table's columns may be changed to take the rows (BQW-160). Without a schema it is
  /// not known what to.
  [[nodiscard]] bool maySchemaChange() const {
    return options().schemaUpdateOptions.enabled() && setup_.schema.has_value();
  }
  [[nodiscard]] Verdict verdictOf(const AppendOutcome& outcome) const {
    return classify(outcome, maySchemaChange());
  }
  /// One function for whoever sees a failure (BQW-042).
  [[nodiscard]] Remedy remedyFor(Verdict verdict) const;
  /// Counts failed records of this destination (with perDestinationMetrics).
  void countErrors(size_t records);
  /// Counts failed records of this destination and routes them.
  void ask(std::vector<connector::FailedRecord> failures);
  /// Counts rows at their first hand-off (BASE-039).
  void countSent(const connector::RowBatch& rows);
  /// `status`, about a table that is missing, with the place of the record that asked for it.
  [[nodiscard]] absl::Status withOrigin(absl::Status status) const;
  /// Fails the writer: an append or what belongs to it ended with `status`, which means `verdict`.
  /// `story`: what was tried.
  void fail(const absl::Status& status, Verdict verdict, std::string_view story = {});

 private:
  void addTo(base::Counter*& counter, const char* name, size_t records);

  DestinationHost& host_;
  const connector::DestinationId id_;
  DestinationSetup setup_;
  std::shared_ptr<const StreamTarget> target_;
  // With perDestinationMetrics, from their first use on (BASE-041).
  base::Counter* recordsSend_ = nullptr;
  base::Counter* sendErrors_ = nullptr;
};

}  // namespace penstock::bigquery
