#pragma once

#include <optional>
#include <string>

#include "apps/penstock/console.h"
#include "apps/penstock/exit_code.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/runtime/file_source.h"

namespace penstock::command {

/// Reads a schema; errors name `setting`, which gave the file, and the file.
[[nodiscard]] absl::StatusOr<bigquery::TableSchema> readSchemaFile(const std::string& setting,
                                                                   const std::string& path);

/// Asked for by `setting`: from the whole of the files, from a bounded prefix of standard input.
/// With `skipBadRecords` records that could not be written anyway are passed over. Says on the
/// console what it found.
[[nodiscard]] absl::StatusOr<bigquery::TableSchema> inferSchema(const std::string& setting,
                                                                Console& console,
                                                                runtime::FileSource& source,
                                                                bool skipBadRecords);

}  // namespace penstock::command
