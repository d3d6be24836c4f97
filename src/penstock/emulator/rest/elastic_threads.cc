#include "penstock/emulator/rest/elastic_threads.h"

#include <thread>
#include <utility>

namespace penstock::emulator {

ElasticThreads::ElasticThreads(size_t maxThreads, std::chrono::milliseconds idleTime)
    : maxThreads_(maxThreads), idleTime_(idleTime) {}

ElasticThreads::~ElasticThreads() { finish(); }

void ElasticThreads::run(std::function<void()> job) {
  const base::MutexLock lock(mutex_);
  jobs_.push_back(std::move(job));
  if (idleThreads_ >= jobs_.size() || threads_ >= maxThreads_) {
    jobArrived_.notifyOne();
    return;
  }
  ++threads_;
  std::thread([this] { work(); }).detach();  // finish() waits for the count instead of a handle
}

void ElasticThreads::work() {
  mutex_.lock();
  while (true) {
    if (!jobs_.empty()) {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      mutex_.unlock();
      job();
      mutex_.lock();
      continue;
    }
    if (finishing_) break;
    ++idleThreads_;
    const base::MonotonicTime deadline = base::deadlineAfter(base::systemClock().now(), idleTime_);
    while (jobs_.empty() && !finishing_ && base::systemClock().now() < deadline) {
      jobArrived_.waitUntil(mutex_, deadline);
    }
    --idleThreads_;
    if (jobs_.empty()) break;
  }
  --threads_;
  threadEnded_.notifyAll();
  mutex_.unlock();
}

void ElasticThreads::finish() {
  const base::MutexLock lock(mutex_);
  finishing_ = true;
  jobArrived_.notifyAll();
  while (threads_ > 0) threadEnded_.wait(mutex_);
}

size_t ElasticThreads::threadCount() const {
  const base::MutexLock lock(mutex_);
  return threads_;
}

}  // namespace penstock::emulator
