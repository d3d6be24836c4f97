#include "apps/penstock/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "apps/penstock/flag_names.h"
#include "apps/penstock/subcommand.h"
#include "penstock/base/log.h"
#include "penstock/base/text.h"

namespace penstock::command {
namespace {

struct Entry {
  const char* name;
  SubcommandFactory make;
};

constexpr Entry kSubcommands[] = {
    {"load", makeLoadCommand},       {"run", makeRunCommand},
    {"head", makeHeadCommand},       {"show", makeShowCommand},
    {"emulate", makeEmulateCommand}, {"checkpoints", makeCheckpointsCommand},
    {"options", makeOptionsCommand}};

constexpr const char* kCommandFooter =
    "Examples:\n"
    "  penstock load events.jsonl --to my-project.my_dataset.events --autodetect\n"
    "  penstock load events.jsonl --to p.d.events --autodetect --local\n"
    "  penstock run pipeline.yaml\n"
    "  penstock head p.d.events --local\n"
    "  penstock emulate --dataset p.d\n"
    "`penstock COMMAND --help` says more.";

/// The flag of `app` that looks most like `given`, or empty.
std::string nearestFlag(const CLI::App& app, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  std::string nearest;
  size_t nearestDistance = std::max<size_t>(3, name.size() / 3);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& longName : option->get_lnames()) {
      const size_t distance = base::editDistance(name, "--" + longName);
      if (distance < nearestDistance) {
        nearestDistance = distance;
        nearest = "--" + longName;
      }
    }
  }
  return nearest;
}

std::string describeExtras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string first = extras.empty() ? std::string() : extras.front();
  const CLI::App* chosen = &app;
  for (const CLI::App* subcommand : app.get_subcommands()) chosen = subcommand;
  if (!first.starts_with("-")) return fmt::format("unexpected argument '{}'", first);
  const std::string nearest = nearestFlag(*chosen, first);
  if (nearest.empty()) return fmt::format("unknown flag '{}'", first);
  return fmt::format("unknown flag '{}', did you mean '{}'?", first, nearest);
}

ExitCode usageError(Console& console, const CLI::App& app, const std::string& message) {
  const auto chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
  console.error(fmt::format("{} (`penstock{} --help` lists the flags)", message, name));
  return ExitCode::kUsage;
}

/// The parser's own words for a value that is no number do not name the two.
std::string describeConversion(std::string_view message) {
  constexpr std::string_view kStart = "Could not convert: ";
  const size_t equals = message.find(" = ");
  if (!message.starts_with(kStart) || equals == std::string_view::npos) return std::string(message);
  return fmt::format("{} takes a whole number: '{}'",
                     message.substr(kStart.size(), equals - kStart.size()),
                     message.substr(equals + 3));
}

ExitCode parseAndRun(CLI::App& app,
                     std::vector<std::pair<CLI::App*, std::unique_ptr<Subcommand>>>& commands,
                     int argc, const char* const* argv, const CommandContext& context) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return usageError(context.console, app, describeExtras(app));
  } catch (const CLI::ConversionError& error) {
    return usageError(context.console, app, describeConversion(error.what()));
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return ExitCode::kSuccess;
  } catch (const CLI::ParseError& error) {
    return usageError(context.console, app, error.what());
  }
  for (auto& [subcommand, command] : commands) {
    if (subcommand->parsed()) return command->run(context);
  }
  context.console.result(app.help());
  return ExitCode::kUsage;
}

}  // namespace

int runCommandLine(int argc, const char* const* argv, const Environment& environment) {
  Console console(stdout, stderr, environment.errorIsTerminal);
  base::setLogHook([&console](base::LogLevel level, std::string_view message) {
    if (level == base::LogLevel::kWarning)
      console.note(fmt::format("penstock: warning: {}", withFlagNames(message)));
    if (level == base::LogLevel::kError) console.error(withFlagNames(message));
  });
  CLI::App app("Streams records into Google Cloud data services; BigQuery for now.", "penstock");
  app.set_version_flag("--version", "penstock " PENSTOCK_VERSION);
  app.footer(kCommandFooter);
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, std::unique_ptr<Subcommand>>> commands;
  for (const Entry& entry : kSubcommands) {
    CLI::App* subcommand = app.add_subcommand(entry.name);
    commands.emplace_back(subcommand, entry.make(*subcommand));
  }
  const ExitCode code = parseAndRun(app, commands, argc, argv, {console, environment});
  base::setLogHook({});
  return static_cast<int>(code);
}

}  // namespace penstock::command
