#pragma once

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/server.h>

#include <functional>
#include <memory>
#include <string>

namespace penstock::bigquery::testing {

/// BigQueryWrite over real gRPC on a free port of 127.0.0.1, each call played by the test's own
/// function. An unset function answers UNIMPLEMENTED.
class ScriptedWriteService final
    : private google::cloud::bigquery::storage::v1::BigQueryWrite::Service {
 public:
  using Append = google::cloud::bigquery::storage::v1::AppendRowsRequest;
  using Answer = google::cloud::bigquery::storage::v1::AppendRowsResponse;
  using AppendStream = grpc::ServerReaderWriter<Answer, Append>;
  using WriteStream = google::cloud::bigquery::storage::v1::WriteStream;
  using GetWriteStreamQuery = google::cloud::bigquery::storage::v1::GetWriteStreamRequest;

  std::function<grpc::Status(grpc::ServerContext&, AppendStream&)> onAppendRows;
  std::function<grpc::Status(grpc::ServerContext&, const GetWriteStreamQuery&, WriteStream&)>
      onGetWriteStream;

  /// Set the functions first. `credentials`: null = plaintext.
  void start(const std::shared_ptr<grpc::ServerCredentials>& credentials = nullptr);
  /// Cancels what is open and waits for the functions to return.
  void stop();
  ~ScriptedWriteService() override { stop(); }

  [[nodiscard]] int port() const { return port_; }
  /// "127.0.0.1:port"
  [[nodiscard]] std::string address() const;

 private:
  grpc::Status AppendRows(grpc::ServerContext* context, AppendStream* stream) override;
  grpc::Status GetWriteStream(grpc::ServerContext* context, const GetWriteStreamQuery* request,
                              WriteStream* response) override;

  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace penstock::bigquery::testing
