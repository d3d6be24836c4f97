#include "penstock/bigquery/transport/service.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "penstock/bigquery/transport/grpc_append_call.h"
#include "penstock/bigquery/transport/stream_admin_client.h"
#include "penstock/bigquery/transport/table_admin_client.h"
#include "penstock/gcp/channel.h"
#include "penstock/gcp/credentials.h"
#include "penstock/gcp/rest_client.h"

namespace penstock::bigquery {
namespace {

constexpr char kStorageTarget[] = "bigquerystorage.googleapis.com:443";
constexpr char kRestBaseUrl[] = "https://bigquery.googleapis.com";
constexpr char kUserAgent[] = "penstock";

absl::Status checkTogether(const ServiceOptions& options) {
  const bool emulator = options.emulatorEndpoint || options.emulatorRestEndpoint;
  if (emulator && options.serviceAccountKeyFile) {
    return base::invalidArgument("{} cannot be used together with an emulator endpoint",
                                 options.keyFileSetting);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> readCertificates(const ServiceOptions& options) {
  if (!options.caFile) return std::string();
  std::ifstream file(*options.caFile, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.find("-----BEGIN") == std::string::npos) {
    return base::invalidArgument("{} does not name a readable PEM file of certificates: '{}'",
                                 options.caFileSetting, *options.caFile);
  }
  return text;
}

gcp::GrpcEndpoint grpcEndpoint(const ServiceOptions& options, std::string certificates) {
  gcp::GrpcEndpoint endpoint{.target = kStorageTarget,
                             .trustedCertificates = std::move(certificates),
                             .userAgent = kUserAgent};
  if (options.serviceEndpoint) endpoint.target = options.serviceEndpoint->text();
  if (options.emulatorEndpoint) {
    endpoint.target = options.emulatorEndpoint->text();
    endpoint.emulator = true;
  }
  return endpoint;
}

gcp::RestEndpoint restEndpoint(const ServiceOptions& options) {
  if (options.emulatorRestEndpoint) {
    return {.baseUrl = "http://" + options.emulatorRestEndpoint->text(), .emulator = true};
  }
  if (options.serviceRestEndpoint) {
    return {.baseUrl = "https://" + options.serviceRestEndpoint->text()};
  }
  return {.baseUrl = kRestBaseUrl};
}

absl::StatusOr<std::shared_ptr<gcp::TokenSource>> credentials(const ServiceOptions& options,
                                                              const gcp::Environment& environment) {
  if (options.emulatorEndpoint && options.emulatorRestEndpoint) return nullptr;
  // Token endpoints are Google's own: the CA file of a private endpoint does not concern them.
  const gcp::CredentialsContext context{
      .http = std::make_shared<gcp::HttpClient>(gcp::HttpClientOptions{.userAgent = kUserAgent}),
      .clock = &base::systemClock()};
  if (options.serviceAccountKeyFile) {
    return gcp::serviceAccountCredentials(*options.serviceAccountKeyFile, options.keyFileSetting,
                                          context);
  }
  return gcp::applicationDefaultCredentials(environment, context);
}

}  // namespace

ServiceOptions ServiceOptions::of(const SinkOptions& options) {
  return {.serviceAccountKeyFile = options.serviceAccountKeyFile,
          .emulatorEndpoint = options.emulatorEndpoint,
          .emulatorRestEndpoint = options.emulatorRestEndpoint,
          .serviceEndpoint = options.serviceEndpoint,
          .serviceRestEndpoint = options.serviceRestEndpoint,
          .caFile = options.caFile};
}

absl::StatusOr<std::shared_ptr<Service>> Service::connect(const ServiceOptions& options,
                                                          const gcp::Environment& environment) {
  PENSTOCK_RETURN_IF_ERROR(checkTogether(options));
  PENSTOCK_ASSIGN_OR_RETURN(std::string certificates, readCertificates(options));
  PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<gcp::TokenSource> tokens,
                            credentials(options, environment));
  const auto channels = std::make_shared<const gcp::ChannelSource>(
      grpcEndpoint(options, std::move(certificates)), tokens);
  auto http = std::make_shared<gcp::HttpClient>(
      gcp::HttpClientOptions{.userAgent = kUserAgent, .caFile = options.caFile.value_or("")});

  std::shared_ptr<Service> service(new Service);
  service->rest_ =
      std::make_shared<gcp::RestClient>(restEndpoint(options), std::move(http), tokens);
  service->calls_ = std::make_shared<GrpcAppendCallFactory>(channels);
  service->admin_ = std::make_shared<TableAdminClient>(channels, service->rest_);
  service->streams_ = std::make_shared<StreamAdminClient>(channels);
  service->isEmulator_ = options.emulatorEndpoint.has_value();
  return service;
}

Service::~Service() = default;

}  // namespace penstock::bigquery
