#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/penstock/connection.h"
#include "apps/penstock/load_summary.h"
#include "apps/penstock/row_json.h"
#include "apps/penstock/subcommand.h"
#include "apps/penstock/table_reader.h"
#include "apps/penstock/text_table.h"
#include "penstock/base/byte_size.h"
#include "penstock/bigquery/schema/describe_schema.h"
#include "penstock/bigquery/schema/schema_json.h"

namespace penstock::command {
namespace {

using nlohmann::ordered_json;

/// The table that was asked for, found, and the way to it.
struct FoundTable {
  bigquery::TableName name;
  Connection connection;
  TableDescription description;
};

/// What head and show share: the table's name, where it is, and that it exists.
class TableFlags {
 public:
  explicit TableFlags(CLI::App& app) : target_(app) {
    app.add_option("TABLE", table_, "the table, PROJECT.DATASET.TABLE")->required();
  }

  std::optional<CommandError> find(const CommandContext& context, FoundTable& found) const {
    auto name = bigquery::TableName::parse(table_);
    if (!name.ok()) return commandError(ExitCode::kUsage, name.status());
    found.name = *std::move(name);
    if (auto error =
            openConnection(target_, context.environment, context.console, found.connection)) {
      return error;
    }
    TableReader reader(*found.connection.service->rest(), found.connection.options);
    auto description = reader.findTable(found.name);
    if (!description.ok()) return commandError(ExitCode::kUnusable, description.status());
    if (!*description) {
      return CommandError{ExitCode::kUnusable,
                          fmt::format("there is no table {} in {}", found.name.dotted(),
                                      found.connection.target->name())};
    }
    found.description = **std::move(description);
    return std::nullopt;
  }

 private:
  std::string table_;
  TargetFlags target_;
};

ExitCode report(const CommandContext& context, const CommandError& error) {
  context.console.error(error.message);
  return error.code;
}

class ShowCommand final : public Subcommand {
 public:
  explicit ShowCommand(CLI::App& app) : table_(app) {
    app.description("Prints a table's schema, rows and bytes.");
    app.add_flag("--json", json_, "one JSON object, the schema in BigQuery's own form");
    app.footer(
        "Examples:\n"
        "  penstock show p.d.t --local\n"
        "  penstock show my-project.my_dataset.events --json | jq .schema");
  }

  ExitCode run(const CommandContext& context) override {
    FoundTable found;
    if (auto error = table_.find(context, found)) return report(context, *error);
    const TableDescription& table = found.description;
    if (json_) {
      ordered_json object;
      object["table"] = found.name.dotted();
      object["location"] = table.location;
      object["rows"] = table.rows;
      object["bytes"] = table.bytes;
      object["schema"] = ordered_json::parse(bigquery::schemaToJson(table.schema));
      context.console.result(object.dump());
      return ExitCode::kSuccess;
    }
    std::string text = bigquery::describeSchema(table.schema);
    text +=
        fmt::format("{} {}, {}, in {}", withThousands(table.rows), table.rows == 1 ? "row" : "rows",
                    base::approximateByteSize(static_cast<double>(table.bytes)), table.location);
    context.console.result(fmt::format("{}\n{}", found.name.dotted(), text));
    return ExitCode::kSuccess;
  }

 private:
  TableFlags table_;
  bool json_ = false;
};

class HeadCommand final : public Subcommand {
 public:
  explicit HeadCommand(CLI::App& app) : table_(app) {
    app.description("Prints a table's first rows.");
    app.add_option("-n,--rows", rows_, "how many")->type_name("N")->capture_default_str();
    app.add_flag("--json", json_, "one JSON object a line, as `penstock load` reads them");
    app.footer(
        "Examples:\n"
        "  penstock head p.d.t --local\n"
        "  penstock head my-project.my_dataset.events -n 100 --json");
  }

  ExitCode run(const CommandContext& context) override {
    FoundTable found;
    if (auto error = table_.find(context, found)) return report(context, *error);
    TextTable text;
    for (const bigquery::Column& column : found.description.schema.columns)
      text.headings.push_back(column.name);
    TableReader reader(*found.connection.service->rest(), found.connection.options);
    const absl::Status status =
        reader.readRows(found.name, found.description.schema, rows_, [&](const ordered_json& row) {
          if (json_) {
            context.console.result(
                row.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
          } else {
            std::vector<std::string>& cells = text.rows.emplace_back();
            for (const auto& value : row) cells.push_back(cellText(value));
          }
        });
    if (!status.ok()) return report(context, commandError(ExitCode::kUnusable, status));
    if (json_) return ExitCode::kSuccess;
    constexpr size_t kWidthElsewhere = 160;
    const auto width = static_cast<size_t>(context.environment.terminalWidth);
    context.console.result(renderTable(text, width == 0 ? kWidthElsewhere : width));
    if (text.rows.size() < found.description.rows) {
      context.console.note(fmt::format("penstock: {} of {} rows", withThousands(text.rows.size()),
                                       withThousands(found.description.rows)));
    }
    return ExitCode::kSuccess;
  }

 private:
  TableFlags table_;
  uint64_t rows_ = 10;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> makeShowCommand(CLI::App& app) {
  return std::make_unique<ShowCommand>(app);
}
std::unique_ptr<Subcommand> makeHeadCommand(CLI::App& app) {
  return std::make_unique<HeadCommand>(app);
}

}  // namespace penstock::command
