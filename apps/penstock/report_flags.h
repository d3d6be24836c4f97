#pragma once

#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace penstock::command {

/// How a load can be watched from outside while it runs.
struct Reporting {
  bool serveMetrics = false;
  std::string metricsHost;
  int metricsPort = 0;             ///< 0 = any free one
  base::Duration statsInterval{};  ///< 0 = no statistics
  std::string statsFile;           ///< empty: standard error
};

/// `--metrics-port`, `--metrics-host`, `--stats-interval`, `--stats-file`.
class ReportFlags {
 public:
  explicit ReportFlags(CLI::App& app);

  /// What was given, checked; errors name the flag.
  [[nodiscard]] absl::StatusOr<Reporting> reporting() const;

 private:
  int metricsPort_ = -1;  // not given
  CLI::Option* hostOption_ = nullptr;
  std::string metricsHost_ = "127.0.0.1";
  std::string statsInterval_;
  std::string statsFile_;
};

}  // namespace penstock::command
