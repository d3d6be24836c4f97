#include "penstock/bigquery/transport/grpc_append_call.h"

#include <gmock/gmock.h>
#include <google/rpc/status.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/transport/testing/scripted_write_service.h"
#include "penstock/gcp/channel.h"

namespace penstock::bigquery {
namespace {

using std::chrono_literals::operator""s;
using ::testing::ElementsAre;
using testing::ScriptedWriteService;
namespace storage = google::cloud::bigquery::storage::v1;

constexpr base::Duration kPatience = 20s;

/// Waits until `condition` holds, re-checking it briefly; false if patience runs out first. For
/// conditions that have no notification of their own.
template <typename Condition>
bool eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

thread_local bool insideCall = false;

/// Marks the thread as being inside a call's method, for the rule that no event comes from there.
template <typename Method>
void inside(Method&& method) {
  insideCall = true;
  method();
  insideCall = false;
}

class RecordedEvents final : public AppendCallEvents {
 public:
  void onMessage(AppendResponse response) override {
    record([&] { messages_.push_back(std::move(response)); });
  }
  void onWriteDone(bool ok) override {
    record([&] { writes_.push_back(ok); });
  }
  void onDone(absl::Status status, StorageErrorCode storageError) override {
    record([&] {
      done_ = std::move(status);
      storageError_ = storageError;
    });
  }

  AppendResponse waitForMessage(size_t index = 0) {
    base::MutexLock lock(mutex_);
    EXPECT_TRUE(waitLocked([&] { return messages_.size() > index; })) << "no message " << index;
    return messages_.size() > index ? messages_[index] : AppendResponse{};
  }
  bool waitForWrite(size_t index = 0) {
    base::MutexLock lock(mutex_);
    EXPECT_TRUE(waitLocked([&] { return writes_.size() > index; })) << "no write done " << index;
    return writes_.size() > index && writes_[index];
  }
  absl::Status waitForDone() {
    base::MutexLock lock(mutex_);
    EXPECT_TRUE(waitLocked([&] { return done_.has_value(); })) << "the call did not end";
    return done_.value_or(absl::UnknownError("not done"));
  }
  StorageErrorCode storageError() {
    base::MutexLock lock(mutex_);
    return storageError_;
  }
  int count() {
    base::MutexLock lock(mutex_);
    return count_;
  }

 private:
  template <typename Change>
  void record(Change&& change) {
    EXPECT_FALSE(insideCall) << "an event from inside start, write or cancel";
    base::MutexLock lock(mutex_);
    EXPECT_FALSE(done_.has_value()) << "an event after onDone";
    change();
    ++count_;
    changed_.notifyAll();
  }
  template <typename Condition>
  bool waitLocked(Condition&& condition) PENSTOCK_REQUIRES(mutex_) {
    const base::MonotonicTime deadline = base::deadlineAfter(base::systemClock().now(), kPatience);
    while (!condition()) {
      if (base::systemClock().now() >= deadline) return false;
      changed_.waitUntil(mutex_, deadline);
    }
    return true;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<AppendResponse> messages_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<bool> writes_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<absl::Status> done_ PENSTOCK_GUARDED_BY(mutex_);
  StorageErrorCode storageError_ PENSTOCK_GUARDED_BY(mutex_) = StorageErrorCode::kNone;
  int count_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

std::unique_ptr<GrpcAppendCallFactory> factoryFor(const std::string& address) {
  return std::make_unique<GrpcAppendCallFactory>(std::make_shared<gcp::ChannelSource>(
      gcp::GrpcEndpoint{.target = address, .emulator = true}, nullptr));
}

class GrpcAppendCallTest : public ::testing::Test {
 protected:
  ~GrpcAppendCallTest() override {
    factory_.reset();
    EXPECT_TRUE(eventually([&] { return pool_.chunksInUse() == 0; }));
  }

  /// Stops the service before what its function refers to goes away.
  struct Serving {
    ScriptedWriteService& service;
    ~Serving() { service.stop(); }
  };

  [[nodiscard]] Serving serve(
      std::function<grpc::Status(grpc::ServerContext&, ScriptedWriteService::AppendStream&)>
          onAppendRows) {
    service_.onAppendRows = std::move(onAppendRows);
    service_.start();
    factory_ = factoryFor(service_.address());
    return {service_};
  }

  /// A request as the sink makes it: a header with the stream's name and rows in chunks of `pool_`.
  /// The rows are a length-delimited field inside two others, as in
  /// AppendRowsRequest.proto_rows.rows.
  AppendRequestBytes request(const std::vector<std::string>& rows) {
    auto batch = std::make_shared<connector::RowBatch>(pool_);
    for (const std::string& row : rows) batch->appendRow(row);
    storage::AppendRowsRequest header;
    header.set_write_stream("projects/p/datasets/d/tables/t/streams/_default");
    std::string bytes = header.SerializeAsString();
    const size_t rowsBytes = batch->framedBytes();
    const std::string protoRowsContent = lengthDelimitedHeader(2, rowsBytes);
    bytes += lengthDelimitedHeader(4, protoRowsContent.size() + rowsBytes) + protoRowsContent;
    return {std::move(bytes), std::move(batch)};
  }

  static std::string lengthDelimitedHeader(int field, size_t size) {
    std::string bytes(1, static_cast<char>((field << 3) | 2));
    for (; size >= 0x80; size >>= 7) bytes += static_cast<char>(size | 0x80);
    bytes += static_cast<char>(size);
    return bytes;
  }

  base::ChunkPool pool_;
  ScriptedWriteService service_;
  std::unique_ptr<GrpcAppendCallFactory> factory_;
  std::shared_ptr<RecordedEvents> events_ = std::make_shared<RecordedEvents>();
};

TEST_F(GrpcAppendCallTest, SendsHeaderAndRowsAsOneRequestAndReportsItsAcknowledgement) {
  base::Mutex mutex;
  std::vector<std::string> received;
  std::string parameters;
  const Serving serving =
      serve([&](grpc::ServerContext& context, ScriptedWriteService::AppendStream& stream) {
        ScriptedWriteService::Append append;
        while (stream.Read(&append)) {
          {
            base::MutexLock lock(mutex);
            const auto header = context.client_metadata().find("x-goog-request-params");
            if (header != context.client_metadata().end()) {
              parameters.assign(header->second.data(), header->second.size());
            }
            for (const std::string& row : append.proto_rows().rows().serialized_rows()) {
              received.push_back(row);
            }
          }
          ScriptedWriteService::Answer answer;
          answer.mutable_append_result()->mutable_offset()->set_value(7);
          answer.set_write_stream(append.write_stream());
          stream.Write(answer);
        }
        return grpc::Status::OK;
      });
  // Rows that fill several chunks.
  std::vector<std::string> rows;
  for (int index = 0; index < 300; ++index)
    rows.emplace_back(1000 + index, static_cast<char>(index));

  auto call = factory_->create({"write_location=projects/p/locations/us"}, events_);
  inside([&] { call->start(); });
  inside([&] { call->write(request(rows)); });

  const AppendResponse response = events_->waitForMessage();
  EXPECT_TRUE(response.status.ok());
  EXPECT_EQ(response.offset, 7);
  EXPECT_TRUE(events_->waitForWrite());
  base::MutexLock lock(mutex);
  EXPECT_EQ(received, rows);
  EXPECT_EQ(parameters, "write_location=projects/p/locations/us");  // BQW-052
}

TEST_F(GrpcAppendCallTest, GivesEveryChunkBackOnceGrpcHasDroppedItsSlices) {
  const Serving serving =
      serve([](grpc::ServerContext&, ScriptedWriteService::AppendStream& stream) {
        ScriptedWriteService::Append append;
        while (stream.Read(&append)) stream.Write(ScriptedWriteService::Answer());
        return grpc::Status::OK;
      });
  auto call = factory_->create({}, events_);
  call->start();
  AppendRequestBytes bytes = request({std::string(200000, 'x'), std::string(100000, 'y')});
  std::weak_ptr<const connector::RowBatch> batch = bytes.rows;
  call->write(std::move(bytes));
  events_->waitForMessage();
  EXPECT_TRUE(eventually([&] { return batch.expired() && pool_.chunksInUse() == 0; }));
}

TEST_F(GrpcAppendCallTest, KeepsTheChunksOfAWriteThatTheServerDoesNotRead) {
  base::Mutex mutex;
  base::CondVar changed;
  bool finish = false;
  const Serving serving = serve([&](grpc::ServerContext&, ScriptedWriteService::AppendStream&) {
    base::MutexLock lock(mutex);
    while (!finish) changed.wait(mutex);
    return grpc::Status::OK;
  });
  auto call = factory_->create({}, events_);
  call->start();
  // Far more than HTTP/2's flow-control window.
  call->write(request({std::string(64 << 20, 'x')}));
  EXPECT_GT(pool_.chunksInUse(), 0u);
  call.reset();
  {
    base::MutexLock lock(mutex);
    finish = true;
    changed.notifyAll();
  }
  EXPECT_TRUE(eventually([&] { return pool_.chunksInUse() == 0; }));
}

TEST_F(GrpcAppendCallTest, DeliversAnswersInOrder) {
  constexpr int kAnswers = 500;
  const Serving serving =
      serve([&](grpc::ServerContext&, ScriptedWriteService::AppendStream& stream) {
        for (int index = 0; index < kAnswers; ++index) {
          ScriptedWriteService::Answer answer;
          answer.mutable_append_result()->mutable_offset()->set_value(index);
          stream.Write(answer);
        }
        return grpc::Status::OK;
      });
  auto call = factory_->create({}, events_);
  call->start();
  EXPECT_TRUE(events_->waitForDone().ok());
  for (int index = 0; index < kAnswers; ++index) {
    ASSERT_EQ(events_->waitForMessage(index).offset, index);
  }
}

TEST_F(GrpcAppendCallTest, ReportsTheStatusACallEndsWithAndItsStorageError) {
  const Serving serving = serve([](grpc::ServerContext&, ScriptedWriteService::AppendStream&) {
    storage::StorageError error;
    error.set_code(storage::StorageError::STREAM_FINALIZED);
    google::rpc::Status detailed;
    detailed.set_code(3);
    detailed.set_message("finalized");
    detailed.add_details()->PackFrom(error);
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "finalized",
                        detailed.SerializeAsString());
  });
  auto call = factory_->create({}, events_);
  call->start();
  const absl::Status status = events_->waitForDone();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::messageOf(status), "finalized");
  EXPECT_EQ(events_->storageError(), StorageErrorCode::kStreamFinalized);
}

TEST_F(GrpcAppendCallTest, AnswersLargerThanGrpcsDefaultLimitArrive) {  // BQW-052
  const Serving serving =
      serve([](grpc::ServerContext&, ScriptedWriteService::AppendStream& stream) {
        ScriptedWriteService::Answer answer;
        answer.mutable_error()->set_code(3);
        auto* error = answer.add_row_errors();
        error->set_index(17);
        error->set_message(std::string(6 << 20, 'e'));
        stream.Write(answer);
        return grpc::Status::OK;
      });
  auto call = factory_->create({}, events_);
  call->start();
  const AppendResponse response = events_->waitForMessage();
  EXPECT_EQ(response.status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(response.rowErrors.size(), 1u);
  EXPECT_EQ(response.rowErrors[0].index, 17);
  EXPECT_EQ(response.rowErrors[0].message.size(), size_t{6} << 20);
}

TEST_F(GrpcAppendCallTest, CancelEndsACallThatTheServerHoldsOpen) {
  const Serving serving =
      serve([](grpc::ServerContext& context, ScriptedWriteService::AppendStream& stream) {
        ScriptedWriteService::Append append;
        while (stream.Read(&append)) {
        }
        EXPECT_TRUE(context.IsCancelled());
        return grpc::Status::OK;
      });
  auto call = factory_->create({}, events_);
  call->start();
  call->write(request({"row"}));
  events_->waitForWrite();
  inside([&] { call->cancel(); });
  EXPECT_EQ(events_->waitForDone().code(), absl::StatusCode::kCancelled);
  call->write(request({"late"}));  // dropped, without an event
}

TEST_F(GrpcAppendCallTest, CancelBeforeStartEndsTheCallOnceItIsStarted) {
  const Serving serving = serve(
      [](grpc::ServerContext&, ScriptedWriteService::AppendStream&) { return grpc::Status::OK; });
  auto call = factory_->create({}, events_);
  call->cancel();
  call->start();
  EXPECT_EQ(events_->waitForDone().code(), absl::StatusCode::kCancelled);
}

TEST_F(GrpcAppendCallTest, DestroyingACallCancelsItAndSilencesItsEvents) {
  std::atomic<bool> started = false;
  std::atomic<bool> cancelled = false;
  const Serving serving =
      serve([&](grpc::ServerContext& context, ScriptedWriteService::AppendStream& stream) {
        started = true;
        ScriptedWriteService::Append append;
        while (stream.Read(&append)) {
        }
        cancelled = context.IsCancelled();
        return grpc::Status::OK;
      });
  auto events = std::make_shared<RecordedEvents>();
  auto call = factory_->create({}, events);
  call->start();
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  call.reset();
  EXPECT_TRUE(eventually([&] { return cancelled.load(); }));
  EXPECT_EQ(events->count(), 0);
  service_.stop();
  EXPECT_EQ(events.use_count(), 1);
}

TEST_F(GrpcAppendCallTest, DestroyingACallAmidAFloodOfAnswersIsSafe) {
  const Serving serving =
      serve([](grpc::ServerContext& context, ScriptedWriteService::AppendStream& stream) {
        while (!context.IsCancelled() && stream.Write(ScriptedWriteService::Answer())) {
        }
        return grpc::Status::OK;
      });
  for (int round = 0; round < 50; ++round) {
    auto events = std::make_shared<RecordedEvents>();
    auto call = factory_->create({}, events);
    call->start();
    events->waitForMessage(round % 7);
    call.reset();
    events.reset();
  }
}

class DestroysItsCall final : public AppendCallEvents {
 public:
  std::unique_ptr<AppendCall> call;
  std::atomic<bool> destroyed = false;

  void onMessage(AppendResponse) override {
    call.reset();
    destroyed = true;
  }
  void onWriteDone(bool) override {}
  void onDone(absl::Status, StorageErrorCode) override { ADD_FAILURE() << "not silenced"; }
};

TEST_F(GrpcAppendCallTest, ACallMayBeDestroyedFromInsideItsEvent) {
  const Serving serving =
      serve([](grpc::ServerContext&, ScriptedWriteService::AppendStream& stream) {
        stream.Write(ScriptedWriteService::Answer());
        return grpc::Status::OK;
      });
  auto events = std::make_shared<DestroysItsCall>();
  events->call = factory_->create({}, events);
  events->call->start();
  EXPECT_TRUE(eventually([&] { return events->destroyed.load(); }));
  service_.stop();
}

TEST_F(GrpcAppendCallTest, ARefusedConnectionEndsTheCallAsUnavailable) {
  service_.start();
  const std::string address = service_.address();
  service_.stop();
  factory_ = factoryFor(address);
  auto call = factory_->create({}, events_);
  call->start();
  call->write(request({"row"}));
  EXPECT_EQ(events_->waitForDone().code(), absl::StatusCode::kUnavailable);
}

TEST_F(GrpcAppendCallTest, ACallThatIsNeverStartedLeavesNothingBehind) {
  const Serving serving = serve(
      [](grpc::ServerContext&, ScriptedWriteService::AppendStream&) { return grpc::Status::OK; });
  factory_->create({}, events_).reset();
  EXPECT_EQ(events_->count(), 0);
}

TEST_F(GrpcAppendCallTest, TheEightyFirstCallGetsAConnectionOfItsOwn) {  // BQW-060
  base::Mutex mutex;
  std::multiset<std::string> peers;
  const Serving serving =
      serve([&](grpc::ServerContext& context, ScriptedWriteService::AppendStream& stream) {
        {
          base::MutexLock lock(mutex);
          peers.insert(context.peer());
        }
        ScriptedWriteService::Append append;
        while (stream.Read(&append)) stream.Write(ScriptedWriteService::Answer());
        return grpc::Status::OK;
      });
  std::vector<std::shared_ptr<RecordedEvents>> events;
  std::vector<std::unique_ptr<AppendCall>> calls;
  for (int index = 0; index <= GrpcAppendCallFactory::kMaxCallsPerConnection; ++index) {
    events.push_back(std::make_shared<RecordedEvents>());
    calls.push_back(factory_->create({}, events.back()));
    calls.back()->start();
    calls.back()->write(request({"row"}));
    events.back()->waitForMessage();
  }
  std::set<size_t> callsByPeer;
  {
    base::MutexLock lock(mutex);
    for (const std::string& peer : std::set<std::string>(peers.begin(), peers.end())) {
      callsByPeer.insert(peers.count(peer));
    }
  }
  EXPECT_THAT(callsByPeer, ElementsAre(1, GrpcAppendCallFactory::kMaxCallsPerConnection));
  calls.clear();
  service_.stop();
}

}  // namespace
}  // namespace penstock::bigquery
