#pragma once

#include "penstock/base/option.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/sink/table_admin.h"

/// What the service would refuse and can be told without asking it. Each answers
/// INVALID_ARGUMENT.
namespace penstock::bigquery {

/// The names of the dataset and the table: their characters and lengths. A partition (`t$20260101`)
/// is a name like any other.
[[nodiscard]] absl::Status checkTableName(const TableName& table);

/// The same for a table to be created, which a partition cannot be.
[[nodiscard]] absl::Status checkNewTableName(const TableName& table);

/// The names of the columns, nested ones included, by their dotted path.
[[nodiscard]] absl::Status checkNewColumnNames(const TableSchema& schema);

/// Whether the columns that `options` partition and cluster by are there and can serve. Options are
/// named as `spelling` says.
[[nodiscard]] absl::Status checkNewTableLayout(
    const TableSchema& schema, const TableCreateOptions& options,
    base::OptionSpelling spelling = base::OptionSpelling::kBuilder);

}  // namespace penstock::bigquery
