#include "penstock/bigquery/transport/grpc_append_call.h"

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <utility>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/transport/append_response.h"
#include "penstock/gcp/channel.h"
#include "penstock/gcp/completion_loop.h"

namespace penstock::bigquery {
namespace {

constexpr char kAppendRowsMethod[] = "/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows";

struct SharedChannel {
  explicit SharedChannel(std::shared_ptr<grpc::Channel> channel) : stub(std::move(channel)) {}
  gcp::CompletionLoop loop;
  grpc::GenericStub stub;
  int calls = 0;  // guarded by the pool's mutex
};

}  // namespace

class GrpcAppendCallFactory::ChannelPool {
 public:
  explicit ChannelPool(std::shared_ptr<const gcp::ChannelSource> source)
      : source_(std::move(source)) {}

  [[nodiscard]] const std::shared_ptr<gcp::TokenSource>& tokens() const {
    return source_->tokens();
  }

  /// A channel with room for one more call, which the caller must give back.
  std::shared_ptr<SharedChannel> take() {
    base::MutexLock lock(mutex_);
    for (const std::shared_ptr<SharedChannel>& channel : channels_) {
      if (channel->calls == kMaxCallsPerConnection) continue;
      ++channel->calls;
      return channel;
    }
    channels_.push_back(std::make_shared<SharedChannel>(source_->makeChannel()));
    channels_.back()->calls = 1;
    return channels_.back();
  }

  void giveBack(const std::shared_ptr<SharedChannel>& channel) {
    base::MutexLock lock(mutex_);
    if (--channel->calls == 0 && channels_.size() > 1) std::erase(channels_, channel);
  }

 private:
  base::Mutex mutex_;
  const std::shared_ptr<const gcp::ChannelSource> source_;
  std::vector<std::shared_ptr<SharedChannel>> channels_ PENSTOCK_GUARDED_BY(mutex_);
};

namespace {

using ChannelPool = GrpcAppendCallFactory::ChannelPool;

/// One call's place on a shared connection, from its start until gRPC is done with it.
class ConnectionPlace {
 public:
  explicit ConnectionPlace(std::shared_ptr<ChannelPool> pool)
      : pool_(std::move(pool)), channel_(pool_->take()) {}
  ~ConnectionPlace() { pool_->giveBack(channel_); }
  ConnectionPlace(const ConnectionPlace&) = delete;
  ConnectionPlace& operator=(const ConnectionPlace&) = delete;

  SharedChannel& channel() { return *channel_; }

 private:
  std::shared_ptr<ChannelPool> pool_;
  std::shared_ptr<SharedChannel> channel_;
};

/// Lets events through until it is silenced. One that is on its way at that moment still arrives:
/// it keeps its receiver alive.
class EventGate {
 public:
  explicit EventGate(std::shared_ptr<AppendCallEvents> events) : events_(std::move(events)) {}

  template <typename Deliver>
  void deliver(Deliver&& deliver) {
    std::shared_ptr<AppendCallEvents> events;
    {
      base::MutexLock lock(mutex_);
      events = events_;
    }
    if (events != nullptr) deliver(*events);
  }

  void silence() {
    std::shared_ptr<AppendCallEvents> released;  // destroyed outside the lock
    base::MutexLock lock(mutex_);
    released.swap(events_);
  }

 private:
  base::Mutex mutex_;
  std::shared_ptr<AppendCallEvents> events_ PENSTOCK_GUARDED_BY(mutex_);
};

void releaseChunk(void* chunk) { static_cast<base::Chunk*>(chunk)->release(); }

using Stream = grpc::GenericClientAsyncReaderWriter;

/// gRPC's side of a call. It keeps itself alive from start until gRPC is done with it, whatever
/// becomes of the AppendCall in front of it. Completions come on the thread of its channel's loop.
class AppendStream {
 public:
  AppendStream(std::shared_ptr<ChannelPool> channels, const AppendCallOptions& options,
               std::shared_ptr<AppendCallEvents> events)
      : channels_(std::move(channels)), events_(std::move(events)) {
    if (!options.requestParams.empty()) {
      context_.AddMetadata("x-goog-request-params", options.requestParams);  // BQW-052
    }
  }

  void start(const std::shared_ptr<AppendStream>& self) {
    const std::shared_ptr<gcp::TokenSource>& tokens = channels_->tokens();
    if (tokens == nullptr) return begin(self);
    if (const std::optional<gcp::Authorization> token = tokens->current()) {
      gcp::authorize(*token, &context_);
      return begin(self);
    }
    tokens->fetch([self](const absl::StatusOr<gcp::Authorization>& token) {
      if (!token.ok()) return self->refuse(token.status());
      gcp::authorize(*token, &self->context_);
      self->begin(self);
    });
  }

  void write(AppendRequestBytes request) {
    base::MutexLock lock(mutex_);
    switch (state_) {
      case State::kStarting:
        early_ = std::move(request);
        return;
      case State::kOpen:
        startWrite(request);
        return;
      case State::kBroken:
        return;
    }
  }

  void cancel() { context_.TryCancel(); }
  void silence() { events_.silence(); }

 private:
  enum class State {
    kStarting,  // the call has not left yet: a write waits
    kOpen,
    kBroken,  // reading has ended: the status follows once the write in progress has ended too
  };

  /// A tag that leads back to one of the stream's methods.
  template <void (AppendStream::*method)(bool)>
  class Step final : public gcp::Completion {
   public:
    explicit Step(AppendStream& stream) : stream_(stream) {}
    void complete(bool ok) override { (stream_.*method)(ok); }

   private:
    AppendStream& stream_;
  };

  void begin(std::shared_ptr<AppendStream> self) {
    self_ = std::move(self);
    place_.emplace(channels_);
    SharedChannel& channel = place_->channel();
    stream_ = channel.stub.PrepareCall(&context_, kAppendRowsMethod, &channel.loop.queue());
    stream_->StartCall(&started_);
  }

  /// Ends a call that has no token to begin with.
  void refuse(const absl::Status& status) {
    {
      base::MutexLock lock(mutex_);
      state_ = State::kBroken;
      early_.reset();
    }
    events_.deliver(
        [&](AppendCallEvents& events) { events.onDone(status, StorageErrorCode::kNone); });
    events_.silence();
  }

  void onStarted(bool ok) {
    base::MutexLock lock(mutex_);
    if (!ok) return finish();
    state_ = State::kOpen;
    stream_->Read(&incoming_, &read_);
    if (early_.has_value()) startWrite(*std::exchange(early_, std::nullopt));
  }

  void onRead(bool ok) {
    if (!ok) {
      base::MutexLock lock(mutex_);
      if (writing_) {
        state_ = State::kBroken;
      } else {
        finish();
      }
      return;
    }
    AppendResponse response = decodeIncoming();
    events_.deliver([&](AppendCallEvents& events) { events.onMessage(std::move(response)); });
    stream_->Read(&incoming_, &read_);
  }

  void onWritten(bool ok) {
    {
      base::MutexLock lock(mutex_);
      writing_ = false;
      if (state_ == State::kBroken) finish();
    }
    events_.deliver([&](AppendCallEvents& events) { events.onWriteDone(ok); });
  }

  void onFinished(bool) {
    const std::shared_ptr<AppendStream> self = std::move(self_);
    place_.reset();
    CallStatus decoded = decodeCallStatus(static_cast<int>(status_.error_code()),
                                          status_.error_message(), status_.error_details());
    events_.deliver([&](AppendCallEvents& events) {
      events.onDone(std::move(decoded.status), decoded.storageError);
    });
    events_.silence();
  }

  void startWrite(const AppendRequestBytes& request) PENSTOCK_REQUIRES(mutex_) {
    slices_.emplace_back(request.header);
    request.rows->forEachSlice([this](const connector::RowBatch::Slice& slice) {
      slice.chunk->addReference();
      slices_.emplace_back(const_cast<char*>(slice.data), slice.size, releaseChunk, slice.chunk);
    });
    writing_ = true;
    stream_->Write(grpc::ByteBuffer(slices_.data(), slices_.size()), &written_);
    slices_.clear();
  }

  void finish() PENSTOCK_REQUIRES(mutex_) {
    state_ = State::kBroken;
    early_.reset();
    stream_->Finish(&status_, &finished_);
  }

  AppendResponse decodeIncoming() {
    grpc::Slice whole;
    if (!incoming_.TrySingleSlice(&whole).ok()) incoming_.DumpToSingleSlice(&whole);
    AppendResponse response =
        decodeAppendResponse({reinterpret_cast<const char*>(whole.begin()), whole.size()});
    incoming_.Clear();
    return response;
  }

  const std::shared_ptr<ChannelPool> channels_;
  EventGate events_;
  std::optional<ConnectionPlace> place_;
  std::shared_ptr<AppendStream> self_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  grpc::ByteBuffer incoming_;
  grpc::Status status_;

  Step<&AppendStream::onStarted> started_{*this};
  Step<&AppendStream::onRead> read_{*this};
  Step<&AppendStream::onWritten> written_{*this};
  Step<&AppendStream::onFinished> finished_{*this};

  base::Mutex mutex_;
  State state_ PENSTOCK_GUARDED_BY(mutex_) = State::kStarting;
  bool writing_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::optional<AppendRequestBytes> early_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<grpc::Slice> slices_ PENSTOCK_GUARDED_BY(mutex_);  // kept for its capacity
};

class GrpcAppendCall final : public AppendCall {
 public:
  explicit GrpcAppendCall(std::shared_ptr<AppendStream> stream) : stream_(std::move(stream)) {}
  ~GrpcAppendCall() override {
    stream_->silence();
    stream_->cancel();
  }

  void start() override { stream_->start(stream_); }
  void write(AppendRequestBytes request) override { stream_->write(std::move(request)); }
  void cancel() override { stream_->cancel(); }

 private:
  std::shared_ptr<AppendStream> stream_;
};

}  // namespace

GrpcAppendCallFactory::GrpcAppendCallFactory(std::shared_ptr<const gcp::ChannelSource> source)
    : channels_(std::make_shared<ChannelPool>(std::move(source))) {}

GrpcAppendCallFactory::~GrpcAppendCallFactory() = default;

std::unique_ptr<AppendCall> GrpcAppendCallFactory::create(
    const AppendCallOptions& options, std::shared_ptr<AppendCallEvents> events) {
  return std::make_unique<GrpcAppendCall>(
      std::make_shared<AppendStream>(channels_, options, std::move(events)));
}

}  // namespace penstock::bigquery
