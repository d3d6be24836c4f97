// A service that only acknowledges: what a client can reach at most against anything. Speaks raw
// bytes; a request is never parsed. Prints its port and serves until its standard input is closed.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdio>
#include <mutex>
#include <string>

namespace {

constexpr char kAppendRows[] = "/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows";
// AppendRowsResponse { append_result {} }
constexpr std::string_view kAcknowledgement("\x0a\x00", 2);
// WriteStream { location = "US" } (field 8)
constexpr std::string_view kWriteStream("\x42\x02US", 4);

grpc::ByteBuffer bytes(std::string_view text) {
  const grpc::Slice slice(text.data(), text.size());
  return grpc::ByteBuffer(&slice, 1);
}

/// Reads on, whatever is still to be written; acknowledgements leave one after another.
class AcknowledgingCall final : public grpc::ServerGenericBidiReactor {
 public:
  AcknowledgingCall() : answer_(bytes(kAcknowledgement)) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return end(/*reading=*/false);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (++owed_ == 1) StartWrite(&answer_);
    }
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      owed_ = ok ? owed_ - 1 : 0;
      if (owed_ > 0) StartWrite(&answer_);
    }
    end(/*reading=*/true);
  }

  void OnDone() override { delete this; }

 private:
  void end(bool reading) {
    bool finish = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!reading) readingEnded_ = true;
      finish = readingEnded_ && owed_ == 0 && !finished_;
      finished_ = finished_ || finish;
    }
    if (finish) Finish(grpc::Status::OK);
  }

  grpc::ByteBuffer request_;
  const grpc::ByteBuffer answer_;
  std::mutex mutex_;
  int owed_ = 0;
  bool readingEnded_ = false;
  bool finished_ = false;
};

/// Any other method is taken for GetWriteStream.
class WriteStreamCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit WriteStreamCall(grpc::GenericCallbackServerContext* context)
      : answer_(bytes(kWriteStream)) {
    context->AddInitialMetadata("x-penstock-emulator", "ack-server");
    StartRead(&request_);
  }
  void OnReadDone(bool) override { StartWriteAndFinish(&answer_, {}, grpc::Status::OK); }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer request_;
  const grpc::ByteBuffer answer_;
};

class AckService final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() == kAppendRows) return new AcknowledgingCall;
    return new WriteStreamCall(context);
  }
};

}  // namespace

int main() {
  AckService service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::printf("%d\n", port);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}
