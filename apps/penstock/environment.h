#pragma once

#include <filesystem>
#include <string>

#include "penstock/base/status.h"

namespace penstock::command {

/// What the command takes from its surroundings, read in one place at start.
struct Environment {
  std::string home;         ///< HOME
  std::string xdgDataHome;  ///< XDG_DATA_HOME
  bool outIsTerminal = false;
  bool errorIsTerminal = false;
  int terminalWidth = 0;  ///< columns; 0 = unknown
};

[[nodiscard]] Environment environmentOfProcess();

/// Where `--local` keeps its data without `--data-dir`: XDG_DATA_HOME/penstock/emulator, by default
/// ~/.local/share/penstock/emulator.
[[nodiscard]] absl::StatusOr<std::filesystem::path> defaultDataDirectory(
    const Environment& environment);

}  // namespace penstock::command
