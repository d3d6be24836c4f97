#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// The columns that `selectedFields` asks for, in the schema's order.
struct FieldSelection {
  struct Column {
    uint32_t index = 0;            ///< position among its siblings in the schema
    std::vector<Column> children;  ///< of a STRUCT
  };
  std::vector<Column> columns;

  /// Every column of the schema.
  static FieldSelection all(const Schema& schema);
  /// Out of a comma-separated list of dotted paths; a STRUCT named as a whole brings all its
  /// fields. kInvalidArgument names a path that there is not.
  static absl::StatusOr<FieldSelection> parse(std::string_view selectedFields,
                                              const Schema& schema);
};

/// The schema cut down to a selection.
[[nodiscard]] Schema selectedSchema(const Schema& schema, const FieldSelection& selection);

}  // namespace penstock::emulator
