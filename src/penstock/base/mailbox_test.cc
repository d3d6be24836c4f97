#include "penstock/base/mailbox.h"

#include <gmock/gmock.h>

#include <thread>

namespace penstock::base {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

MonotonicTime soon() { return systemClock().now() + 60s; }

TEST(Mailbox, DrainsInTheOrderOfPosting) {
  Mailbox<int> mailbox;
  mailbox.post(1);
  mailbox.post(2);
  std::vector<int> events = {99};
  EXPECT_TRUE(mailbox.drain(events));
  EXPECT_THAT(events, ElementsAre(1, 2));
  EXPECT_FALSE(mailbox.drain(events));
  EXPECT_THAT(events, IsEmpty());
}

TEST(Mailbox, WaitingReturnsAtOnceWhenSomethingIsThere) {
  Mailbox<int> mailbox;
  mailbox.post(1);
  mailbox.waitUntil(kNever);
  std::vector<int> events;
  EXPECT_TRUE(mailbox.drain(events));
}

TEST(Mailbox, WaitingEndsAtItsDeadline) {
  Mailbox<int> mailbox;
  const MonotonicTime deadline = systemClock().now() + 5ms;
  mailbox.waitUntil(deadline);
  EXPECT_GE(systemClock().now(), deadline);
}

TEST(Mailbox, AnEventOrAWakeUpFromAnotherThreadEndsTheWait) {
  Mailbox<int> mailbox;
  std::thread poster([&mailbox] { mailbox.post(5); });
  mailbox.waitUntil(soon());
  std::vector<int> events;
  EXPECT_TRUE(mailbox.drain(events));
  poster.join();
  std::thread waker([&mailbox] { mailbox.wake(); });
  mailbox.waitUntil(soon());
  EXPECT_FALSE(mailbox.drain(events));
  waker.join();
}

TEST(Mailbox, AWakeUpIsNotLostBeforeTheWait) {
  Mailbox<int> mailbox;
  mailbox.wake();
  mailbox.waitUntil(kNever);  // would hang
}

TEST(Mailbox, LosesNothingBetweenManyThreads) {
  Mailbox<int> mailbox;
  constexpr int kThreads = 4;
  constexpr int kEach = 2'000;
  std::vector<std::thread> posters;
  for (int thread = 0; thread < kThreads; ++thread) {
    posters.emplace_back([&mailbox] {
      for (int event = 0; event < kEach; ++event) mailbox.post(1);
    });
  }
  size_t received = 0;
  std::vector<int> events;
  const MonotonicTime deadline = soon();
  while (received < size_t{kThreads} * kEach && systemClock().now() < deadline) {
    mailbox.waitUntil(deadline);
    mailbox.drain(events);
    received += events.size();
  }
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(received, size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace penstock::base
