#pragma once

#include <string>
#include <vector>

#include "apps/penstock/job_metrics.h"
#include "apps/penstock/prometheus_text.h"
#include "penstock/bigquery/sink/sink_statistics.h"

namespace penstock::command {

/// Everything that the statistics document says.
struct JobStatistics {
  base::WallTime time{};
  base::MonotonicTime now{};  ///< the same moment, for ages
  base::Duration running{};   ///< since the load began
  std::string target;
  std::string table;
  JobProgress progress;
  std::vector<JobMetrics::Subtask> subtasks;
  std::vector<bigquery::WriterStatistics> writers;  ///< by subtask
  bigquery::PoolStatistics pool;
};

/// The statistics document: one line of JSON, docs/reference/statistics.md describes its fields.
[[nodiscard]] std::string statisticsDocument(const JobStatistics& statistics);

}  // namespace penstock::command
