#include "crash_points.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

namespace penstock::crash {
namespace {

struct Plan {
  Plan() {
    const char* text = std::getenv("PENSTOCK_CRASH");
    if (text == nullptr) return;
    const std::string_view plan = text;
    const size_t colon = plan.rfind(':');
    step = plan.substr(0, colon);
    left = std::atoi(std::string(plan.substr(colon + 1)).c_str());
    if (std::find(kSteps.begin(), kSteps.end(), step) == kSteps.end()) std::abort();
  }

  std::string step;
  std::atomic<int> left{0};
};

}  // namespace

void pass(std::string_view step) {
  static Plan& plan = *new Plan;
  if (step != plan.step || plan.left.fetch_sub(1) != 1) return;
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();  // the signal is on its way
}

}  // namespace penstock::crash

// The C library's own, seen by everything in this program.
extern "C" int fsync(int fd) {
  penstock::crash::pass("before sync");
  const auto result = static_cast<int>(::syscall(SYS_fsync, fd));
  penstock::crash::pass("after sync");
  return result;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  penstock::crash::pass("before rename");
  const auto result = static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  penstock::crash::pass("after rename");
  return result;
}
