#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/base/status.h"

namespace penstock::command {

/// Answers `GET /metrics` over plain HTTP while it lives, for Prometheus to scrape.
class MetricsServer {
 public:
  /// Listens on `host` and `port` (0 = any free one). `render` makes each answer, on a thread of
  /// the server; it outlives the server. UNAVAILABLE names the address that cannot be used.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<MetricsServer>> start(
      const std::string& host, int port, std::function<std::string()> render);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// "http://127.0.0.1:9464/metrics".
  [[nodiscard]] std::string url() const;

 private:
  class Implementation;
  explicit MetricsServer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::command
