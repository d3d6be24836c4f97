#include "penstock/bigquery/table_name.h"

#include <algorithm>

#include "penstock/base/resource_name.h"

namespace penstock::bigquery {

std::string TableName::dotted() const { return fmt::format("{}.{}.{}", project, dataset, table); }

std::string TableName::resource() const {
  return fmt::format("projects/{}/datasets/{}/tables/{}", project, dataset, table);
}

std::string TableName::defaultStream() const { return resource() + "/streams/_default"; }

absl::Status TableName::validate() const {
  PENSTOCK_RETURN_IF_ERROR(base::checkResourceComponent("project", project));
  PENSTOCK_RETURN_IF_ERROR(base::checkResourceComponent("dataset", dataset));
  return base::checkResourceComponent("table", table);
}

absl::StatusOr<TableName> TableName::parse(std::string_view text) {
  const size_t last = text.rfind('.');
  const size_t middle = last == std::string_view::npos || last == 0 ? std::string_view::npos
                                                                    : text.rfind('.', last - 1);
  if (middle == std::string_view::npos) {
    return base::invalidArgument("'{}' is not a table name: expected PROJECT.DATASET.TABLE", text);
  }
  TableName name{std::string(text.substr(0, middle)),
                 std::string(text.substr(middle + 1, last - middle - 1)),
                 std::string(text.substr(last + 1))};
  if (name.project.find('.') != std::string::npos && name.project.find(':') == std::string::npos) {
    return base::invalidArgument(
        "'{}' is not a table name: it has {} parts, and PROJECT.DATASET.TABLE has three (a dot is "
        "part of a project's name only before a colon, as in example.com:project)",
        text, 1 + std::count(text.begin(), text.end(), '.'));
  }
  if (absl::Status status = name.validate(); !status.ok()) {
    return base::invalidArgument("'{}' is not a table name (expected PROJECT.DATASET.TABLE): {}",
                                 text, base::messageOf(status));
  }
  return name;
}

}  // namespace penstock::bigquery
