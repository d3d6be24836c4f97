#include "apps/penstock/report_flags.h"

#include <CLI/CLI.hpp>

#include "penstock/base/duration.h"

namespace penstock::command {

ReportFlags::ReportFlags(CLI::App& app) {
  constexpr const char* kGroup = "Watching";
  app.add_option("--metrics-port", metricsPort_,
                 "serve metrics for Prometheus at /metrics on this port; 0 = any free one")
      ->type_name("PORT")
      ->group(kGroup);
  hostOption_ =
      app.add_option("--metrics-host", metricsHost_, "address that the metrics are served on")
          ->type_name("HOST")
          ->group(kGroup)
          ->capture_default_str();
  app.add_option("--stats-interval", statsInterval_,
                 "write a statistics document so often; by default none is written")
      ->type_name("DURATION")
      ->group(kGroup);
  app.add_option("--stats-file", statsFile_,
                 "file that holds the newest statistics document; default: standard error")
      ->type_name("FILE")
      ->group(kGroup);
}

absl::StatusOr<Reporting> ReportFlags::reporting() const {
  Reporting reporting;
  constexpr int kLargestPort = 65'535;
  if (metricsPort_ < -1 || metricsPort_ > kLargestPort) {
    return base::invalidArgument("--metrics-port must be 0 to {}: '{}'", kLargestPort,
                                 metricsPort_);
  }
  reporting.serveMetrics = metricsPort_ >= 0;
  if (!reporting.serveMetrics && hostOption_->count() > 0) {
    return base::invalidArgument("--metrics-host needs --metrics-port ('{}')", metricsHost_);
  }
  reporting.metricsHost = metricsHost_;
  reporting.metricsPort = metricsPort_;
  reporting.statsFile = statsFile_;
  if (statsInterval_.empty()) {
    if (statsFile_.empty()) return reporting;
    return base::invalidArgument("--stats-file needs --stats-interval ('{}')", statsFile_);
  }
  const auto interval = base::parseDuration(statsInterval_);
  if (!interval.ok()) return base::withContext(interval.status(), "--stats-interval");
  if (*interval < std::chrono::milliseconds(1)) {
    return base::invalidArgument("--stats-interval must be >= 1 ms: '{}'", statsInterval_);
  }
  reporting.statsInterval = *interval;
  return reporting;
}

}  // namespace penstock::command
