#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/sink/sink_options.h"

/// What a column is that a row leaves out, as AppendRowsRequest says it (BQW-194).
namespace penstock::bigquery {

/// The fields missing_value_interpretations and default_missing_value_interpretation of a request,
/// encoded; empty = the service's own way. The options must be valid.
[[nodiscard]] std::string encodeMissingValues(const SinkOptions& options);

/// The default as the service has it, encoded: NULL. A default that a request sets stays in force
/// on its connection, also for the requests of other sinks, which set it back with this.
inline constexpr std::string_view kServiceMissingValues = "\x40\x01";

/// Each "COLUMN=NULL_VALUE" or "COLUMN=DEFAULT_VALUE", every column once. `name`: how the option is
/// called in messages.
[[nodiscard]] absl::Status checkMissingValues(const std::vector<std::string>& columns,
                                              std::string_view name);

}  // namespace penstock::bigquery
