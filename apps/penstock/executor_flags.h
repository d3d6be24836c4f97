#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/penstock/load_plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}  // namespace CLI

namespace penstock::command {

/// `--parallelism`, `--checkpoint-dir`, `--checkpoint-interval`. Must live until the command line
/// is parsed and applied.
class ExecutorFlags {
 public:
  explicit ExecutorFlags(CLI::App& app);

  /// Puts what was given into a plan whose inputs are known; errors name the flag.
  [[nodiscard]] absl::Status apply(LoadPlan& plan) const;

 private:
  std::optional<int64_t> parallelism_;
  std::optional<std::string> checkpointDirectory_;
  std::optional<std::string> checkpointInterval_;
};

}  // namespace penstock::command
