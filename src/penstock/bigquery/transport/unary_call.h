#pragma once

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/channel.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/clock.h"
#include "penstock/bigquery/transport/append_response.h"
#include "penstock/gcp/channel.h"
#include "penstock/gcp/completion_loop.h"

namespace penstock::bigquery {

/// Where calls of the Storage Write API that have one answer go: a channel and the thread that
/// their answers come on. Outlives whoever made it while calls are open. Thread-safe.
class UnaryService {
 public:
  using Stub = google::cloud::bigquery::storage::v1::BigQueryWrite::Stub;

  explicit UnaryService(std::shared_ptr<const gcp::ChannelSource> source)
      : source_(std::move(source)),
        stub_(
            google::cloud::bigquery::storage::v1::BigQueryWrite::NewStub(source_->makeChannel())) {}

  [[nodiscard]] const gcp::ChannelSource& source() const { return *source_; }
  [[nodiscard]] Stub& stub() { return *stub_; }
  [[nodiscard]] grpc::CompletionQueue& queue() { return loop_.queue(); }

 private:
  const std::shared_ptr<const gcp::ChannelSource> source_;
  gcp::CompletionLoop loop_;
  const std::unique_ptr<Stub> stub_;
};

struct UnaryOptions {
  std::string routing;  ///< value of x-goog-request-params
  base::Duration timeout{};
  bool failFast = false;  ///< do not wait for a refused or unresolvable connection to heal
};

/// One such call; owns itself from its beginning until it has answered.
template <typename Request, typename Response>
class UnaryCall final : public gcp::Completion {
 public:
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>;
  using Method = Reader (UnaryService::Stub::*)(grpc::ClientContext*, const Request&,
                                                grpc::CompletionQueue*);
  /// With an error the response is empty.
  using Callback =
      std::function<void(const CallStatus&, const Response&, const grpc::ClientContext&)>;

  /// Begins. The answer comes on the service's thread, or on that of the token that it waits for.
  static void start(std::shared_ptr<UnaryService> service, Method method, Request request,
                    const UnaryOptions& options, Callback callback) {
    std::unique_ptr<UnaryCall> call(new UnaryCall(std::move(service), method, std::move(request),
                                                  options, std::move(callback)));
    const std::shared_ptr<gcp::TokenSource>& tokens = call->service_->source().tokens();
    if (tokens == nullptr) return begin(std::move(call));
    if (const std::optional<gcp::Authorization> token = tokens->current()) {
      gcp::authorize(*token, &call->context_);
      return begin(std::move(call));
    }
    tokens->fetch([shared = std::make_shared<std::unique_ptr<UnaryCall>>(std::move(call))](
                      const absl::StatusOr<gcp::Authorization>& token) {
      UnaryCall& waiting = **shared;
      if (!token.ok()) {
        return waiting.callback_({token.status(), StorageErrorCode::kNone}, waiting.response_,
                                 waiting.context_);
      }
      gcp::authorize(*token, &waiting.context_);
      begin(std::move(*shared));
    });
  }

  void complete(bool) override {
    const std::unique_ptr<UnaryCall> self(this);
    if (status_.ok()) return callback_({}, response_, context_);
    callback_(failure(), Response(), context_);
  }

 private:
  UnaryCall(std::shared_ptr<UnaryService> service, Method method, Request request,
            const UnaryOptions& options, Callback callback)
      : service_(std::move(service)),
        method_(method),
        request_(std::move(request)),
        callback_(std::move(callback)) {
    constexpr base::Duration kLongest = std::chrono::hours(24 * 365);
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::system_clock::duration>(
                              std::min(options.timeout, kLongest)));
    context_.set_wait_for_ready(!options.failFast);
    context_.AddMetadata("x-goog-request-params", options.routing);
  }

  static void begin(std::unique_ptr<UnaryCall> call) {
    UnaryCall* running = call.release();
    running->reader_ = (running->service_->stub().*running->method_)(
        &running->context_, running->request_, &running->service_->queue());
    running->reader_->Finish(&running->response_, &running->status_, running);
  }

  CallStatus failure() {
    CallStatus answer = decodeCallStatus(static_cast<int>(status_.error_code()),
                                         status_.error_message(), status_.error_details());
    const absl::StatusCode code = answer.status.code();
    if (code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDeadlineExceeded) {
      answer.status = base::withContext(
          answer.status, fmt::format("no answer from {}", service_->source().endpoint().target));
    }
    return answer;
  }

  const std::shared_ptr<UnaryService> service_;
  const Method method_;
  const Request request_;
  const Callback callback_;
  Response response_;
  grpc::Status status_;
  grpc::ClientContext context_;
  Reader reader_;
};

}  // namespace penstock::bigquery
