#include "penstock/gcp/channel.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <utility>

namespace penstock::gcp {
namespace {

constexpr int kFirstReconnectMilliseconds = 100;
constexpr int kLongestReconnectMilliseconds = 5'000;

grpc::ChannelArguments argumentsFor(const GrpcEndpoint& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMilliseconds);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMilliseconds);
  if (endpoint.emulator) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!endpoint.userAgent.empty()) arguments.SetUserAgentPrefix(endpoint.userAgent);
  return arguments;
}

}  // namespace

ChannelSource::ChannelSource(GrpcEndpoint endpoint, std::shared_ptr<TokenSource> tokens)
    : endpoint_(std::move(endpoint)), tokens_(endpoint_.emulator ? nullptr : std::move(tokens)) {}

std::shared_ptr<grpc::Channel> ChannelSource::makeChannel() const {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (endpoint_.emulator) {
    credentials = grpc::InsecureChannelCredentials();
  } else {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = endpoint_.trustedCertificates;
    credentials = grpc::SslCredentials(options);
  }
  return grpc::CreateCustomChannel(endpoint_.target, credentials, argumentsFor(endpoint_));
}

void authorize(const Authorization& authorization, grpc::ClientContext* context) {
  context->AddMetadata("authorization", authorization.bearer);
  if (!authorization.quotaProject.empty()) {
    context->AddMetadata("x-goog-user-project", authorization.quotaProject);
  }
}

}  // namespace penstock::gcp
