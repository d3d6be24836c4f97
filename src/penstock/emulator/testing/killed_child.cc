#include "penstock/emulator/testing/killed_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace penstock::emulator {

uint64_t killAfter(uint64_t goal, const std::function<void(const ReportProgress& report)>& work) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    work([&pipe](uint64_t done) {
      if (::write(pipe[1], &done, sizeof done) != sizeof done) ::_exit(1);
    });
    ::_exit(1);
  }
  ::close(pipe[1]);
  uint64_t reported = 0;
  uint64_t done = 0;
  while (reported < goal && ::read(pipe[0], &done, sizeof done) == sizeof done) reported = done;
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &done, sizeof done) == sizeof done) reported = done;
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(pipe[0]);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child has failed";
  return reported;
}

}  // namespace penstock::emulator
