#pragma once

#include <optional>
#include <string>

#include "apps/penstock/connection.h"
#include "apps/penstock/exit_code.h"
#include "apps/penstock/table_reader.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/table_name.h"

namespace penstock::command {

/// What is known of the table before the first record.
struct TableState {
  /// Set if the table exists and may be looked at.
  std::optional<TableDescription> description;
  /// The look-up was denied: the table may or may not exist.
  bool lookUpDenied = false;
};

/// Asks for the table over REST. A name that no table can have is an error; a missing dataset is
/// created where the target is local, else an error with the command that creates it; a missing
/// table is an error under CREATE_NEVER. `setting` is what named the table: "--to".
[[nodiscard]] std::optional<CommandError> checkTable(const Connection& connection,
                                                     const bigquery::TableName& table,
                                                     const std::string& setting, Console& console,
                                                     TableState& state);

/// The dataset's part of it; the table's own name is not looked at.
[[nodiscard]] std::optional<CommandError> checkDataset(const Connection& connection,
                                                       const bigquery::TableName& table,
                                                       Console& console);

/// What the schema that a flag gives must fit before the first record: the table, if it is known,
/// as far as the sink may change it; or what the service takes when it creates one. `flag` is what
/// gave it: "--schema FILE",
/// "--autodetect".
[[nodiscard]] std::optional<CommandError> checkSchema(const Connection& connection,
                                                      const bigquery::TableName& table,
                                                      const TableState& state,
                                                      const bigquery::TableSchema& schema,
                                                      const std::string& flag);

/// The part of it that holds for tables that are not known yet and may have to be created.
[[nodiscard]] std::optional<CommandError> checkNewTables(const Connection& connection,
                                                         const bigquery::TableSchema& schema,
                                                         const std::string& flag);

/// Asks for the table's default stream over gRPC. Each question is given 10 s; a refused or
/// unresolvable connection is not tried again.
[[nodiscard]] std::optional<CommandError> checkStream(const Connection& connection,
                                                      const bigquery::TableName& table,
                                                      const TableState& state);

/// The part of it that holds when the tables are not known yet: whether gRPC answers at all.
/// `dataset` names project and dataset, or is empty when they depend on the record too.
[[nodiscard]] std::optional<CommandError> checkService(const Connection& connection,
                                                       bigquery::TableName dataset);

}  // namespace penstock::command
