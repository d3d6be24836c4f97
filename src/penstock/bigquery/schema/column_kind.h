#pragma once

#include <string>

#include "penstock/bigquery/schema/table_schema.h"

/// What of a column decides whether rows laid out for one fit the other: its type, without the
/// parameters that values are judged by one at a time (lengths, precision).
namespace penstock::bigquery {

/// Whether values of both columns are laid out alike. TIMESTAMP and TIMESTAMP(6) are one kind,
/// TIMESTAMP(12) is another; so are ranges of different elements. Fields of a STRUCT are not looked
/// at.
[[nodiscard]] bool isSameKind(const Column& one, const Column& other);

/// "REQUIRED INT64", "NULLABLE RANGE<DATE>": for messages.
[[nodiscard]] std::string describeKind(const Column& column);

}  // namespace penstock::bigquery
