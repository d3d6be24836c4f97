#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "apps/penstock/connection.h"
#include "apps/penstock/load_plan.h"
#include "apps/penstock/record_failures.h"
#include "apps/penstock/row_places.h"
#include "penstock/base/metrics.h"
#include "penstock/base/mutex.h"
#include "penstock/bigquery/serializers/protobuf_mapping.h"
#include "penstock/bigquery/sink/blocking_writer.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/runtime/subtask_sink.h"

namespace penstock::command {

/// Makes the sinks of a load's subtasks, which share one pool of connections. Thread-safe.
class LoadSinks {
 public:
  /// All outlive the sinks. Without `schema` rows are laid out by each table's own. `mapping`: of
  /// records that are protobuf messages, else null.
  LoadSinks(const LoadPlan& plan, const Connection& connection,
            std::optional<bigquery::TableSchema> schema,
            std::shared_ptr<const bigquery::ProtobufMapping> mapping, RecordFailures& failures);

  [[nodiscard]] absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>> make(
      const runtime::SubtaskContext& context, std::shared_ptr<base::MetricGroup> metrics);
  /// What makes the rows of a checkpoint visible; null where acknowledged rows are.
  [[nodiscard]] absl::StatusOr<std::unique_ptr<connector::Committer>> makeCommitter();

  /// What each subtask's writer is doing, as far as they say so within a moment.
  [[nodiscard]] std::vector<bigquery::WriterStatistics> writerStatistics() const;
  [[nodiscard]] bigquery::PoolStatistics poolStatistics() const {
    return connections_.pool->statistics();
  }

 private:
  [[nodiscard]] absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>> createForMessages(
      std::unique_ptr<bigquery::BlockingWriter> writer, std::shared_ptr<RowPlaces> places);

  const LoadPlan& plan_;
  const bigquery::SinkOptions& options_;
  const std::optional<bigquery::TableSchema> schema_;
  const std::shared_ptr<const bigquery::ProtobufMapping> mapping_;
  RecordFailures& failures_;
  const bigquery::SinkConnections connections_;
  mutable base::Mutex mutex_;
  std::vector<std::shared_ptr<bigquery::StatisticsBoard>> boards_
      PENSTOCK_GUARDED_BY(mutex_);  // by subtask; null: not made yet
};

}  // namespace penstock::command
