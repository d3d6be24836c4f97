#include "penstock/emulator/service/grpc_server.h"

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <chrono>

#include "penstock/emulator/service/append_reactor.h"
#include "penstock/emulator/service/connection_cut.h"
#include "penstock/emulator/service/listening_port.h"
#include "penstock/emulator/service/stream_methods.h"
#include "penstock/emulator/service/unary_call.h"
#include "penstock/emulator/version.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;

constexpr int kReadAheadBytes = 2 * 1024 * 1024;
constexpr int kMaxStreamsPerConnection = 100;
constexpr const char* kAnnouncement = "x-penstock-emulator";

using UnaryService = api::BigQueryWrite::WithCallbackMethod_CreateWriteStream<
    api::BigQueryWrite::WithCallbackMethod_GetWriteStream<
        api::BigQueryWrite::WithCallbackMethod_FinalizeWriteStream<
            api::BigQueryWrite::WithCallbackMethod_BatchCommitWriteStreams<
                api::BigQueryWrite::WithCallbackMethod_FlushRows<api::BigQueryWrite::Service>>>>>;

/// AppendRows takes raw bytes: a request object would copy every row.
class WriteService : public api::BigQueryWrite::WithRawCallbackMethod_AppendRows<UnaryService> {
 public:
  /// `port` is the server's, known once it listens.
  WriteService(const GrpcServer::Parts& parts, const int& port)
      : parts_(parts), port_(port), methods_(parts.catalog, parts.rows, parts.clock) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AppendRows(
      grpc::CallbackServerContext* context) override {
    context->AddInitialMetadata(kAnnouncement, std::string(version()));
    auto* reactor = new AppendReactor(
        *context,
        std::make_unique<AppendSession>(parts_.catalog, parts_.rows, checks_, parts_.clock),
        parts_.faults, cutterFor(*context));
    reactor->start();
    return reactor;
  }

  grpc::ServerUnaryReactor* CreateWriteStream(grpc::CallbackServerContext* context,
                                              const api::CreateWriteStreamRequest* request,
                                              api::WriteStream* response) override {
    return answerUnary(context, "CreateWriteStream", request->parent(),
                       [this, request, response](bool) {
                         return methods_.createWriteStream(*request, *response);
                       });
  }
  grpc::ServerUnaryReactor* GetWriteStream(grpc::CallbackServerContext* context,
                                           const api::GetWriteStreamRequest* request,
                                           api::WriteStream* response) override {
    return answerUnary(context, "GetWriteStream", request->name(),
                       [this, request, response](bool oldSchema) {
                         return methods_.getWriteStream(*request, oldSchema, *response);
                       });
  }
  grpc::ServerUnaryReactor* FinalizeWriteStream(
      grpc::CallbackServerContext* context, const api::FinalizeWriteStreamRequest* request,
      api::FinalizeWriteStreamResponse* response) override {
    return answerUnary(context, "FinalizeWriteStream", request->name(),
                       [this, request, response](bool) {
                         return methods_.finalizeWriteStream(*request, *response);
                       });
  }
  grpc::ServerUnaryReactor* BatchCommitWriteStreams(
      grpc::CallbackServerContext* context, const api::BatchCommitWriteStreamsRequest* request,
      api::BatchCommitWriteStreamsResponse* response) override {
    return answerUnary(context, "BatchCommitWriteStreams", request->parent(),
                       [this, request, response](bool) {
                         return methods_.batchCommitWriteStreams(*request, *response);
                       });
  }
  grpc::ServerUnaryReactor* FlushRows(grpc::CallbackServerContext* context,
                                      const api::FlushRowsRequest* request,
                                      api::FlushRowsResponse* response) override {
    return answerUnary(
        context, "FlushRows", request->write_stream(),
        [this, request, response](bool) { return methods_.flushRows(*request, *response); });
  }

 private:
  std::function<bool()> cutterFor(const grpc::CallbackServerContext& context) const {
    return [own = port_, peer = portOfPeer(context.peer())] { return cutConnection(own, peer); };
  }

  grpc::ServerUnaryReactor* answerUnary(grpc::CallbackServerContext* context,
                                        std::string_view method, const std::string& resource,
                                        std::function<absl::Status(bool oldSchema)> apply) {
    context->AddInitialMetadata(kAnnouncement, std::string(version()));
    auto* call = new UnaryCall(*context, resource, std::move(apply),
                               parts_.faults.next(method, resource), cutterFor(*context));
    call->start();
    return call;
  }

  const GrpcServer::Parts parts_;
  const int& port_;
  StreamMethods methods_;
  RowChecksCache checks_;
};

}  // namespace

class GrpcServer::Impl {
 public:
  explicit Impl(const Parts& parts) : service_(parts, port_) {}

  absl::Status start(const std::string& host, int port) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(hostAndPort(host, port), grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
    // Clients keep idle connections alive at intervals of their own choice.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    // A second emulator on the port must fail, not share it.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // How much of a call is read before it is asked for: by default gRPC guesses, and takes what
    // the client has in flight, 128 MiB as a rule, into memory.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kReadAheadBytes);
    builder.SetMaxReceiveMessageSize(-1);  // what is too large gets an answer that says so
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      return base::makeStatus(absl::StatusCode::kUnavailable, "cannot listen on {}:{}", host, port);
    }
    return absl::OkStatus();
  }

  void stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  [[nodiscard]] int port() const { return port_; }

 private:
  int port_ = 0;
  WriteService service_;
  std::unique_ptr<grpc::Server> server_;
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() { stop(); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& host, int port,
                                                              const Parts& parts) {
  PENSTOCK_RETURN_IF_ERROR(checkCanListen(host, port));
  auto impl = std::make_unique<Impl>(parts);
  PENSTOCK_RETURN_IF_ERROR(impl->start(host, port));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

int GrpcServer::port() const { return impl_->port(); }
void GrpcServer::stop() { impl_->stop(); }

}  // namespace penstock::emulator
