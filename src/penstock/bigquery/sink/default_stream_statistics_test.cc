#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// What a writer says about itself to who asks from another thread.
class DefaultStreamStatisticsTest : public WriterTest {
 protected:
  void SetUp() override {
    options_.location = "us";
    options_.defaultStreamOptions.maxAppendRequestBytes = 1;  // a request a row
  }
  WriterStatistics ask() {
    const auto board = writer_->statisticsBoard();
    const uint64_t ticket = board->request();
    poll();
    return board->latest(ticket, {});
  }
};

TEST_F(DefaultStreamStatisticsTest, AreOnlyTakenWhenAsked) {
  start();
  write("a");
  poll();
  EXPECT_EQ(writer_->statisticsBoard()->latest(0, {}).taken, base::MonotonicTime{});
  clock_.advance(seconds(5));
  EXPECT_EQ(ask().taken, clock_.now());
}

TEST_F(DefaultStreamStatisticsTest, TellWhatIsBufferedAndWhatIsUnanswered) {
  options_.defaultStreamOptions.maxAppendRequestBytes = 1'000;
  start();
  write("abc");
  WriterStatistics statistics = ask();
  ASSERT_EQ(statistics.destinations.size(), 1U);
  EXPECT_EQ(statistics.destinations[0].table, "p.d.t1");
  EXPECT_EQ(statistics.destinations[0].bufferedRows, 1U);
  EXPECT_GE(statistics.destinations[0].bufferedBytes, 3U);
  EXPECT_EQ(statistics.destinations[0].unansweredBatches, 0U);
  EXPECT_EQ(statistics.operation, "none");
  writer_->beginFlush(false);
  written();
  statistics = ask();
  EXPECT_EQ(statistics.operation, "flush");
  EXPECT_EQ(statistics.destinations[0].state, "open");
  EXPECT_EQ(statistics.destinations[0].bufferedRows, 0U);
  EXPECT_EQ(statistics.destinations[0].unansweredBatches, 1U);
  EXPECT_GE(statistics.destinations[0].unansweredBytes, 3U);
  calls_->last().acknowledge();
  statistics = ask();
  EXPECT_EQ(statistics.destinations[0].unansweredBatches, 0U);
  EXPECT_EQ(statistics.destinations[0].unansweredBytes, 0U);
}

TEST_F(DefaultStreamStatisticsTest, TellOfARepairAndWhatBeganIt) {
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  poll();
  const WriterStatistics statistics = ask();
  ASSERT_EQ(statistics.destinations.size(), 1U);
  EXPECT_EQ(statistics.destinations[0].unansweredBatches, 1U);
  EXPECT_EQ(statistics.destinations[0].repairAttempt, 1);
  EXPECT_EQ(statistics.destinations[0].state, "reappending");
  EXPECT_THAT(statistics.destinations[0].lastFailure, HasSubstr("FAILED_PRECONDITION"));
}

TEST_F(DefaultStreamStatisticsTest, NameBusyTablesFirstAndNotMoreThanAHundred) {
  start();
  connector::DestinationId last{};
  for (int table = 2; table <= 150; ++table) last = add("t" + std::to_string(table));
  write(last, "a");
  const WriterStatistics statistics = ask();
  ASSERT_EQ(statistics.destinations.size(), WriterStatistics::kMostDestinations);
  EXPECT_EQ(statistics.destinations[0].table, "p.d.t150");
  EXPECT_EQ(statistics.destinationsLeftOut, 50U);
}

TEST_F(DefaultStreamStatisticsTest, TheLastOnesStayWhenTheWriterIsGone) {
  start();
  const auto board = writer_->statisticsBoard();
  writer_->beginClose();
  writer_.reset();
  EXPECT_EQ(board->latest(board->request(), base::kNever).operation, "closed");
}

}  // namespace
}  // namespace penstock::bigquery
