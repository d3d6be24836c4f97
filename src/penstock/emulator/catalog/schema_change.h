#pragma once

#include <string_view>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// What the columns of a table become when a client asks for `wanted`, by the service's rules:
/// every column must be there (names are compared ignoring case), with its type; its parameters
/// (STRING(n), NUMERIC(p, s)) may grow or go, REQUIRED may become NULLABLE; a new column may be
/// NULLABLE or REPEATED. The same holds inside of RECORDs. Columns keep their order and spelling,
/// new ones go to the end of their level, and policy tags that the client leaves out stay.
///
/// kInvalidArgument names the table (`table` as the service writes it: "p:d.t"), the column and
/// what is wrong with it.
[[nodiscard]] absl::StatusOr<Schema> changedSchema(std::string_view table, const Schema& live,
                                                   const Schema& wanted);

}  // namespace penstock::emulator
