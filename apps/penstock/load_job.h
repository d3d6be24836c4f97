#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/penstock/console.h"
#include "apps/penstock/job_metrics.h"
#include "apps/penstock/load_stop.h"
#include "apps/penstock/load_summary.h"
#include "apps/penstock/prometheus_text.h"
#include "apps/penstock/record_failures.h"
#include "apps/penstock/report_flags.h"
#include "penstock/base/metrics.h"
#include "penstock/runtime/file_source.h"
#include "penstock/runtime/local_executor.h"

namespace penstock::command {

/// Makes one subtask's sink; its metrics go into the given group.
using LoadSinkFactory = std::function<absl::StatusOr<std::unique_ptr<runtime::SubtaskSink>>(
    const runtime::SubtaskContext& context, std::shared_ptr<base::MetricGroup> metrics)>;

/// How a load is watched from outside.
struct LoadWatch {
  Reporting reporting;
  /// Makes the statistics document; called on a thread of its own.
  std::function<std::string(const JobProgress&, const JobMetrics&)> document;
};

struct LoadJobOutcome {
  LoadSummary::Result result = LoadSummary::Result::kFailed;
  runtime::ExecutionStatistics statistics;
  uint64_t rowsSent = 0;  ///< handed to the service
  base::Duration elapsed{};
  absl::Status status;
  runtime::ErrorOrigin origin = runtime::ErrorOrigin::kNone;  ///< of `status`
  bool badSetting = false;  ///< `status` is about what the load is watched by; nothing was loaded
};

/// Runs a load to its end with progress on the console. By `stop` a first signal stops it
/// gracefully, a second one at once. `failures` is where the sinks' bad records go.
[[nodiscard]] LoadJobOutcome runLoadJob(runtime::FileSource& source,
                                        const LoadSinkFactory& makeSink,
                                        const runtime::LocalExecutorOptions& options,
                                        const RecordFailures& failures, const LoadWatch& watch,
                                        LoadStop& stop, Console& console);

}  // namespace penstock::command
