#include "penstock/emulator/service/unary_call.h"

#include <chrono>

#include "penstock/emulator/service/append_reactor.h"
#include "penstock/emulator/service/rpc_status.h"

namespace penstock::emulator {

UnaryCall::UnaryCall(grpc::CallbackServerContext& context, std::string entity,
                     std::function<absl::Status(bool oldSchema)> apply, std::optional<Fault> fault,
                     std::function<bool()> cutConnection)
    : context_(context),
      entity_(std::move(entity)),
      apply_(std::move(apply)),
      fault_(std::move(fault)),
      cutConnection_(std::move(cutConnection)),
      self_(this) {}

void UnaryCall::start() {
  if (!fault_.has_value() || fault_->rule.delay == std::chrono::milliseconds::zero()) return act();
  // The alarm is none of gRPC's reactions, so it holds the call; and lets go of it when it goes
  // off, since it keeps its function for as long as the call keeps the alarm.
  auto goOn = [held = self_](bool elapsed) mutable {
    const std::shared_ptr<UnaryCall> self = std::move(held);
    if (elapsed) {
      self->act();
    } else {
      self->finish(grpc::Status::CANCELLED);
    }
  };
  const base::MutexLock lock(mutex_);
  busy_ = true;
  alarm_.Set(std::chrono::system_clock::now() + fault_->rule.delay, std::move(goOn));
}

void UnaryCall::act() {
  const FaultAction action = fault_.has_value() ? fault_->rule.action : FaultAction::kDelay;
  switch (action) {
    case FaultAction::kHang:
      return waitForCancel();
    case FaultAction::kCutBefore:
      return cut();
    case FaultAction::kFail:
    case FaultAction::kHideTable:
    case FaultAction::kQuota:
      return finish(endOfCall(failureOf(fault_->rule), entity_, context_));
    case FaultAction::kCutAfter:
      apply_(/*oldSchema=*/false).IgnoreError();
      return cut();
    case FaultAction::kDelay:
    case FaultAction::kOldSchema:
      return finish(endOfCall(apply_(fault_.has_value() && fault_->oldSchema), entity_, context_));
  }
}

void UnaryCall::cut() {
  if (!cutConnection_()) return finish(lostConnection());
  waitForCancel();  // gRPC notices, and cancels every call of the connection
}

void UnaryCall::waitForCancel() {
  bool cancelled = false;
  {
    const base::MutexLock lock(mutex_);
    busy_ = false;
    cancelled = cancelled_;
  }
  if (cancelled) finish(grpc::Status::CANCELLED);
}

void UnaryCall::OnCancel() {
  {
    const base::MutexLock lock(mutex_);
    cancelled_ = true;
    alarm_.Cancel();
    if (busy_) return;  // who is at it finishes the call
  }
  finish(grpc::Status::CANCELLED);
}

void UnaryCall::finish(const grpc::Status& status) {
  {
    const base::MutexLock lock(mutex_);
    if (finished_) return;
    finished_ = true;
  }
  Finish(status);
}

}  // namespace penstock::emulator
