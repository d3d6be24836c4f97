#include "apps/penstock/preflight.h"

#include <fmt/format.h>

#include <future>

#include "apps/penstock/asking.h"
#include "apps/penstock/flag_names.h"
#include "penstock/bigquery/schema/schema_fit.h"
#include "penstock/bigquery/schema/schema_union.h"
#include "penstock/bigquery/sink/append_outcome.h"
#include "penstock/bigquery/sink/table_creation_check.h"

namespace penstock::command {
namespace {

using bigquery::CreateDisposition;
using bigquery::SchemaUpdateOptions;
using bigquery::SinkOptions;
using bigquery::TableName;
using bigquery::TableSchema;
using bigquery::WriteStreamInfo;

/// The command that makes the dataset where this load goes.
std::string howToCreateDataset(const SinkOptions& options, const TableName& table) {
  if (!options.emulatorRestEndpoint) {
    return fmt::format("bq mk --dataset --location={} {}:{}", options.location.value_or("US"),
                       table.project, table.dataset);
  }
  return fmt::format(
      R"(curl -X POST http://{}/bigquery/v2/projects/{}/datasets -H 'content-type: application/json' )"
      R"(-d '{{"datasetReference":{{"projectId":"{}","datasetId":"{}"}},"location":"{}"}}')",
      options.emulatorRestEndpoint->text(), table.project, table.project, table.dataset,
      options.location.value_or("US"));
}

/// A partition (`t$20260101`) may be of a table that is there: it is refused only when a table
/// would have to be created.
std::optional<CommandError> checkName(const TableName& table, const std::string& setting,
                                      bool isMissing) {
  const absl::Status status =
      isMissing ? bigquery::checkNewTableName(table) : bigquery::checkTableName(table);
  if (status.ok()) return std::nullopt;
  return commandError(ExitCode::kBadInput, base::withContext(status, setting));
}

std::string howStreamIsReached(const SinkOptions& options) {
  if (options.emulatorEndpoint)
    return fmt::format("--emulator-endpoint {}", options.emulatorEndpoint->text());
  if (options.serviceEndpoint)
    return fmt::format("--service-endpoint {}", options.serviceEndpoint->text());
  return "BigQuery's Storage Write API (bigquerystorage.googleapis.com:443)";
}

/// What the service answers about a table that is missing, masked like a denial.
bool mayBeMissing(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsPermissionDenied(status) || absl::IsUnknown(status);
}

absl::StatusOr<WriteStreamInfo> askForStream(bigquery::TableAdmin& admin, const TableName& table) {
  const auto ask = [&] {
    std::promise<absl::StatusOr<WriteStreamInfo>> answer;
    admin.getWriteStream(
        table.defaultStream(), /*fullView=*/false, TableReader::kTimeout, /*failFast=*/true,
        [&answer](absl::StatusOr<WriteStreamInfo> info) { answer.set_value(std::move(info)); });
    return answer.get_future().get();
  };
  return askPatiently(ask, [](const absl::StatusOr<WriteStreamInfo>& info) {
    // A deadline was patience enough.
    return bigquery::isTransient(info.status().code()) &&
           !absl::IsDeadlineExceeded(info.status()) && !mayBeMissing(info.status());
  });
}

CommandError unreachable(const std::string& reached, const absl::Status& status) {
  return {ExitCode::kUnusable, fmt::format("{}: {}: {}", reached, base::codeName(status.code()),
                                           base::messageOf(status))};
}

CommandError denied(const std::string& reached, const TableName& table,
                    const absl::Status& status) {
  return {ExitCode::kUnusable,
          fmt::format(
              "the table {} may not exist or may not be writable with these credentials: {}: {}",
              table.dotted(), reached, base::messageOf(status))};
}

std::string changesThatHelp(const TableSchema& schema, const TableSchema& table,
                            const SchemaUpdateOptions& allowed);

/// Why rows of `schema` could not be appended even after the table has been changed as far as that
/// is `allowed`, and what to do; empty if they could.
std::string misfit(const TableSchema& schema, const TableSchema& table,
                   const SchemaUpdateOptions& allowed) {
  TableSchema changed = table;
  if (allowed.enabled()) {
    absl::StatusOr<TableSchema> united = bigquery::uniteSchemas(table, schema, allowed);
    if (!united.ok()) return withFlagNames(base::messageOf(united.status()));
    changed = *std::move(united);
  }
  absl::Status status = bigquery::checkSchemaFits(schema, changed);
  if (!status.ok()) {
    return fmt::format("{}; {}correct the schema, or leave the flag out to use the table's own",
                       base::messageOf(status), changesThatHelp(schema, table, allowed));
  }
  if (changed != table) status = bigquery::checkNewColumnNames(schema);
  return std::string(base::messageOf(status));
}

/// Which flags would make the table fit, as a piece of a sentence; empty if none does.
std::string changesThatHelp(const TableSchema& schema, const TableSchema& table,
                            const SchemaUpdateOptions& allowed) {
  constexpr SchemaUpdateOptions kBoth{.allowNewFields = true, .allowFieldRelaxation = true};
  if (allowed == kBoth) return {};
  constexpr std::pair<SchemaUpdateOptions, const char*> kChoices[] = {
      {{.allowNewFields = true}, "--allow-new-fields"},
      {{.allowFieldRelaxation = true}, "--allow-field-relaxation"},
      {kBoth, "--allow-new-fields and --allow-field-relaxation"}};
  for (const auto& [more, flags] : kChoices) {
    const SchemaUpdateOptions together{
        .allowNewFields = allowed.allowNewFields || more.allowNewFields,
        .allowFieldRelaxation = allowed.allowFieldRelaxation || more.allowFieldRelaxation};
    if (together != allowed && misfit(schema, table, together).empty()) {
      return fmt::format("give {} to have the table changed, ", flags);
    }
  }
  return {};
}

}  // namespace

std::optional<CommandError> checkDataset(const Connection& connection, const TableName& table,
                                         Console& console) {
  TableReader reader(*connection.service->rest(), connection.options);
  const absl::StatusOr<bool> exists = reader.datasetExists(table);
  if (!exists.ok()) {
    // The look-up may be denied to one who may write; the load itself will tell.
    if (absl::IsPermissionDenied(exists.status())) return std::nullopt;
    return commandError(ExitCode::kUnusable, exists.status());
  }
  if (*exists) return std::nullopt;
  if (!connection.target->local()) {
    return CommandError{ExitCode::kUnusable,
                        fmt::format("there is no dataset {}.{} in {}; to create it: {}",
                                    table.project, table.dataset, connection.target->name(),
                                    howToCreateDataset(connection.options, table))};
  }
  const std::string location = connection.options.location.value_or("US");
  const absl::Status created = reader.createDataset(table, location);
  if (!created.ok()) return commandError(ExitCode::kUnusable, created);
  console.note(fmt::format("penstock: created dataset {}.{} (location {})", table.project,
                           table.dataset, location));
  return std::nullopt;
}

std::optional<CommandError> checkTable(const Connection& connection, const TableName& table,
                                       const std::string& setting, Console& console,
                                       TableState& state) {
  if (auto error = checkName(table, setting, /*isMissing=*/false)) return error;
  TableReader reader(*connection.service->rest(), connection.options);
  auto found = reader.findTable(table);
  if (!found.ok()) {
    if (!absl::IsPermissionDenied(found.status()))
      return commandError(ExitCode::kUnusable, found.status());
    state.lookUpDenied = true;
    return std::nullopt;
  }
  state.description = *std::move(found);
  if (state.description) return std::nullopt;
  if (auto error = checkName(table, setting, /*isMissing=*/true)) return error;
  if (auto error = checkDataset(connection, table, console)) return error;
  if (connection.options.createDisposition == CreateDisposition::kCreateNever) {
    return CommandError{
        ExitCode::kUnusable,
        fmt::format("there is no table {} in {}, and --create-disposition CREATE_NEVER forbids "
                    "creating it",
                    table.dotted(), connection.target->name())};
  }
  return std::nullopt;
}

std::optional<CommandError> checkSchema(const Connection& connection, const TableName& table,
                                        const TableState& state,
                                        const bigquery::TableSchema& schema,
                                        const std::string& flag) {
  if (state.lookUpDenied) return std::nullopt;  // the service will tell
  if (state.description) {
    const std::string why =
        misfit(schema, state.description->schema, connection.options.schemaUpdateOptions);
    if (why.empty()) return std::nullopt;
    return CommandError{ExitCode::kBadInput,
                        fmt::format("{} does not fit the table {}: {}", flag, table.dotted(), why)};
  }
  return checkNewTables(connection, schema, flag);
}

std::optional<CommandError> checkNewTables(const Connection& connection,
                                           const bigquery::TableSchema& schema,
                                           const std::string& flag) {
  absl::Status status = base::withContext(bigquery::checkNewColumnNames(schema), flag);
  if (status.ok()) {
    status = bigquery::checkNewTableLayout(schema, connection.options.tableCreateOptions,
                                           base::OptionSpelling::kFlag);
  }
  if (status.ok()) return std::nullopt;
  return commandError(ExitCode::kBadInput, status);
}

std::optional<CommandError> checkStream(const Connection& connection, const TableName& table,
                                        const TableState& state) {
  const auto info = askForStream(*connection.service->tableAdmin(), table);
  if (info.ok()) return std::nullopt;
  const absl::Status& status = info.status();
  const std::string reached = howStreamIsReached(connection.options);
  if (mayBeMissing(status)) {
    // REST has said whether it is missing.
    if (!state.description && !state.lookUpDenied) return std::nullopt;
    return denied(reached, table, status);
  }
  return unreachable(reached, status);
}

std::optional<CommandError> checkService(const Connection& connection, TableName dataset) {
  // Any answer about a table will do, and the one about a table that is missing costs nothing.
  if (dataset.project.empty()) dataset.project = "penstock-check";
  if (dataset.dataset.empty()) dataset.dataset = "penstock_check";
  dataset.table = "penstock_check";
  const auto info = askForStream(*connection.service->tableAdmin(), dataset);
  if (info.ok() || mayBeMissing(info.status()) || absl::IsInvalidArgument(info.status())) {
    return std::nullopt;
  }
  return unreachable(howStreamIsReached(connection.options), info.status());
}

}  // namespace penstock::command
