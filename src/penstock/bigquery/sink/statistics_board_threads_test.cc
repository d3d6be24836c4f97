#include <gtest/gtest.h>

#include <thread>

#include "penstock/base/clock.h"
#include "penstock/base/mailbox.h"
#include "penstock/bigquery/sink/statistics_board.h"

namespace penstock::bigquery {
namespace {

using namespace std::chrono_literals;

WriterStatistics named(const std::string& operation) {
  WriterStatistics statistics;
  statistics.operation = operation;
  return statistics;
}

TEST(StatisticsBoard, AnAnswerComesFromTheWritersThread) {
  base::Mailbox<int> wakes;
  StatisticsBoard board([&] { wakes.post(1); });
  std::thread writer([&] {
    std::vector<int> drained;
    for (int answered = 0; answered < 100;) {
      wakes.waitUntil(base::kNever);
      wakes.drain(drained);
      if (!board.isWanted()) continue;
      board.publish(named(std::to_string(++answered)));
    }
  });
  for (int round = 1; round <= 100; ++round) {
    const uint64_t ticket = board.request();
    EXPECT_EQ(board.latest(ticket, base::systemClock().now() + 60s).operation,
              std::to_string(round));
  }
  writer.join();
}

TEST(StatisticsBoard, AWriterThatIsBusyLeavesTheOlderOnes) {
  StatisticsBoard board([] {});
  board.publish(named("old"));
  const uint64_t ticket = board.request();
  EXPECT_TRUE(board.isWanted());
  EXPECT_EQ(board.latest(ticket, base::systemClock().now()).operation, "old");
}

TEST(StatisticsBoard, AfterTheLastOnesNobodyIsWokenOrWaitedFor) {
  int wakes = 0;
  StatisticsBoard board([&] { ++wakes; });
  board.publishFinal(named("closed"));
  EXPECT_EQ(board.latest(board.request(), base::kNever).operation, "closed");
  EXPECT_EQ(wakes, 0);
  EXPECT_FALSE(board.isWanted());
}

}  // namespace
}  // namespace penstock::bigquery
