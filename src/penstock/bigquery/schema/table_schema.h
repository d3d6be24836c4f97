#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::bigquery {

/// A BigQuery column type (BQT-003). kUnset is a configuration error wherever a schema is used.
enum class ColumnType {
  kUnset,
  kString,
  kInt64,
  kDouble,
  kStruct,
  kBytes,
  kBool,
  kTimestamp,
  kDate,
  kTime,
  kDatetime,
  kGeography,
  kNumeric,
  kBignumeric,
  kInterval,
  kJson,
  kRange,
};

enum class ColumnMode { kNullable, kRequired, kRepeated };

/// The timestamp_precision of a TIMESTAMP column whose values go over the wire as text.
inline constexpr int64_t kPicosecondPrecision = 12;

/// One column of a table, or one field of a STRUCT.
struct Column {
  std::string name;
  ColumnType type = ColumnType::kUnset;
  ColumnMode mode = ColumnMode::kNullable;
  std::vector<Column> fields;  ///< of a STRUCT
  int64_t precision = 0;       ///< NUMERIC, BIGNUMERIC; 0 = not given
  int64_t scale = 0;           ///< NUMERIC, BIGNUMERIC; 0 = not given
  int64_t maxLength = 0;       ///< STRING, BYTES; 0 = not given
  std::string description;
  std::string defaultValueExpression;
  ColumnType rangeElementType = ColumnType::kUnset;  ///< of a RANGE
  int64_t timestampPrecision = 0;                    ///< 0, 6 or kPicosecondPrecision

  friend bool operator==(const Column&, const Column&) = default;
};

/// The columns of a table, in order.
struct TableSchema {
  std::vector<Column> columns;

  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

}  // namespace penstock::bigquery
