#include "penstock/emulator/service/append_reactor.h"

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>

#include <chrono>

#include "penstock/emulator/service/rpc_status.h"

namespace penstock::emulator {
namespace {

// Answers that may wait for a client that does not read them before its requests wait, too.
constexpr size_t kMaxWaitingAnswers = 64;

grpc::ByteBuffer serialize(const AppendSession::Response& response) {
  grpc::ByteBuffer bytes;
  bool ownsBuffer = false;
  grpc::SerializationTraits<AppendSession::Response>::Serialize(response, &bytes, &ownsBuffer)
      .IgnoreError();
  return bytes;
}

}  // namespace

grpc::Status lostConnection() {
  return {grpc::StatusCode::UNAVAILABLE, "the connection was lost (a fault rule)"};
}

AppendReactor::AppendReactor(grpc::CallbackServerContext& context,
                             std::unique_ptr<AppendSession> session, FaultRules& faults,
                             std::function<bool()> cutConnection)
    : context_(context),
      session_(std::move(session)),
      faults_(faults),
      cutConnection_(std::move(cutConnection)),
      self_(this) {}

void AppendReactor::start() { StartRead(&incoming_); }

void AppendReactor::OnReadDone(bool ok) {
  bool handle = false;
  {
    const base::MutexLock lock(mutex_);
    if (!ok && !end_.has_value()) end_ = grpc::Status::OK;  // the client has no more requests
    handle = ok && !cancelled_ && !end_.has_value();
    if (handle) ++handling_;
  }
  if (handle) {
    handleRequest();
  } else {
    finishIfDone();
  }
}

void AppendReactor::handleRequest() {
  // One slice when the request came in one, else a copy that joins its slices.
  if (!incoming_.TrySingleSlice(&request_).ok() && !incoming_.DumpToSingleSlice(&request_).ok()) {
    request_ = grpc::Slice();
  }
  incoming_.Clear();
  const absl::Status read =
      session_->accept({reinterpret_cast<const char*>(request_.begin()), request_.size()});
  if (!read.ok()) return endCall(read);
  fault_ = faults_.next("AppendRows", session_->resource(), session_->requestBytes());
  if (!fault_.has_value() || fault_->rule.delay == std::chrono::milliseconds::zero()) {
    return applyRequest();
  }
  applyAfter(fault_->rule.delay);
}

void AppendReactor::applyAfter(std::chrono::milliseconds delay) {
  {
    const base::MutexLock lock(mutex_);
    if (!cancelled_) {
      // The alarm is none of gRPC's reactions, so it holds the call; and lets go of it when it goes
      // off, since it keeps its function for as long as the call keeps the alarm.
      auto goOn = [held = self_](bool elapsed) mutable {
        const std::shared_ptr<AppendReactor> self = std::move(held);
        if (elapsed) {
          self->applyRequest();
        } else {
          self->finishHandling(/*readNext=*/false);
        }
      };
      alarm_.Set(std::chrono::system_clock::now() + delay, std::move(goOn));
      return;
    }
  }
  finishHandling(/*readNext=*/false);
}

void AppendReactor::applyRequest() {
  const FaultAction action = fault_.has_value() ? fault_->rule.action : FaultAction::kDelay;
  switch (action) {
    case FaultAction::kHang:
      return finishHandling(/*readNext=*/false);
    case FaultAction::kCutBefore:
      return cut();
    case FaultAction::kFail:
    case FaultAction::kHideTable:
    case FaultAction::kQuota: {
      const absl::Status failure = failureOf(fault_->rule);
      // A table that is not there ends a call that has not begun well, as it does without a rule.
      const bool ends = fault_->rule.endCall || (fault_->tableIsHidden && !session_->isOpen());
      if (ends) return endCall(failure);
      if (!fault_->tableIsHidden) session_->takeHeader();
      return answer(session_->refusal(failure));
    }
    case FaultAction::kCutAfter:
    case FaultAction::kDelay:
    case FaultAction::kOldSchema:
      break;
  }
  const bool oldSchema = fault_.has_value() && fault_->oldSchema;
  const absl::StatusOr<AppendSession::Response> response = session_->apply(oldSchema);
  request_ = grpc::Slice();
  if (action == FaultAction::kCutAfter) return cut();
  if (!response.ok()) return endCall(response.status());
  answer(*response);
}

void AppendReactor::answer(const AppendSession::Response& response) {
  grpc::ByteBuffer bytes = serialize(response);
  grpc::ByteBuffer* toWrite = nullptr;
  bool readNext = true;
  {
    const base::MutexLock lock(mutex_);
    answers_.push_back(std::move(bytes));
    if (answers_.size() == 1) toWrite = &answers_.front();
    if (answers_.size() >= kMaxWaitingAnswers) {
      readPaused_ = true;
      readNext = false;
    }
  }
  if (toWrite != nullptr) StartWrite(toWrite);
  finishHandling(readNext);
}

void AppendReactor::cut() {
  if (!cutConnection_()) return endCall(lostConnection());
  finishHandling(/*readNext=*/false);  // gRPC notices, and cancels every call of the connection
}

void AppendReactor::endCall(const absl::Status& status) {
  endCall(endOfCall(status, session_->requestStream(), context_));
}

void AppendReactor::endCall(const grpc::Status& status) {
  {
    const base::MutexLock lock(mutex_);
    end_ = status;
  }
  finishHandling(/*readNext=*/false);
}

void AppendReactor::finishHandling(bool readNext) {
  // The next request may be under way in another thread before this one counts as handled, and the
  // call cannot be finished before that.
  if (readNext) StartRead(&incoming_);
  {
    const base::MutexLock lock(mutex_);
    --handling_;
  }
  finishIfDone();
}

void AppendReactor::OnWriteDone(bool ok) {
  grpc::ByteBuffer* toWrite = nullptr;
  bool readNext = false;
  {
    const base::MutexLock lock(mutex_);
    answers_.pop_front();
    if (!ok) {
      answers_.clear();
      cancelled_ = true;
    }
    if (!answers_.empty()) toWrite = &answers_.front();
    if (readPaused_ && answers_.size() < kMaxWaitingAnswers / 2 && ok) {
      readPaused_ = false;
      readNext = true;
    }
  }
  if (readNext) StartRead(&incoming_);
  if (toWrite != nullptr) {
    StartWrite(toWrite);
  } else {
    finishIfDone();
  }
}

void AppendReactor::OnCancel() {
  {
    const base::MutexLock lock(mutex_);
    cancelled_ = true;
    alarm_.Cancel();
  }
  finishIfDone();
}

void AppendReactor::finishIfDone() {
  grpc::Status status;
  {
    const base::MutexLock lock(mutex_);
    const bool done = cancelled_ || (end_.has_value() && answers_.empty());
    if (!done || handling_ > 0 || finished_) return;
    finished_ = true;
    status = end_.value_or(grpc::Status(grpc::StatusCode::CANCELLED, "the call was cancelled"));
  }
  Finish(status);
}

}  // namespace penstock::emulator
