#include "penstock/gcp/completion_loop.h"

#include <grpcpp/completion_queue.h>

namespace penstock::gcp {

CompletionLoop::CompletionLoop() : queue_(std::make_shared<grpc::CompletionQueue>()) {
  thread_ = std::thread([queue = queue_] {
    void* tag = nullptr;
    bool ok = false;
    while (queue->Next(&tag, &ok)) static_cast<Completion*>(tag)->complete(ok);
  });
}

CompletionLoop::~CompletionLoop() {
  queue_->Shutdown();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // it holds the queue and leaves as soon as the current completion returns
  } else {
    thread_.join();
  }
}

}  // namespace penstock::gcp
