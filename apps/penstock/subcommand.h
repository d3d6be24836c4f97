#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "apps/penstock/console.h"
#include "apps/penstock/environment.h"
#include "apps/penstock/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}  // namespace CLI

namespace penstock::command {

/// What a subcommand works with.
struct CommandContext {
  Console& console;
  const Environment& environment;
};

/// One subcommand: its flags are declared when it is made, `run` follows when it was the one
/// chosen. What it ends with has been printed when `run` returns.
class Subcommand {
 public:
  virtual ~Subcommand() = default;
  virtual ExitCode run(const CommandContext& context) = 0;
};

/// Declares a subcommand on `app`.
using SubcommandFactory = std::unique_ptr<Subcommand> (*)(CLI::App& app);

std::unique_ptr<Subcommand> makeLoadCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeRunCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeHeadCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeShowCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeCheckpointsCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeOptionsCommand(CLI::App& app);
std::unique_ptr<Subcommand> makeEmulateCommand(CLI::App& app);

}  // namespace penstock::command
