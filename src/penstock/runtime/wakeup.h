#pragma once

#include "penstock/base/clock.h"

namespace penstock::runtime {

/// Interrupts a thread that waits for a file descriptor (or for nothing else at all): a latched
/// event. Set by any thread or a signal handler, waited for and cleared by the one thread that owns
/// it.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Any thread, and async-signal-safe: ends the wait in progress or the next one.
  void notify() const;

  enum class Reason { kNotified, kReadable, kTimeout };
  /// Owner: waits until notified (which clears the event), until `fd` is readable or at its end
  /// (-1: only for the event), or until `deadline` (base::kNever: without one).
  [[nodiscard]] Reason wait(int fd, base::MonotonicTime deadline) const;

 private:
  int eventFd_;
};

}  // namespace penstock::runtime
