#include "penstock/bigquery/schema/column_kind.h"

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/type_name.h"

namespace penstock::bigquery {
namespace {

int64_t timestampDigits(const Column& column) {
  constexpr int64_t kMicroseconds = 6;
  return column.timestampPrecision == 0 ? kMicroseconds : column.timestampPrecision;
}

}  // namespace

bool isSameKind(const Column& one, const Column& other) {
  return one.type == other.type && one.rangeElementType == other.rangeElementType &&
         (one.type != ColumnType::kTimestamp || timestampDigits(one) == timestampDigits(other));
}

std::string describeKind(const Column& column) {
  const bool needsMore = column.type == ColumnType::kRange;
  return fmt::format("{} {}", nameOf(column.mode),
                     needsMore ? describeType(column) : std::string(nameOf(column.type)));
}

}  // namespace penstock::bigquery
