#include "apps/penstock/environment.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace penstock::command {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread runs yet
  return value == nullptr ? std::string() : std::string(value);
}

int widthOf(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Environment environmentOfProcess() {
  Environment environment{.home = variable("HOME"), .xdgDataHome = variable("XDG_DATA_HOME")};
  environment.outIsTerminal = isatty(STDOUT_FILENO) == 1;
  environment.errorIsTerminal = isatty(STDERR_FILENO) == 1;
  if (environment.outIsTerminal) {
    environment.terminalWidth = widthOf(STDOUT_FILENO);
  } else if (environment.errorIsTerminal) {
    environment.terminalWidth = widthOf(STDERR_FILENO);
  }
  return environment;
}

absl::StatusOr<std::filesystem::path> defaultDataDirectory(const Environment& environment) {
  // The XDG base directory specification: relative values are to be ignored.
  const std::filesystem::path data(environment.xdgDataHome);
  if (data.is_absolute()) return data / "penstock" / "emulator";
  if (environment.home.empty()) {
    return base::invalidArgument(
        "--local: neither HOME nor XDG_DATA_HOME says where your data belongs; give --data-dir "
        "DIR");
  }
  return std::filesystem::path(environment.home) / ".local" / "share" / "penstock" / "emulator";
}

}  // namespace penstock::command
