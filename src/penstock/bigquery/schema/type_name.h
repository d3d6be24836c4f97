#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// The type's name in GoogleSQL: INT64, FLOAT64, STRUCT; "unset" for kUnset. What messages call it.
[[nodiscard]] std::string_view nameOf(ColumnType type);

/// The type's name in the REST API's answers: INTEGER, FLOAT, RECORD.
[[nodiscard]] std::string_view restNameOf(ColumnType type);

/// NULLABLE, REQUIRED or REPEATED.
[[nodiscard]] std::string_view nameOf(ColumnMode mode);

/// Any name of a type, in any case: legacy (INTEGER), GoogleSQL (INT64) or the Storage API's
/// (DOUBLE).
[[nodiscard]] std::optional<ColumnType> parseColumnType(std::string_view name);

/// A mode in any case.
[[nodiscard]] std::optional<ColumnMode> parseColumnMode(std::string_view name);

/// The type with its parameters, as GoogleSQL writes it: NUMERIC(10, 2), STRING(20), RANGE<DATE>.
[[nodiscard]] std::string describeType(const Column& column);

}  // namespace penstock::bigquery
