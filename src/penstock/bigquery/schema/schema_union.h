#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

/// How far a sink may change the columns of its tables. Both off: not at all.
struct SchemaUpdateOptions {
  /// Columns that the rows have and the table lacks are added to it, inside STRUCTs too, NULLABLE
  /// or REPEATED.
  bool allowNewFields = false;
  /// Columns that are REQUIRED in the table and not in the rows become NULLABLE.
  bool allowFieldRelaxation = false;

  [[nodiscard]] bool enabled() const { return allowNewFields || allowFieldRelaxation; }

  friend bool operator==(const SchemaUpdateOptions&, const SchemaUpdateOptions&) = default;
};

/// The columns that a table with `live` columns gets so that rows laid out by `desired` can be
/// appended to it (BQW-161); equal to `live` when there is nothing to change. Names match as
/// BigQuery's do, in lower case. Live columns keep their place, spelling, type and attributes; new
/// ones follow behind those of their level, REQUIRED made NULLABLE at every depth. A live REQUIRED
/// column becomes NULLABLE if it is not REQUIRED in `desired` and that is allowed; columns that
/// `desired` does not have stay as they are. Nothing else changes, so the union with the same
/// `desired` again changes nothing.
///
/// INVALID_ARGUMENT, naming the column by its dotted path and what to do: a new column while
/// `allowNewFields` is off, another type, or REPEATED on one side only.
[[nodiscard]] absl::StatusOr<TableSchema> uniteSchemas(const TableSchema& live,
                                                       const TableSchema& desired,
                                                       const SchemaUpdateOptions& allowed);

/// The columns of `live` and, behind those of their level, the ones that only `other` has, NULLABLE
/// or REPEATED. Where both have a column it stays as it is in `live`, whatever it is in `other`.
[[nodiscard]] TableSchema withNewColumns(const TableSchema& live, const TableSchema& other);

/// The dotted paths of the columns that `united`, a union with `live`, adds to it.
[[nodiscard]] std::vector<std::string> addedColumns(const TableSchema& live,
                                                    const TableSchema& united);
/// The dotted paths of the columns that are REQUIRED in `live` and not in `united`.
[[nodiscard]] std::vector<std::string> relaxedColumns(const TableSchema& live,
                                                      const TableSchema& united);

}  // namespace penstock::bigquery
