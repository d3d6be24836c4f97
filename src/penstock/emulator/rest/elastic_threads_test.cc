#include "penstock/emulator/rest/elastic_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace penstock::emulator {
namespace {

TEST(ElasticThreads, RunsEveryJobAtOnceUpToItsLimit) {
  constexpr int kJobs = 20;
  ElasticThreads threads;
  std::latch all(kJobs);
  std::atomic<int> done = 0;
  for (int i = 0; i < kJobs; ++i) {
    threads.run([&] {
      all.arrive_and_wait();  // ends only if all of them run together
      ++done;
    });
  }
  threads.finish();
  EXPECT_EQ(done, kJobs);
  EXPECT_EQ(threads.threadCount(), 0U);
}

TEST(ElasticThreads, QueuesJobsBeyondItsLimit) {
  ElasticThreads threads(2);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) {
    threads.run([&] {
      const int now = ++running;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      ++done;
    });
  }
  threads.finish();
  EXPECT_EQ(done, 50);
  EXPECT_LE(most, 2);
}

TEST(ElasticThreads, LetsIdleThreadsGoAndComesBack) {
  ElasticThreads threads(8, std::chrono::milliseconds(1));
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> ran = false;
    threads.run([&] { ran = true; });
    const auto deadline = base::systemClock().now() + std::chrono::seconds(10);
    while (threads.threadCount() > 0 && base::systemClock().now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(threads.threadCount(), 0U);
    EXPECT_TRUE(ran);
  }
}

}  // namespace
}  // namespace penstock::emulator
