#pragma once

#include <string>

#include "apps/penstock/load_plan.h"
#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::command {

/// What a pipeline file says: where records come from, where they go, and how it is run.
/// docs/pipelines.md describes it.
struct Pipeline {
  LoadPlan plan;
  bigquery::SinkOptions options;
};

/// Reads `path`. An error begins with FILE:LINE:COLUMN of what is wrong, and says what was
/// expected; of an unknown key, which known one is nearest.
[[nodiscard]] absl::StatusOr<Pipeline> readPipelineFile(const std::string& path);

/// The same of a text; `name` stands for the file in messages.
[[nodiscard]] absl::StatusOr<Pipeline> parsePipeline(const std::string& name,
                                                     const std::string& text);

}  // namespace penstock::command
