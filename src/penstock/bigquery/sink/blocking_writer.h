#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/storage_writer.h"
#include "penstock/connector/blocking_driver.h"
#include "penstock/connector/sink.h"

namespace penstock::bigquery {

/// The part of a blocking writer that does not depend on the record's type: core, driver and
/// handler, opened and closed in the order of BASE-020 and BASE-025. Task thread only, except
/// cancel().
class BlockingWriter {
 public:
  /// Opens the handler first; if anything later fails, closes it and returns the original error
  /// (BQW-002). The core is that of the options' write method; `restored` is for one with state.
  static absl::StatusOr<std::unique_ptr<BlockingWriter>> create(
      const SinkOptions& options, const SinkConnections& connections,
      const connector::WriterInit& init, std::unique_ptr<connector::FailureHandler> handler,
      std::span<const connector::WriterState> restored = {});

  /// What a host decides about tables besides failed records; on the task thread.
  struct Decisions {
    /// What a missing table is created with; for destinations that ask (askForCreateOptions).
    std::function<absl::StatusOr<TableCreateOptions>(const TableName&)> createOptions;
    /// The columns of a destination that follows its table are others now: prepares what writes
    /// its rows.
    std::function<absl::Status(connector::DestinationId, const TableSchema&)> newSchema;
  };
  void decideWith(Decisions decisions);

  StorageWriter& core() { return *core_; }
  [[nodiscard]] base::MetricGroup& metrics() { return *metrics_; }

  /// Registers and, for a schema that must be read from the table, waits for it.
  absl::StatusOr<connector::DestinationId> open(DestinationSetup setup);
  /// Waits until the destination takes a row.
  absl::Status admit(connector::DestinationId destination) {
    // Asked here first, where the compiler knows the function: once a row.
    if (core_->admit(destination) == connector::Admission::kAccepted) return absl::OkStatus();
    return driver_.admit(destination);
  }
  /// Rows that are bytes already; waits until all are taken.
  absl::Status writeRows(connector::DestinationId destination,
                         std::span<const std::string_view> rows, connector::RowOrigin first);
  /// OK, or the error that was captured (BQW-020); cheap when nothing has happened.
  absl::Status check() { return core_->hasNews() ? poll().status() : absl::OkStatus(); }
  /// Rows have other columns from here on; waits until everything written before is acknowledged.
  absl::Status changeSchema(connector::DestinationId destination, std::optional<TableSchema> schema,
                            std::string descriptor);
  /// A record that could not become a row, begun or not. The handler has decided on return.
  absl::Status failRecord(connector::DestinationId destination, const absl::Status& why,
                          std::string_view origin);
  absl::Status failUnroutable(const connector::Unroutable& verdict, std::string_view origin);

  /// Advances timers while there is nothing to write, without waiting; says when to be called again
  /// at the latest.
  absl::StatusOr<base::MonotonicTime> poll();

  absl::Status flush(bool endOfInput) { return driver_.flush(endOfInput); }
  /// What makes the rows visible that were flushed; nothing where acknowledged rows are.
  absl::StatusOr<std::vector<connector::Committable>> prepareCommit();
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId checkpoint);
  absl::Status close();
  void cancel() { core_->cancel(); }

 private:
  BlockingWriter(std::unique_ptr<StorageWriter> core,
                 std::unique_ptr<connector::FailureHandler> handler,
                 std::shared_ptr<base::MetricGroup> metrics)
      : metrics_(std::move(metrics)),
        handler_(std::move(handler)),
        core_(std::move(core)),
        driver_(*core_, *handler_) {}

  absl::Status failRow(connector::DestinationId destination, connector::FailedRecord failure);
  connector::Answer decide(const connector::Question& question);

  std::shared_ptr<base::MetricGroup> metrics_;
  std::unique_ptr<connector::FailureHandler> handler_;
  std::unique_ptr<StorageWriter> core_;
  connector::BlockingDriver driver_;
  Decisions decisions_;
  bool closed_ = false;
};

}  // namespace penstock::bigquery
