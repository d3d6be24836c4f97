#include "penstock/bigquery/sink/table_creation_check.h"

#include <algorithm>
#include <vector>

#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/type_name.h"

namespace penstock::bigquery {
namespace {

constexpr size_t kMaxNameBytes = 1024;

bool isAsciiLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether each ASCII character is a letter, a digit, `_` or one of `others`. Which of the other
/// characters are letters is the service's to say.
bool hasOnly(std::string_view name, std::string_view others) {
  return std::all_of(name.begin(), name.end(), [others](char c) {
    const bool isAscii = (static_cast<unsigned char>(c) & 0x80) == 0;
    return !isAscii || isAsciiLetterOrDigit(c) || c == '_' ||
           others.find(c) != std::string_view::npos;
  });
}

absl::Status checkColumnNames(const std::vector<Column>& columns, const std::string& parent) {
  for (const Column& column : columns) {
    const std::string path = parent + column.name;
    if (const std::string_view why = whyColumnNameIsRefused(column.name); !why.empty()) {
      return base::invalidArgument("column \"{}\": the name {}: a table cannot be created with it",
                                   path, why);
    }
    PENSTOCK_RETURN_IF_ERROR(checkColumnNames(column.fields, path + "."));
  }
  return absl::OkStatus();
}

bool canCluster(ColumnType type) {
  switch (type) {
    case ColumnType::kUnset:
    case ColumnType::kDouble:
    case ColumnType::kStruct:
    case ColumnType::kBytes:
    case ColumnType::kTime:
    case ColumnType::kInterval:
    case ColumnType::kJson:
      return false;
    default:
      return true;
  }
}

bool canPartition(ColumnType type) {
  return type == ColumnType::kDate || type == ColumnType::kDatetime ||
         type == ColumnType::kTimestamp;
}

/// Names one option in messages.
class LayoutOption {
 public:
  LayoutOption(std::string key, base::OptionSpelling spelling)
      : name_(base::OptionDefinition{.key = std::move(key)}.name(spelling)) {}

  /// The top-level column called `name`, which must not be REPEATED.
  absl::StatusOr<const Column*> column(const TableSchema& schema, const std::string& name) const {
    const std::string wanted = lowerCase(name);
    const auto found =
        std::find_if(schema.columns.begin(), schema.columns.end(),
                     [&](const Column& column) { return lowerCase(column.name) == wanted; });
    if (found == schema.columns.end()) {
      return base::invalidArgument("{}: '{}' is not a top-level column of the schema", name_, name);
    }
    if (found->mode == ColumnMode::kRepeated) {
      return base::invalidArgument("{}: column '{}' is REPEATED, which is not possible here", name_,
                                   name);
    }
    return &*found;
  }

  [[nodiscard]] absl::Status wrongType(const Column& column, std::string_view wanted) const {
    return base::invalidArgument("{}: column '{}' is {}; it must be {}", name_, column.name,
                                 nameOf(column.type), wanted);
  }

 private:
  std::string name_;
};

absl::Status checkPartitioning(const TableSchema& schema, const TableCreateOptions& options,
                               base::OptionSpelling spelling) {
  if (options.timePartitioningField.empty()) return absl::OkStatus();
  const LayoutOption option("sink.time-partitioning-field", spelling);
  PENSTOCK_ASSIGN_OR_RETURN(const Column* column,
                            option.column(schema, options.timePartitioningField));
  if (!canPartition(column->type)) {
    return option.wrongType(*column, "DATE, DATETIME or TIMESTAMP");
  }
  if (options.timePartitioningType == "HOUR" && column->type == ColumnType::kDate) {
    return option.wrongType(*column, "DATETIME or TIMESTAMP for partitions of an HOUR");
  }
  return absl::OkStatus();
}

absl::Status checkClustering(const TableSchema& schema, const TableCreateOptions& options,
                             base::OptionSpelling spelling) {
  const LayoutOption option("sink.clustered-fields", spelling);
  for (const std::string& name : options.clusteredFields) {
    PENSTOCK_ASSIGN_OR_RETURN(const Column* column, option.column(schema, name));
    if (canCluster(column->type)) continue;
    return option.wrongType(*column,
                            "a type that has an order (not BYTES, FLOAT64, INTERVAL, JSON, STRUCT "
                            "or TIME)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status checkTableName(const TableName& table) {
  if (!hasOnly(table.dataset, "") || table.dataset.size() > kMaxNameBytes) {
    return base::invalidArgument(
        "'{}' cannot be the name of a dataset: letters, digits and _, at most {} of them",
        table.dataset, kMaxNameBytes);
  }
  const std::string_view name = std::string_view(table.table).substr(0, table.table.find('$'));
  if (name.empty() || !hasOnly(name, "- ") || table.table.size() > kMaxNameBytes) {
    return base::invalidArgument(
        "'{}' cannot be the name of a table: letters, digits, _, - and spaces, at most {} bytes",
        table.table, kMaxNameBytes);
  }
  return absl::OkStatus();
}

absl::Status checkNewTableName(const TableName& table) {
  PENSTOCK_RETURN_IF_ERROR(checkTableName(table));
  const size_t dollar = table.table.find('$');
  if (dollar == std::string::npos) return absl::OkStatus();
  return base::invalidArgument(
      "'{}' is a partition, and there is no table '{}' that it could belong to: create the table "
      "first, or load into it without '{}'",
      table.table, table.table.substr(0, dollar), table.table.substr(dollar));
}

absl::Status checkNewColumnNames(const TableSchema& schema) {
  return checkColumnNames(schema.columns, "");
}

absl::Status checkNewTableLayout(const TableSchema& schema, const TableCreateOptions& options,
                                 base::OptionSpelling spelling) {
  PENSTOCK_RETURN_IF_ERROR(checkPartitioning(schema, options, spelling));
  return checkClustering(schema, options, spelling);
}

}  // namespace penstock::bigquery
