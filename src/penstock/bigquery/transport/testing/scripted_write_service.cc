#include "penstock/bigquery/transport/testing/scripted_write_service.h"

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>

namespace penstock::bigquery::testing {

void ScriptedWriteService::start(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0",
                           credentials ? credentials : grpc::InsecureServerCredentials(), &port_);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

void ScriptedWriteService::stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

std::string ScriptedWriteService::address() const { return fmt::format("127.0.0.1:{}", port_); }

grpc::Status ScriptedWriteService::AppendRows(grpc::ServerContext* context, AppendStream* stream) {
  if (!onAppendRows) return {grpc::StatusCode::UNIMPLEMENTED, "not scripted"};
  return onAppendRows(*context, *stream);
}

grpc::Status ScriptedWriteService::GetWriteStream(grpc::ServerContext* context,
                                                  const GetWriteStreamQuery* request,
                                                  WriteStream* response) {
  if (!onGetWriteStream) return {grpc::StatusCode::UNIMPLEMENTED, "not scripted"};
  return onGetWriteStream(*context, *request, *response);
}

}  // namespace penstock::bigquery::testing
