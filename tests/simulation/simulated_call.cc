#include "simulated_call.h"

#include <fmt/format.h>
#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <optional>
#include <utility>
#include <vector>

#include "simulated_service.h"

namespace penstock::simulation {

using bigquery::AppendResponse;
using bigquery::StorageErrorCode;
using google::cloud::bigquery::storage::v1::AppendRowsRequest;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view kDefaultStream = "/streams/_default";

std::string requestBytes(const bigquery::AppendRequestBytes& request) {
  std::string bytes = request.header;
  for (const auto& slice : request.rows->slices()) bytes.append(slice.data, slice.size);
  return bytes;
}

bool isDefaultStream(const std::string& stream) {
  return stream.size() > kDefaultStream.size() &&
         stream.compare(stream.size() - kDefaultStream.size(), std::string::npos, kDefaultStream) ==
             0;
}

std::string tableOf(const std::string& stream) {
  return stream.substr(0, stream.rfind("/streams/"));
}

std::string lastPart(const std::string& resource) {
  return resource.substr(resource.rfind('/') + 1);
}

/// One AppendRows call. Everything it reports comes later, as an event of the world. It lives on
/// for a moment after its client has let go of it.
class SimulatedCall final : public std::enable_shared_from_this<SimulatedCall> {
 public:
  SimulatedCall(SimulatedService& service, std::shared_ptr<bigquery::AppendCallEvents> events)
      : service_(service), world_(service.world()), events_(std::move(events)) {}

  void start() { started_ = true; }

  void write(bigquery::AppendRequestBytes request) {
    if (ended_) return;
    if (!started_ || writing_) service_.violated("write before start, or two writes at a time");
    writing_ = true;
    count(request);
    // The bytes leave now or a little later, as the chunks lie then: a reused chunk would show.
    later(milliseconds(0), milliseconds(3), [this, request = std::move(request)] {
      std::string bytes = requestBytes(request);
      writing_ = false;
      events_->onWriteDone(true);
      if (!silent_ && strikes(Fault::kSilence)) {
        silent_ = true;
        deaf_ = world_.random().chance(0.5);
      }
      const int longest = strikes(Fault::kSlow) ? 20'000 : 20;
      later(
          milliseconds(1), milliseconds(longest),
          [this, bytes = std::move(bytes)] { apply(bytes); },
          /*inOrder=*/true);
    });
  }

  void cancel() {
    if (ended_) return;
    world_.after(world_.between(milliseconds(1), milliseconds(20)), [self = shared_from_this()] {
      self->end(absl::CancelledError("cancelled by the client"));
    });
  }

  /// By its client.
  void destroyed() {
    if (ended_) return;
    destroyed_ = true;
    if (answersUnderway_ > 0) service_.countLostAnswer();
    world_.after(world_.between({}, SimulatedService::kAfterlife),
                 [self = shared_from_this()] { self->ended_ = true; });
  }

 private:
  // Applied in order, like requests on one stream.
  void later(base::Duration low, base::Duration high, std::function<void()> what,
             bool inOrder = false) {
    base::Duration delay = world_.between(low, high);
    if (inOrder) {
      base::MonotonicTime time = world_.clock().now() + delay;
      if (time < lastApply_) time = lastApply_;
      lastApply_ = time;
      delay = time - world_.clock().now();
    }
    world_.after(delay, [self = shared_from_this(), what = std::move(what)] {
      if (!self->ended_) what();
    });
  }

  void end(const absl::Status& status, StorageErrorCode storageError = StorageErrorCode::kNone) {
    if (ended_) return;
    ended_ = true;
    if (answersUnderway_ > 0) service_.countLostAnswer();
    if (!destroyed_) events_->onDone(status, storageError);
  }

  void answer(AppendResponse response) {
    refused_ = refused_ || !response.status.ok();
    if (destroyed_ || silent_) return service_.countLostAnswer();
    base::MonotonicTime time =
        world_.clock().now() + world_.between(milliseconds(0), milliseconds(10));
    if (time < lastAnswer_) time = lastAnswer_;
    lastAnswer_ = time;
    ++answersUnderway_;
    world_.after(time - world_.clock().now(),
                 [self = shared_from_this(), response = std::move(response)] {
                   if (self->ended_ || self->destroyed_) return;
                   --self->answersUnderway_;
                   self->events_->onMessage(response);
                 });
  }

  /// Which offsets were written how often, for the intruder.
  void count(const bigquery::AppendRequestBytes& bytes) {
    if (!service_.mayStrike(Fault::kIntruder)) return;
    AppendRowsRequest request;
    if (!request.ParseFromString(requestBytes(bytes))) return;
    if (!request.write_stream().empty()) writtenStream_ = request.write_stream();
    SimulatedStream* const stream = service_.tables().findStream(writtenStream_);
    if (stream != nullptr && request.has_offset()) ++stream->writes[request.offset().value()];
  }

  /// Someone else appends at the offset, where the sink can notice: it was written once only,
  /// nothing has made the sink ignore the answer, and from here on no answer of this call is lost.
  void intrude(SimulatedStream& stream, int64_t offset) {
    if (offset != static_cast<int64_t>(stream.rows.size()) || silent_ || destroyed_ || refused_) {
      return;
    }
    if (stream.writes[offset] != 1 || !strikes(Fault::kIntruder)) return;
    stream.rows.push_back("an intruder's row");
    intruded_ = true;
  }

  bool strikes(Fault fault) { return !intruded_ && service_.strikes(fault); }

  void apply(const std::string& bytes) {
    if (deaf_) return;
    AppendRowsRequest request;
    if (!request.ParseFromString(bytes)) return service_.violated("a request that does not parse");
    checkHeader(request);
    if (strikes(Fault::kCutBefore)) return end(service_.passingError());
    if (strikes(Fault::kFinalEnd)) {
      return end(absl::FailedPreconditionError("simulated end"));
    }
    if (strikes(Fault::kErrorAnswer)) {
      AppendResponse response;
      response.status = service_.passingError();
      return answer(std::move(response));
    }
    std::optional<AppendResponse> response =
        isDefaultStream(stream_) ? applyToTable(request) : applyToStream(request);
    if (!response.has_value()) return;  // the call has ended
    if (strikes(Fault::kCutAfter)) {
      service_.countLostAnswer();
      return end(service_.passingError());
    }
    answer(*std::move(response));
    if (strikes(Fault::kIdleClose)) {
      later(milliseconds(20), milliseconds(40), [this] {
        if (!intruded_) end(absl::AbortedError("closed: the stream has been inactive"));
      });
    }
  }

  void checkHeader(const AppendRowsRequest& request) {
    if (!request.write_stream().empty()) stream_ = request.write_stream();
    const bool first = !seenFirst_;
    seenFirst_ = true;
    if (first && (request.trace_id().find(':') == std::string::npos ||
                  !request.proto_rows().has_writer_schema())) {
      service_.violated("a first request without schema or trace id");  // BQW-051
    }
    if (request.proto_rows().has_writer_schema()) {
      schema_ = request.proto_rows().writer_schema().proto_descriptor().name();
    }
    const std::string name = lastPart(tableOf(stream_));
    if (schema_ != name) service_.violated("rows under another table's schema");
    for (const std::string& row : request.proto_rows().rows().serialized_rows()) {
      if (row.find("@" + name + "#") == std::string::npos) {
        service_.violated("row " + row + " was sent to " + name);
      }
    }
    if (isDefaultStream(stream_) == request.has_offset()) {
      service_.violated("an offset for a default stream, or none for one that counts");
    }
  }

  static std::vector<std::string> rowsOf(const AppendRowsRequest& request) {
    const auto& rows = request.proto_rows().rows().serialized_rows();
    return {rows.begin(), rows.end()};
  }

  /// Null: the call has ended.
  std::optional<AppendResponse> applyToTable(const AppendRowsRequest& request) {
    AppendResponse response;
    if (strikes(Fault::kBrokenStream)) {
      response.status = absl::FailedPreconditionError("simulated");
      response.storageError = StorageErrorCode::kStreamFinalized;
      return response;
    }
    SimulatedTable* const table = service_.tables().find(tableOf(stream_));
    if (table == nullptr || world_.clock().now() < table->visibleAt) {
      response.status = absl::PermissionDeniedError("... or it may not exist");
      return response;
    }
    return service_.tables().append(*table, rowsOf(request));
  }

  std::optional<AppendResponse> applyToStream(const AppendRowsRequest& request) {
    SimulatedStream* const stream = service_.tables().findStream(stream_);
    if (stream == nullptr) {
      service_.violated("an append to a stream that never was: " + stream_);
      end(absl::NotFoundError("no such stream"));
      return std::nullopt;
    }
    if (strikes(Fault::kBrokenStream)) stream->broken = brokenState();
    if (stream->broken != StorageErrorCode::kNone) return refuse(*stream);
    const SimulatedTable& table = service_.tables().createTable(stream->table);
    AppendResponse response;
    if (table.lacksColumn || world_.clock().now() < table.columnKnown) {
      response.status = absl::InvalidArgumentError("the rows have fields that the table has not");
      response.storageError = StorageErrorCode::kSchemaMismatchExtraFields;
    } else {
      intrude(*stream, request.offset().value());
      response = service_.tables().append(*stream, request.offset().value(), rowsOf(request));
    }
    world_.note("append to {} at {}, {} rows: {}", shortNameOf(stream_), request.offset().value(),
                request.proto_rows().rows().serialized_rows_size(),
                response.status.ok() ? "OK" : absl::StatusCodeToString(response.status.code()));
    return response;
  }

  StorageErrorCode brokenState() {
    static const StorageErrorCode kStates[] = {StorageErrorCode::kStreamFinalized,
                                               StorageErrorCode::kStreamNotFound,
                                               StorageErrorCode::kInvalidStreamState};
    return kStates[world_.random().below(std::size(kStates))];
  }

  /// A stream that is gone is told of by the end of the call, too.
  std::optional<AppendResponse> refuse(const SimulatedStream& stream) {
    world_.note("append to {}: it takes none any more", shortNameOf(stream_));
    if (stream.broken == StorageErrorCode::kStreamNotFound) {
      end(absl::NotFoundError("no such stream"), world_.random().chance(0.5)
                                                     ? StorageErrorCode::kStreamNotFound
                                                     : StorageErrorCode::kNone);
      return std::nullopt;
    }
    AppendResponse response;
    response.status = absl::FailedPreconditionError("simulated");
    response.storageError = stream.broken;
    return response;
  }

  SimulatedService& service_;
  World& world_;
  std::shared_ptr<bigquery::AppendCallEvents> events_;
  bool started_ = false;
  bool writing_ = false;
  bool ended_ = false;
  bool destroyed_ = false;
  bool silent_ = false;
  bool deaf_ = false;
  bool intruded_ = false;
  bool refused_ = false;  // a request
  bool seenFirst_ = false;
  int answersUnderway_ = 0;
  std::string stream_;
  std::string writtenStream_;
  std::string schema_;
  base::MonotonicTime lastApply_{};
  base::MonotonicTime lastAnswer_{};
};

/// What the pool owns: the call itself lives on for the events that are scheduled.
class CallHandle final : public bigquery::AppendCall {
 public:
  explicit CallHandle(std::shared_ptr<SimulatedCall> call) : call_(std::move(call)) {}
  ~CallHandle() override { call_->destroyed(); }
  void start() override { call_->start(); }
  void write(bigquery::AppendRequestBytes request) override { call_->write(std::move(request)); }
  void cancel() override { call_->cancel(); }

 private:
  std::shared_ptr<SimulatedCall> call_;
};

class CallFactory final : public bigquery::AppendCallFactory {
 public:
  explicit CallFactory(SimulatedService& service) : service_(service) {}
  std::unique_ptr<bigquery::AppendCall> create(
      const bigquery::AppendCallOptions&,
      std::shared_ptr<bigquery::AppendCallEvents> events) override {
    return std::make_unique<CallHandle>(
        std::make_shared<SimulatedCall>(service_, std::move(events)));
  }

 private:
  SimulatedService& service_;
};

}  // namespace

std::shared_ptr<bigquery::AppendCallFactory> makeAppendCalls(SimulatedService& service) {
  return std::make_shared<CallFactory>(service);
}

std::string shortNameOf(std::string_view stream) {
  const size_t streams = stream.rfind("/streams/");
  const size_t table = stream.rfind('/', streams - 1);
  constexpr size_t kStreams = std::string_view("/streams/").size();
  return fmt::format("{}/{}", stream.substr(table + 1, streams - table - 1),
                     stream.substr(streams + kStreams));
}

}  // namespace penstock::simulation
