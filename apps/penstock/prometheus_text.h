#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/penstock/job_metrics.h"
#include "penstock/runtime/local_executor.h"

namespace penstock::command {

/// What the command knows of its job, apart from the sinks' metrics.
struct JobProgress {
  runtime::ExecutionStatistics statistics;
  uint64_t recordsDropped = 0;
};

/// Everything in Prometheus' text format 0.0.4; docs/reference/metrics.md lists the names. A sink's
/// metric `numRecordsSend` is `penstock_sink_num_records_send_total{subtask="0"}`; of a family like
/// `errorClass.UNAVAILABLE.errors` the middle becomes a label:
/// `penstock_sink_error_class_errors_total{subtask="0",error_class="UNAVAILABLE"}`.
[[nodiscard]] std::string prometheusText(const JobProgress& progress,
                                         std::span<const JobMetrics::Subtask> subtasks);

/// One metric of the catalogue.
struct MetricDefinition {
  std::string_view name;  ///< as the sink calls it; a family as "errorClass.*.errors"
  bool isCounter = true;
  std::string_view help;
};

/// The metrics of the sinks that are documented; others are served too, without a line of help.
[[nodiscard]] std::span<const MetricDefinition> sinkMetricCatalog();

/// The page docs/reference/metrics.md.
[[nodiscard]] std::string metricsAsMarkdown();

}  // namespace penstock::command
