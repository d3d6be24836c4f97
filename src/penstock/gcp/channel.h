#pragma once

#include <memory>
#include <string>

#include "penstock/gcp/token_source.h"

namespace grpc {
class Channel;
class ClientContext;
}  // namespace grpc

namespace penstock::gcp {

/// Where a gRPC service is and how it is spoken to.
struct GrpcEndpoint {
  std::string target;  ///< "host:port"
  /// Plaintext, without credentials or proxy: an emulator (BASE-007).
  bool emulator = false;
  /// TLS: the certificate authorities to trust, as PEM text; empty = the system's.
  std::string trustedCertificates;
  std::string userAgent;
};

/// Makes channels to one endpoint. Each has an HTTP/2 connection of its own, gRPC's retries off
/// (the cores own every schedule, BQW-060), no limit on inbound messages (BQW-052), and reconnects
/// within seconds, so that the cores' schedules are the ones that count. Thread-safe.
class ChannelSource {
 public:
  /// `tokens`: null = calls carry no credentials, as with an emulator.
  ChannelSource(GrpcEndpoint endpoint, std::shared_ptr<TokenSource> tokens);

  [[nodiscard]] std::shared_ptr<grpc::Channel> makeChannel() const;
  /// What each call must be authorized with; null = nothing.
  [[nodiscard]] const std::shared_ptr<TokenSource>& tokens() const { return tokens_; }
  [[nodiscard]] const GrpcEndpoint& endpoint() const { return endpoint_; }

 private:
  GrpcEndpoint endpoint_;
  std::shared_ptr<TokenSource> tokens_;
};

/// Adds the authorization to a call that has not started.
void authorize(const Authorization& authorization, grpc::ClientContext* context);

}  // namespace penstock::gcp
