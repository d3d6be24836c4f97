#pragma once

#include <memory>
#include <string>
#include <utility>

#include "crash_points.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/stream_admin.h"

/// A sink's way to the service, passing crash points.
namespace penstock::crash {

class CrashingEvents final : public bigquery::AppendCallEvents {
 public:
  explicit CrashingEvents(std::shared_ptr<bigquery::AppendCallEvents> inner)
      : inner_(std::move(inner)) {}
  void onMessage(bigquery::AppendResponse response) override {
    pass("before answer");
    inner_->onMessage(std::move(response));
    pass("after answer");
  }
  void onWriteDone(bool ok) override { inner_->onWriteDone(ok); }
  void onDone(absl::Status status, bigquery::StorageErrorCode storageError) override {
    inner_->onDone(std::move(status), storageError);
  }

 private:
  std::shared_ptr<bigquery::AppendCallEvents> inner_;
};

class CrashingCall final : public bigquery::AppendCall {
 public:
  explicit CrashingCall(std::unique_ptr<bigquery::AppendCall> inner) : inner_(std::move(inner)) {}
  void start() override { inner_->start(); }
  void write(bigquery::AppendRequestBytes request) override {
    pass("before append");
    inner_->write(std::move(request));
    pass("after append");
  }
  void cancel() override { inner_->cancel(); }

 private:
  std::unique_ptr<bigquery::AppendCall> inner_;
};

class CrashingCalls final : public bigquery::AppendCallFactory {
 public:
  explicit CrashingCalls(std::shared_ptr<bigquery::AppendCallFactory> inner)
      : inner_(std::move(inner)) {}
  std::unique_ptr<bigquery::AppendCall> create(
      const bigquery::AppendCallOptions& options,
      std::shared_ptr<bigquery::AppendCallEvents> events) override {
    return std::make_unique<CrashingCall>(
        inner_->create(options, std::make_shared<CrashingEvents>(std::move(events))));
  }

 private:
  std::shared_ptr<bigquery::AppendCallFactory> inner_;
};

class CrashingStreams final : public bigquery::StreamAdmin {
 public:
  explicit CrashingStreams(std::shared_ptr<bigquery::StreamAdmin> inner)
      : inner_(std::move(inner)) {}
  void createStream(const bigquery::TableName& table, base::Duration timeout,
                    CreateCallback callback) override {
    pass("before CreateWriteStream");
    inner_->createStream(table, timeout,
                         [callback = std::move(callback)](bigquery::StreamError error,
                                                          bigquery::CreatedStream created) {
                           pass("after CreateWriteStream");
                           callback(std::move(error), std::move(created));
                         });
  }
  void flushRows(const std::string& stream, int64_t offset, base::Duration timeout,
                 FlushCallback callback) override {
    pass("before FlushRows");
    inner_->flushRows(
        stream, offset, timeout,
        [callback = std::move(callback)](bigquery::StreamError error, int64_t flushed) {
          pass("after FlushRows");
          callback(std::move(error), flushed);
        });
  }

 private:
  std::shared_ptr<bigquery::StreamAdmin> inner_;
};

}  // namespace penstock::crash
