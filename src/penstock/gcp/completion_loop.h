#pragma once

#include <memory>
#include <thread>

namespace grpc {
class CompletionQueue;
}  // namespace grpc

namespace penstock::gcp {

/// What a gRPC operation does when it ends; its address is the operation's tag.
class Completion {
 public:
  virtual ~Completion() = default;
  /// On the loop's thread. The object may be gone when this returns.
  virtual void complete(bool ok) = 0;
};

/// A gRPC completion queue and the one thread that serves it. (gRPC's callback API runs on threads
/// of its own, which a channel that is destroyed inside one of its callbacks waits for: calls that
/// outlive their owners would deadlock or crash there.) Every operation started on the queue must
/// end before the loop is destroyed; it may be destroyed from inside a completion.
class CompletionLoop {
 public:
  CompletionLoop();
  /// Waits for the thread, unless it is called on it.
  ~CompletionLoop();
  CompletionLoop(const CompletionLoop&) = delete;
  CompletionLoop& operator=(const CompletionLoop&) = delete;

  [[nodiscard]] grpc::CompletionQueue& queue() { return *queue_; }

 private:
  std::shared_ptr<grpc::CompletionQueue> queue_;
  std::thread thread_;
};

}  // namespace penstock::gcp
