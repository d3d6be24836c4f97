#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator {

/// A BigQuery column type.
enum class FieldType : uint8_t {
  kString,
  kBytes,
  kInt64,
  kFloat64,
  kBool,
  kTimestamp,
  kDate,
  kTime,
  kDatetime,
  kNumeric,
  kBignumeric,
  kGeography,
  kJson,
  kInterval,
  kRange,
  kStruct,
};

enum class FieldMode : uint8_t { kNullable, kRequired, kRepeated };

/// One column of a table, or one field of a STRUCT. Checked by parseSchema(): a Field that the
/// catalog holds obeys the service's rules (a STRUCT has fields, a RANGE an element type,
/// parameters fit).
struct Field {
  std::string name;
  FieldType type = FieldType::kString;
  FieldMode mode = FieldMode::kNullable;
  std::vector<Field> fields;       ///< of a STRUCT, else empty
  int64_t maxLength = 0;           ///< STRING (characters) and BYTES (bytes); 0 = not given
  int64_t precision = 0;           ///< NUMERIC and BIGNUMERIC; 0 = not given
  int64_t scale = 0;               ///< NUMERIC and BIGNUMERIC; 0 = not given
  int64_t timestampPrecision = 0;  ///< TIMESTAMP: 6, 12, or 0 = not given (which means 6)
  std::optional<FieldType> rangeElementType;  ///< RANGE: kDate, kDatetime or kTimestamp
  std::string description;
  std::string defaultValueExpression;  ///< SQL text as given; empty = none
  std::string roundingMode;            ///< as given; empty = none
  std::string collation;               ///< as given; empty = none
  std::string policyTags;              ///< JSON object as given; empty = none

  friend bool operator==(const Field&, const Field&) = default;
};

/// The columns of a table, in order.
struct Schema {
  std::vector<Field> fields;

  friend bool operator==(const Schema&, const Schema&) = default;
};

/// The REST API's name of a type, the legacy one where there are two: INTEGER, FLOAT, BOOLEAN,
/// RECORD.
[[nodiscard]] std::string_view restTypeName(FieldType type);

/// The type of a REST name, legacy or standard, in any case; nothing when there is none of the
/// name.
[[nodiscard]] std::optional<FieldType> fieldTypeOf(std::string_view restName);

/// A column name as names are compared: lower case by Unicode's rules, whatever the process's
/// locale.
[[nodiscard]] std::string foldedName(std::string_view name);

/// The field with this name, compared ignoring case; null when there is none.
[[nodiscard]] const Field* findField(const std::vector<Field>& fields, std::string_view name);

/// NULLABLE, REQUIRED or REPEATED.
[[nodiscard]] std::string_view restModeName(FieldMode mode);

}  // namespace penstock::emulator
