#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/mutex.h"
#include "penstock/base/status.h"
#include "penstock/emulator/service/fault_rules.h"

namespace penstock::emulator {

/// One unary call on gRPC, with the fault that struck it, if any. Deletes itself when gRPC is done
/// with it.
class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  /// `entity`: what the call is about, for its errors. `apply` fills the response and gives the
  /// call's status; it runs at most once, and is told whether to go by the table's old schema.
  /// `cutConnection` ends the connection that the call came by; false when it could not.
  UnaryCall(grpc::CallbackServerContext& context, std::string entity,
            std::function<absl::Status(bool oldSchema)> apply, std::optional<Fault> fault,
            std::function<bool()> cutConnection);

  void start();
  void OnCancel() override;
  void OnDone() override { self_.reset(); }

 private:
  void act();
  void cut();
  void waitForCancel();
  void finish(const grpc::Status& status);

  grpc::CallbackServerContext& context_;
  const std::string entity_;
  const std::function<absl::Status(bool oldSchema)> apply_;
  const std::optional<Fault> fault_;
  const std::function<bool()> cutConnection_;
  std::shared_ptr<UnaryCall> self_;  ///< until gRPC is done
  grpc::Alarm alarm_;
  base::Mutex mutex_;
  bool busy_ PENSTOCK_GUARDED_BY(mutex_) = false;  ///< waits for the alarm, or acts after it
  bool cancelled_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool finished_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::emulator
