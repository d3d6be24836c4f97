#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/emulator/service/fault_rules.h"

namespace penstock::emulator {

struct EmulatorOptions {
  /// Where datasets, tables and rows are kept, created when missing; empty = a temporary directory,
  /// removed when the emulator stops.
  std::string dataDirectory;
  /// Address that both servers bind.
  std::string host = "127.0.0.1";
  int restPort = 9050;  ///< 0 to 65535; 0 = any free port
  int grpcPort = 9060;  ///< 0 to 65535; 0 = any free port
  /// Datasets made at the start unless they exist, each PROJECT.DATASET.
  std::vector<std::string> datasets;
  /// Location of those datasets and of others that are made without one: a region or a
  /// multi-region, in any case.
  std::string defaultLocation = "US";
};

struct EmulatorPorts {
  int rest = 0;
  int grpc = 0;
};

/// BigQuery on this machine: the Storage Write API over gRPC (plaintext) and the REST API v2, with
/// any project, rows in files, faults on demand. It serves from the moment that start() returns
/// until stop() or its end.
class Emulator {
 public:
  /// Errors: kInvalidArgument (an option: its name is in the message), kFailedPrecondition (the
  /// data directory is in use), kUnavailable (a port is taken: names the option and the port),
  /// kDataLoss (the data directory is damaged).
  static absl::StatusOr<std::unique_ptr<Emulator>> start(const EmulatorOptions& options);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  [[nodiscard]] EmulatorPorts ports() const;
  /// "HOST:PORT" of the two servers, as a client's options take them.
  [[nodiscard]] std::string restEndpoint() const;
  [[nodiscard]] std::string grpcEndpoint() const;
  [[nodiscard]] const std::string& dataDirectory() const;

  /// Makes a dataset in the default location; fine when it exists. `name` is PROJECT.DATASET.
  /// kInvalidArgument when it is not, or the dataset's name has other characters than letters,
  /// digits and underscores.
  absl::Status createDataset(const std::string& name);

  /// The rows that `table` (PROJECT.DATASET.TABLE) shows, for tests: those of a stream that are not
  /// flushed or committed do not count. kNotFound when there is no such table.
  [[nodiscard]] absl::StatusOr<uint64_t> rowCount(const std::string& table) const;

  /// Rules may be added and removed at any time, from any thread.
  [[nodiscard]] FaultRules& faults();

  /// Ends calls that are under way and the servers; what was acknowledged is kept. The second call
  /// does nothing.
  void stop();

 private:
  class Impl;
  explicit Emulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::emulator
