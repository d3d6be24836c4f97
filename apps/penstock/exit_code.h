#pragma once

#include <string>

#include "apps/penstock/flag_names.h"
#include "penstock/base/status.h"

namespace penstock::command {

/// What the command exits with; docs/command.md says the same to users.
enum class ExitCode : int {
  kSuccess = 0,   ///< all was done, or there was nothing to do
  kFailed = 1,    ///< the load began and the service, the network or this machine ended it
  kUsage = 2,     ///< the command line: unknown flags, bad values, refused combinations
  kBadInput = 3,  ///< the input or a setting that does not fit: a missing or unreadable file, a bad
                  ///< record, a schema that contradicts the table, a port in use
  kUnusable = 4,  ///< the target: unreachable, no credentials, no such dataset or table, denied
  kCheckpoint = 5,  ///< the checkpoint or data directory: unreadable, locked, of another job
  kStopped = 130,   ///< SIGINT or SIGTERM ended it early, gracefully
};

/// Why a command ends early.
struct CommandError {
  ExitCode code = ExitCode::kFailed;
  std::string message;  ///< one sentence for people; no code names in front
};

/// `status` as the reason to end with `code`, options under the names of their flags.
[[nodiscard]] inline CommandError commandError(ExitCode code, const absl::Status& status) {
  return {code, withFlagNames(base::messageOf(status))};
}

}  // namespace penstock::command
