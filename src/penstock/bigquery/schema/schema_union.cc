#include "penstock/bigquery/schema/schema_union.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_kind.h"
#include "penstock/bigquery/schema/column_name.h"

namespace penstock::bigquery {
namespace {

using Columns = std::vector<Column>;

/// The service adds no REQUIRED column to a table, nor a STRUCT that holds one.
Column asNewColumn(Column column) {
  if (column.mode == ColumnMode::kRequired) column.mode = ColumnMode::kNullable;
  for (Column& field : column.fields) field = asNewColumn(std::move(field));
  return column;
}

std::unordered_map<std::string, size_t> placesOf(const Columns& columns) {
  std::unordered_map<std::string, size_t> places;
  for (size_t place = 0; place < columns.size(); ++place) {
    places.emplace(lowerCase(columns[place].name), place);
  }
  return places;
}

class Union {
 public:
  explicit Union(const SchemaUpdateOptions& allowed) : allowed_(allowed) {}

  /// Makes `columns`, one level of the table, take rows of the level `desired`.
  absl::Status extend(Columns& columns, const Columns& desired, const std::string& parent) const {
    const auto places = placesOf(columns);
    for (const Column& wanted : desired) {
      const std::string path = parent + wanted.name;
      if (const auto found = places.find(lowerCase(wanted.name)); found != places.end()) {
        PENSTOCK_RETURN_IF_ERROR(adapt(columns[found->second], wanted, path));
      } else if (allowed_.allowNewFields) {
        columns.push_back(asNewColumn(wanted));
      } else {
        return base::invalidArgument(
            "column \"{}\" is {} in the rows and is not in the table, and allowNewFields is off: "
            "set it, add the column, or leave the field out",
            path, describeKind(wanted));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status adapt(Column& column, const Column& wanted, const std::string& path) const {
    const bool sameRepetition =
        (column.mode == ColumnMode::kRepeated) == (wanted.mode == ColumnMode::kRepeated);
    if (!isSameKind(column, wanted) || !sameRepetition) {
      return base::invalidArgument(
          "column \"{}\" is {} in the rows and {} in the table; no update changes a column's type "
          "or whether it is REPEATED: correct the rows' schema, or write to another table",
          path, describeKind(wanted), describeKind(column));
    }
    if (allowed_.allowFieldRelaxation && wanted.mode == ColumnMode::kNullable) {
      column.mode = ColumnMode::kNullable;
    }
    return extend(column.fields, wanted.fields, path + ".");
  }

  const SchemaUpdateOptions allowed_;
};

void addNewColumns(Columns& columns, const Columns& others) {
  const auto places = placesOf(columns);
  for (const Column& other : others) {
    const auto found = places.find(lowerCase(other.name));
    if (found == places.end()) {
      columns.push_back(asNewColumn(other));
    } else if (isSameKind(columns[found->second], other)) {
      addNewColumns(columns[found->second].fields, other.fields);
    }
  }
}

void listAdded(const Columns& live, const Columns& united, const std::string& parent,
               std::vector<std::string>& paths) {
  for (size_t i = 0; i < united.size(); ++i) {
    const std::string path = parent + united[i].name;
    if (i >= live.size()) {
      paths.push_back(path);
    } else {
      listAdded(live[i].fields, united[i].fields, path + ".", paths);
    }
  }
}

void listRelaxed(const Columns& live, const Columns& united, const std::string& parent,
                 std::vector<std::string>& paths) {
  for (size_t i = 0; i < live.size(); ++i) {
    const std::string path = parent + live[i].name;
    if (live[i].mode != united[i].mode) paths.push_back(path);
    listRelaxed(live[i].fields, united[i].fields, path + ".", paths);
  }
}

}  // namespace

absl::StatusOr<TableSchema> uniteSchemas(const TableSchema& live, const TableSchema& desired,
                                         const SchemaUpdateOptions& allowed) {
  TableSchema united = live;
  PENSTOCK_RETURN_IF_ERROR(Union(allowed).extend(united.columns, desired.columns, ""));
  return united;
}

TableSchema withNewColumns(const TableSchema& live, const TableSchema& other) {
  TableSchema united = live;
  addNewColumns(united.columns, other.columns);
  return united;
}

std::vector<std::string> addedColumns(const TableSchema& live, const TableSchema& united) {
  std::vector<std::string> paths;
  listAdded(live.columns, united.columns, "", paths);
  return paths;
}

std::vector<std::string> relaxedColumns(const TableSchema& live, const TableSchema& united) {
  std::vector<std::string> paths;
  listRelaxed(live.columns, united.columns, "", paths);
  return paths;
}

}  // namespace penstock::bigquery
