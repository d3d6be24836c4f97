#pragma once

#include <condition_variable>
#include <mutex>

#include "penstock/base/clock.h"

// Clang's thread-safety annotations; other compilers ignore them.
#if defined(__clang__)
#define PENSTOCK_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PENSTOCK_THREAD_ANNOTATION(x)
#endif
#define PENSTOCK_GUARDED_BY(x) PENSTOCK_THREAD_ANNOTATION(guarded_by(x))
#define PENSTOCK_REQUIRES(...) PENSTOCK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define PENSTOCK_EXCLUDES(...) PENSTOCK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace penstock::base {

/// A std::mutex with clang's annotations. (abseil's mutex is not instrumented in Debian's build, so
/// ThreadSanitizer would report false races.) No lock is held across a callback or an RPC.
class PENSTOCK_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() PENSTOCK_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() PENSTOCK_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;  // waits on the standard mutex inside
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class PENSTOCK_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PENSTOCK_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() PENSTOCK_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Condition variable for Mutex. Spurious wake-ups happen: wait in a loop.
class CondVar {
 public:
  void notifyOne() { condition_.notify_one(); }
  void notifyAll() { condition_.notify_all(); }
  void wait(Mutex& mutex) PENSTOCK_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// Returns after a notification, at `deadline`, or spuriously; kNever waits without a deadline.
  void waitUntil(Mutex& mutex, MonotonicTime deadline) PENSTOCK_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    if (deadline == kNever) {
      condition_.wait(lock);
    } else {
      condition_.wait_until(lock, deadline);
    }
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace penstock::base
