#pragma once

#include <memory>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/fault_rules.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// Serves google.cloud.bigquery.storage.v1.BigQueryWrite in plaintext. Every answer of a method
/// that is there carries the header `x-penstock-emulator: <version>`, and a connection takes 100
/// streams, as the service's does.
class GrpcServer {
 public:
  /// What the methods work on; all outlive the server.
  struct Parts {
    const Catalog& catalog;
    RowStore& rows;
    FaultRules& faults;
    const base::Clock& clock = base::systemClock();
  };

  /// Listens when it returns. `port` 0 = any free one. kUnavailable when the port cannot be bound.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> start(const std::string& host, int port,
                                                           const Parts& parts);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  [[nodiscard]] int port() const;
  /// Ends the calls that are under way and stops listening; the second call does nothing.
  void stop();

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::emulator
