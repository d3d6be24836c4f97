#pragma once

#include <memory>
#include <optional>
#include <string>

#include "penstock/base/endpoint.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/stream_admin.h"
#include "penstock/bigquery/sink/table_admin.h"
#include "penstock/gcp/environment.h"

namespace penstock::gcp {
class RestClient;
}  // namespace penstock::gcp

namespace penstock::bigquery {

/// Which BigQuery is spoken to, and as whom.
struct ServiceOptions {
  /// Key file of a service account; unset = application-default credentials (BASE-045).
  std::optional<std::string> serviceAccountKeyFile;
  /// gRPC and REST of an emulator: plaintext, no credentials. With only one of them the other API
  /// is still the real service's (BQW-192).
  std::optional<base::Endpoint> emulatorEndpoint;
  std::optional<base::Endpoint> emulatorRestEndpoint;
  /// Other TLS addresses of gRPC and REST (BASE-046).
  std::optional<base::Endpoint> serviceEndpoint;
  std::optional<base::Endpoint> serviceRestEndpoint;
  /// PEM file of the certificate authorities trusted for TLS; unset = the system's.
  std::optional<std::string> caFile;

  /// What the user calls the two files, for errors.
  std::string keyFileSetting = "serviceAccountKeyFile";
  std::string caFileSetting = "caFile";

  [[nodiscard]] static ServiceOptions of(const SinkOptions& options);
};

/// The clients of one BigQuery, with one token source for all of them. Thread-safe.
class Service {
 public:
  /// Reads the files that the options name; sends nothing yet. Errors name the option: a key file
  /// that cannot be used (BASE-009), a key file together with an emulator, an unreadable CA file.
  /// `environment`: where application-default credentials are looked for.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<Service>> connect(
      const ServiceOptions& options,
      const gcp::Environment& environment = gcp::Environment::read());
  ~Service();

  [[nodiscard]] const std::shared_ptr<AppendCallFactory>& appendCalls() const { return calls_; }
  [[nodiscard]] const std::shared_ptr<TableAdmin>& tableAdmin() const { return admin_; }
  [[nodiscard]] const std::shared_ptr<StreamAdmin>& streamAdmin() const { return streams_; }
  /// BigQuery's REST API v2.
  [[nodiscard]] const std::shared_ptr<gcp::RestClient>& rest() const { return rest_; }
  /// Whether appends go to an emulator endpoint (BQW-193).
  [[nodiscard]] bool isEmulator() const { return isEmulator_; }

 private:
  Service() = default;
  std::shared_ptr<gcp::RestClient> rest_;
  std::shared_ptr<AppendCallFactory> calls_;
  std::shared_ptr<TableAdmin> admin_;
  std::shared_ptr<StreamAdmin> streams_;
  bool isEmulator_ = false;
};

}  // namespace penstock::bigquery
