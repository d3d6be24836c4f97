#pragma once

#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"

namespace penstock::emulator {

/// The name of a write stream: `projects/P/datasets/D/tables/T/streams/S`; the default stream S =
/// `_default` may also be written without `streams/`.
struct StreamName {
  TableReference table;
  std::string stream;

  [[nodiscard]] bool isDefault() const { return stream == "_default"; }
  /// The long form.
  [[nodiscard]] std::string text() const;
  /// `projects/P/datasets/D/tables/T`.
  [[nodiscard]] std::string tableResource() const;

  /// kInvalidArgument names the text and the expected form.
  static absl::StatusOr<StreamName> parse(std::string_view text);
};

/// `projects/P/datasets/D/tables/T`.
[[nodiscard]] std::string tableResource(const TableReference& table);

/// The table of such a name; kInvalidArgument names the text and the expected form.
[[nodiscard]] absl::StatusOr<TableReference> parseTableResource(std::string_view text);

/// The table in the name of a stream, of a table, or of what lies below one; kInvalidArgument when
/// there is none in it.
[[nodiscard]] absl::StatusOr<TableReference> tableIn(std::string_view resource);

inline constexpr std::string_view kPermissionToGet = "TABLES_GET";
inline constexpr std::string_view kPermissionToUpdate = "TABLES_UPDATE_DATA";

/// What the service says of a table that is not there: it does not tell whether it is missing or
/// the caller may not see it, only the permission that the call asks for.
[[nodiscard]] absl::Status maskedMissing(const TableReference& table,
                                         std::string_view permission = kPermissionToGet);

}  // namespace penstock::emulator
