#include "bench/prepared_requests.h"

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

namespace penstock::bench {
namespace {

constexpr char kAppendRows[] = "/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows";
constexpr int kMaxInflight = 100;      // as the sink's default
constexpr size_t kSliceBytes = 65536;  // as the sink's chunks
constexpr base::Duration kWarmUp = std::chrono::milliseconds(300);

/// Whether an AppendRowsResponse says that the rows were taken: append_result (field 1) is what
/// these servers write first.
bool isAcknowledgement(const grpc::ByteBuffer& answer) {
  grpc::Slice bytes;
  constexpr uint8_t kAppendResult = 1 << 3 | 2;
  return answer.DumpToSingleSlice(&bytes).ok() && bytes.size() > 0 &&
         *bytes.begin() == kAppendResult;
}

/// One call that sends as fast as it may.
class PreparedCall {
 public:
  PreparedCall(grpc::GenericStub& stub, const PreparedRequests& requests)
      : requests_(requests), call_(stub.PrepareCall(&context_, kAppendRows, &queue_)) {}

  bool start() {
    call_->StartCall(tag(Tag::kStarted));
    if (!next()) return false;
    call_->Read(&answer_, tag(Tag::kRead));
    return true;
  }

  /// Sends and takes answers for `duration`; adds to `acknowledged`. False when the call has
  /// broken, or a request was refused.
  bool sendFor(base::Duration duration, int64_t* acknowledged) {
    const base::MonotonicTime end = base::systemClock().now() + duration;
    while (base::systemClock().now() < end) {
      if (!writing_ && inflight_ < kMaxInflight) {
        call_->Write(nextRequest(), tag(Tag::kWritten));
        writing_ = true;
        ++inflight_;
      }
      if (!next()) return false;
      if (ended_ == Tag::kRead) {
        if (!isAcknowledgement(answer_)) return false;
        ++*acknowledged;
        --inflight_;
        call_->Read(&answer_, tag(Tag::kRead));
      } else {
        writing_ = false;
      }
    }
    return true;
  }

  grpc::Status finish() {
    context_.TryCancel();
    grpc::Status status;
    bool finished = false;
    call_->Finish(&status, tag(Tag::kFinished));
    while (!finished) {
      next();
      finished = ended_ == Tag::kFinished;
    }
    queue_.Shutdown();
    while (next()) {
    }
    return status;
  }

 private:
  enum class Tag : intptr_t { kStarted, kRead, kWritten, kFinished };
  static void* tag(Tag value) { return reinterpret_cast<void*>(value); }

  const grpc::ByteBuffer& nextRequest() {
    const size_t index = sent_++;
    if (index < requests_.first.size()) return requests_.first[index];
    return requests_.others[index % requests_.others.size()];
  }

  bool next() {
    void* ended = nullptr;
    bool ok = false;
    if (!queue_.Next(&ended, &ok)) return false;
    ended_ = static_cast<Tag>(reinterpret_cast<intptr_t>(ended));
    return ok;
  }

  const PreparedRequests& requests_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer answer_;
  Tag ended_ = Tag::kStarted;
  bool writing_ = false;
  int inflight_ = 0;
  size_t sent_ = 0;
};

}  // namespace

std::string lengthDelimited(int field, size_t size) {
  std::string bytes(1, static_cast<char>((field << 3) | 2));
  for (; size >= 0x80; size >>= 7) bytes += static_cast<char>(size | 0x80);
  bytes += static_cast<char>(size);
  return bytes;
}

grpc::ByteBuffer requestOf(std::string_view rows, std::string_view head, std::string_view schema) {
  const std::string inner = std::string(schema) + lengthDelimited(2, rows.size());
  std::vector<grpc::Slice> slices;
  slices.emplace_back(std::string(head) + lengthDelimited(4, inner.size() + rows.size()) + inner);
  for (size_t begin = 0; begin < rows.size(); begin += kSliceBytes) {
    slices.emplace_back(std::string(rows.substr(begin, kSliceBytes)));
  }
  return {slices.data(), slices.size()};
}

absl::StatusOr<Measurement> sendRequests(const std::string& server,
                                         const PreparedRequests& requests,
                                         base::Duration duration) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments));
  PreparedCall call(stub, requests);
  int64_t warmed = 0;
  int64_t acknowledged = 0;
  bool ok = call.start() && call.sendFor(kWarmUp, &warmed);
  const Meter meter;
  ok = ok && call.sendFor(duration, &acknowledged);
  const auto appends = static_cast<double>(acknowledged);
  const Measurement measured =
      meter.finish(appends * static_cast<double>(requests.rowsPerRequest),
                   appends * static_cast<double>(requests.rowBytesPerRequest));
  const grpc::Status status = call.finish();
  if (!ok) {
    return base::makeStatus(absl::StatusCode::kUnavailable,
                            "the call to {} broke, or a request was refused: {}", server,
                            status.error_message());
  }
  return measured;
}

void putText(int field, std::string_view text, std::string& out) {
  out += lengthDelimited(field, text.size());
  out += text;
}

}  // namespace penstock::bench
