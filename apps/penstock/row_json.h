#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::command {

/// A row of `tabledata.list` (`{"f": [{"v": ...}, ...]}`, timestamps as microseconds) as one JSON
/// object in the order of the columns, in the form that `penstock load` reads back: INT64, FLOAT64
/// and BOOL as JSON values, JSON columns as the value they hold, TIMESTAMP as RFC 3339, the rest as
/// text. NULL columns stay, as null. A row that does not fit the columns is an INTERNAL error.
[[nodiscard]] absl::StatusOr<nlohmann::ordered_json> rowAsJson(
    std::span<const bigquery::Column> columns, const nlohmann::json& row);

/// "2024-05-01T10:20:30Z", with as many of six decimals as are needed.
[[nodiscard]] std::string timestampText(int64_t microseconds);

/// One value of rowAsJson() as a cell of a table: text without quotes, nested values as JSON.
[[nodiscard]] std::string cellText(const nlohmann::ordered_json& value);

}  // namespace penstock::command
