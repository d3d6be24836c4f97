#include "penstock/emulator/service/missing_values.h"

#include <map>

namespace penstock::emulator {
namespace {

bool isKnown(MissingValue value) {
  return value == MissingValue::kNull || value == MissingValue::kDefault;
}

}  // namespace

absl::StatusOr<std::vector<const Field*>> MissingValues::columnsToFill(const AppendRequest& request,
                                                                       const Schema& schema) {
  if (request.defaultMissingValue.has_value()) {
    if (*request.defaultMissingValue > MissingValue::kDefault) {
      return base::invalidArgument("{} is no default_missing_value_interpretation.",
                                   static_cast<uint64_t>(*request.defaultMissingValue));
    }
    forAll_ = *request.defaultMissingValue;
  }
  std::vector<const Field*> columns;
  if (forAll_ != MissingValue::kDefault && request.missingValues.empty()) return columns;
  std::map<const Field*, MissingValue> single;
  for (const auto& [name, value] : request.missingValues) {
    const Field* const column = findField(schema.fields, name);
    if (column == nullptr) {
      return base::invalidArgument(
          "missing_value_interpretations names {}, which is not a column of the table.", name);
    }
    if (!isKnown(value)) {
      return base::invalidArgument(
          "missing_value_interpretations has {} for column {}: it must be NULL_VALUE or "
          "DEFAULT_VALUE.",
          static_cast<uint64_t>(value), name);
    }
    single[column] = value;
  }
  for (const Field& column : schema.fields) {
    if (column.defaultValueExpression.empty()) continue;
    const auto own = single.find(&column);
    if ((own == single.end() ? forAll_ : own->second) == MissingValue::kDefault) {
      columns.push_back(&column);
    }
  }
  return columns;
}

}  // namespace penstock::emulator
