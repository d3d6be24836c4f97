#pragma once

#include <memory>
#include <string>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/fault_rules.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// Serves the REST API over HTTP/1.1, with and without the path prefix `/bigquery/v2`, and the
/// admin endpoints `/penstock/health` and `/penstock/faults`. Every answer carries the header
/// `X-Penstock-Emulator`. Bodies may be compressed with gzip; PATCH may come as POST with
/// X-HTTP-Method-Override; credentials are neither required nor looked at.
class RestServer {
 public:
  /// What the methods work on; all outlive the server.
  struct Parts {
    Catalog& catalog;
    RowStore& rows;
    FaultRules& faults;
  };

  /// Listens when it returns. `port` 0 = any free one. kUnavailable names host and port when that
  /// cannot be bound. `defaultLocation` is that of datasets made without one.
  static absl::StatusOr<std::unique_ptr<RestServer>> start(
      const std::string& host, int port, const Parts& parts,
      const std::string& defaultLocation = "US");
  ~RestServer();
  RestServer(const RestServer&) = delete;
  RestServer& operator=(const RestServer&) = delete;

  [[nodiscard]] int port() const;
  /// Ends the calls that are under way and stops listening; the second call does nothing.
  void stop();

 private:
  class Impl;
  explicit RestServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::emulator
