#pragma once

#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::bigquery {

/// Names one table; the value-identity key of a destination (BASE-029).
struct TableName {
  std::string project;
  std::string dataset;
  std::string table;

  /// "project.dataset.table": how people and errors write it.
  [[nodiscard]] std::string dotted() const;
  /// "projects/P/datasets/D/tables/T": the API's resource name.
  [[nodiscard]] std::string resource() const;
  /// resource() + "/streams/_default".
  [[nodiscard]] std::string defaultStream() const;

  /// Parses PROJECT.DATASET.TABLE (a project may be "domain.com:name", so split at the last two
  /// dots). Errors name the value and the expected form.
  static absl::StatusOr<TableName> parse(std::string_view text);
  /// Each part: not blank, no edge whitespace, no '/' (it would address another resource,
  /// BASE-001).
  [[nodiscard]] absl::Status validate() const;

  friend bool operator==(const TableName&, const TableName&) = default;
  friend auto operator<=>(const TableName&, const TableName&) = default;
};

}  // namespace penstock::bigquery

template <>
struct std::hash<penstock::bigquery::TableName> {
  // Not noexcept: libstdc++ then keeps the hash in each entry of a map, instead of hashing three
  // strings again for every entry that it passes.
  size_t operator()(const penstock::bigquery::TableName& name) const {
    const std::hash<std::string> hash;
    size_t value = hash(name.table);
    value = value * 31 + hash(name.dataset);
    return value * 31 + hash(name.project);
  }
};
