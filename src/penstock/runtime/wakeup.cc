#include "penstock/runtime/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "penstock/runtime/system_error.h"

namespace penstock::runtime {
namespace {

/// poll(2)'s timeout for a deadline: rounded up, so that a wait does not end just before it.
int timeoutMilliseconds(base::MonotonicTime deadline) {
  if (deadline == base::kNever) return -1;
  const base::MonotonicTime now = std::chrono::steady_clock::now();
  if (deadline <= now) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
  return static_cast<int>(std::min<int64_t>(left, 1'000'000'000));
}

}  // namespace

Wakeup::Wakeup() : eventFd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (eventFd_ < 0) {  // only out of file descriptors: nothing can run then
    std::fprintf(stderr, "penstock: cannot make an event: %s\n", systemErrorText(errno).c_str());
    std::abort();
  }
}

Wakeup::~Wakeup() { ::close(eventFd_); }

void Wakeup::notify() const {
  const int savedErrno = errno;
  const uint64_t one = 1;
  // Fails only when the event is set already, which is what is wanted.
  [[maybe_unused]] const ssize_t written = ::write(eventFd_, &one, sizeof one);
  errno = savedErrno;
}

Wakeup::Reason Wakeup::wait(int fd, base::MonotonicTime deadline) const {
  while (true) {
    std::array<pollfd, 2> watched = {pollfd{eventFd_, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
    const int ready = ::poll(watched.data(), fd < 0 ? 1 : 2, timeoutMilliseconds(deadline));
    if (ready < 0) continue;  // EINTR
    if (watched[0].revents != 0) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t cleared = ::read(eventFd_, &count, sizeof count);
      return Reason::kNotified;
    }
    if (watched[1].revents != 0) return Reason::kReadable;
    if (deadline != base::kNever && std::chrono::steady_clock::now() >= deadline) {
      return Reason::kTimeout;
    }
  }
}

}  // namespace penstock::runtime
