#pragma once

#include "apps/penstock/environment.h"

namespace penstock::command {

/// Parses the command line and runs what it asks for; answers the exit code. Standard output and
/// error are the process's.
[[nodiscard]] int runCommandLine(int argc, const char* const* argv, const Environment& environment);

}  // namespace penstock::command
