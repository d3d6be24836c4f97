#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/mutex.h"
#include "penstock/emulator/service/append_session.h"
#include "penstock/emulator/service/fault_rules.h"

namespace penstock::emulator {

/// One AppendRows call on gRPC: reads requests, has the session apply them in order, writes
/// answers, and makes the faults of the rules happen. Deletes itself when gRPC is done with it.
class AppendReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  /// `context`: of the call. `cutConnection` ends the connection that the call came by; false when
  /// it could not.
  AppendReactor(grpc::CallbackServerContext& context, std::unique_ptr<AppendSession> session,
                FaultRules& faults, std::function<bool()> cutConnection);

  /// Begins; the call's context has its initial metadata by now.
  void start();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }

 private:
  void handleRequest();
  void applyAfter(std::chrono::milliseconds delay);
  void applyRequest();
  void answer(const AppendSession::Response& response);
  void cut();
  void endCall(const absl::Status& status);
  void endCall(const grpc::Status& status);
  void finishHandling(bool readNext);
  void finishIfDone();

  grpc::CallbackServerContext& context_;
  const std::unique_ptr<AppendSession> session_;
  FaultRules& faults_;
  const std::function<bool()> cutConnection_;
  std::shared_ptr<AppendReactor> self_;  ///< until gRPC is done

  // Touched by the handling of one request at a time.
  grpc::ByteBuffer incoming_;
  grpc::Slice request_;
  std::optional<Fault> fault_;
  grpc::Alarm alarm_;

  base::Mutex mutex_;
  std::deque<grpc::ByteBuffer> answers_
      PENSTOCK_GUARDED_BY(mutex_);                       ///< the first is being written
  int handling_ PENSTOCK_GUARDED_BY(mutex_) = 0;         ///< requests whose handling has not ended
  bool readPaused_ PENSTOCK_GUARDED_BY(mutex_) = false;  ///< too many answers wait
  bool cancelled_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_
      PENSTOCK_GUARDED_BY(mutex_);  ///< the call ends after the answers
  bool finished_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

/// How a client that cannot be cut off sees a lost connection.
[[nodiscard]] grpc::Status lostConnection();

}  // namespace penstock::emulator
