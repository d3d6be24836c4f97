#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <vector>

#include "penstock/base/mailbox.h"
#include "penstock/runtime/stop_signals.h"

namespace penstock::runtime {
namespace {

TEST(StopSignals, CallsTheFirstAndEveryLaterSignal) {
  base::Mailbox<int> calls;
  std::vector<int> got;
  const auto next = [&] {
    calls.waitUntil(base::systemClock().now() + std::chrono::seconds(10));
    calls.drain(got);
    return got;
  };
  {
    const StopSignals signals([&] { calls.post(1); }, [&] { calls.post(2); });
    EXPECT_FALSE(signals.stopRequested());
    std::raise(SIGTERM);
    EXPECT_EQ(next(), std::vector<int>{1});
    EXPECT_TRUE(signals.stopRequested());
    std::raise(SIGINT);
    EXPECT_EQ(next(), std::vector<int>{2});
    std::raise(SIGINT);
    EXPECT_EQ(next(), std::vector<int>{2});
  }
  // A new object starts over.
  const StopSignals signals([&] { calls.post(3); }, [&] { calls.post(4); });
  EXPECT_FALSE(signals.stopRequested());
  std::raise(SIGINT);
  EXPECT_EQ(next(), std::vector<int>{3});
}

TEST(StopSignals, MayLeaveThemIgnored) {
  {
    const StopSignals signals([] {}, [] {}, StopSignals::Afterwards::kIgnored);
  }
  raise(SIGTERM);  // or the test ends here
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, PutsTheFormerHandlersBack) {
  static std::atomic<int> former{0};
  former = 0;
  const auto previous = std::signal(SIGTERM, [](int) { ++former; });
  {
    const StopSignals signals([] {}, [] {});
  }
  std::raise(SIGTERM);
  EXPECT_EQ(former.load(), 1);
  std::signal(SIGTERM, previous);
}

}  // namespace
}  // namespace penstock::runtime
