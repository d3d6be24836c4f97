#include "penstock/bigquery/schema/schema_fit.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_kind.h"
#include "penstock/bigquery/schema/column_name.h"

namespace penstock::bigquery {
namespace {

using Columns = std::vector<Column>;

bool modeFits(ColumnMode rows, ColumnMode table) {
  return rows == table || (rows == ColumnMode::kRequired && table == ColumnMode::kNullable);
}

/// Walks both schemas and keeps what contradicts.
class Comparison {
 public:
  void compare(const Columns& rows, const Columns& table, const std::string& parent) {
    std::unordered_map<std::string, const Column*>
        missing;  // of the table's, by their compared names
    for (const Column& column : table) missing.emplace(lowerCase(column.name), &column);
    for (const Column& column : rows) {
      const std::string path = parent + column.name;
      const auto found = missing.find(lowerCase(column.name));
      if (found == missing.end()) {
        add(fmt::format("column \"{}\" is {} in the schema and is not in the table", path,
                        describeKind(column)));
        continue;
      }
      compare(column, *found->second, path);
      missing.erase(found);
    }
    for (const Column& column : table) {
      const bool needsValue =
          column.mode == ColumnMode::kRequired && column.defaultValueExpression.empty();
      if (!needsValue || !missing.contains(lowerCase(column.name))) continue;
      add(fmt::format("column \"{}{}\" is {} in the table and is not in the schema", parent,
                      column.name, describeKind(column)));
    }
  }

  [[nodiscard]] absl::Status result() const {
    if (count_ == 0) return absl::OkStatus();
    if (count_ <= kMostNamed) return base::invalidArgument("{}", text_);
    return base::invalidArgument("{}; and {} more", text_, count_ - kMostNamed);
  }

 private:
  static constexpr size_t kMostNamed = 5;

  void compare(const Column& column, const Column& ofTable, const std::string& path) {
    if (isSameKind(column, ofTable) && modeFits(column.mode, ofTable.mode)) {
      compare(column.fields, ofTable.fields, path + ".");
    } else {
      add(fmt::format("column \"{}\" is {} in the schema and {} in the table", path,
                      describeKind(column), describeKind(ofTable)));
    }
  }

  void add(const std::string& contradiction) {
    if (++count_ > kMostNamed) return;
    if (!text_.empty()) text_ += "; ";
    text_ += contradiction;
  }

  std::string text_;
  size_t count_ = 0;
};

}  // namespace

absl::Status checkSchemaFits(const TableSchema& rows, const TableSchema& table) {
  Comparison comparison;
  comparison.compare(rows.columns, table.columns, "");
  return comparison.result();
}

}  // namespace penstock::bigquery
