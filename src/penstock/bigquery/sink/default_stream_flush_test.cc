#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;

/// What flushes do besides ending: on a timer, and with tables that nobody writes to.
class DefaultStreamFlushTest : public WriterTest {
 protected:
  void SetUp() override { options_.location = "us"; }

  /// Everything written is acknowledged and the handler has flushed.
  void finishFlush() {
    written();
    while (gauge("inFlightBatches") > 0) {
      calls_->last().acknowledge();
      poll();
      written();
    }
    answerAll();
    ASSERT_EQ(poll().state, State::kDone);
  }
  void flush(bool endOfInput = false) {
    writer_->beginFlush(endOfInput);
    finishFlush();
  }
};

// --- flushInterval

// BQW-081
TEST_F(DefaultStreamFlushTest, ATimerSendsASubThresholdRowWithoutACheckpoint) {
  options_.defaultStreamOptions.flushInterval = seconds(5);
  start();
  EXPECT_EQ(poll().wakeAt, clock_.now() + seconds(5)) << "armed at construction";
  write("a");
  clock_.advance(seconds(5) - nanoseconds(1));
  poll();
  EXPECT_TRUE(calls_->calls.empty());
  clock_.advance(nanoseconds(1));
  EXPECT_EQ(poll().state, State::kPending);
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}));
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "it is flush(false)";
  calls_->last().acknowledge();
  ASSERT_EQ(poll().state, State::kNeedsHost);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(poll().wakeAt, clock_.now() + seconds(5)) << "armed again";
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted);
}

// BQW-081: while rows are written nobody polls.
TEST_F(DefaultStreamFlushTest, TheTimerIsSeenBetweenRows) {
  options_.defaultStreamOptions.flushInterval = seconds(5);
  start();
  clock_.advance(seconds(5));
  int rows = 0;
  while (writer_->admit(first_) == Admission::kAccepted && rows < 1000) {
    writer_->beginRow(first_).append("a");
    writer_->commitRow(connector::RowOrigin::kUnknown);
    ++rows;
  }
  EXPECT_LE(rows, 256);
  ASSERT_EQ(written().size(), 1U);
  EXPECT_EQ(written()[0].size(), static_cast<size_t>(rows));
}

// BQW-081
TEST_F(DefaultStreamFlushTest, TheTimersErrorsEndTheWriter) {
  options_.defaultStreamOptions.flushInterval = seconds(5);
  start();
  clock_.advance(seconds(5));
  poll();
  answerAll(absl::UnavailableError("dead letters are stuck"));
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(writer_->admit(first_), Admission::kFailed);
}

// BQW-081
TEST_F(DefaultStreamFlushTest, TheTimerStopsWithTheWriter) {
  options_.defaultStreamOptions.flushInterval = seconds(5);
  start();
  write("a");
  writer_->beginClose();
  clock_.advance(seconds(6));
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(poll().wakeAt, base::kNever);
  EXPECT_TRUE(calls_->calls.empty());
}

// BQW-080, BQW-081: the handler is flushed for records that failed after the timer had asked it.
TEST_F(DefaultStreamFlushTest, AFlushDuringTheTimersOwnFlushesTheHandlerAnew) {
  options_.defaultStreamOptions.flushInterval = seconds(5);
  start();
  clock_.advance(seconds(5));
  ASSERT_EQ(poll().state, State::kNeedsHost);
  const connector::QuestionId timers = writer_->questions()[0].id;
  connector::FailedRecord unroutable;
  unroutable.destination = "unresolved";
  writer_->failRow(std::move(unroutable));
  writer_->beginFlush(false);
  writer_->answer(timers, {});
  EXPECT_EQ(poll().state, State::kNeedsHost);
  writer_->answer(writer_->questions()[0].id, {});  // the failed record
  ASSERT_EQ(poll().state, State::kNeedsHost);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
}

TEST_F(DefaultStreamFlushTest, WithoutAnIntervalNothingIsSentUnasked) {
  start();
  write("a");
  EXPECT_EQ(poll().wakeAt, base::kNever);
  clock_.advance(hours(24));
  poll();
  EXPECT_TRUE(calls_->calls.empty());
}

// --- idle tables

// BQW-090
TEST_F(DefaultStreamFlushTest, ATableIsLetGoOnceIdleForLongerThanItsTimeout) {
  start();
  write("a");
  flush();
  EXPECT_EQ(gauge("openDestinations"), 1);
  clock_.advance(hours(1));
  flush();
  EXPECT_EQ(gauge("openDestinations"), 1) << "exactly at the timeout it is kept";
  clock_.advance(nanoseconds(1));
  flush();
  EXPECT_EQ(gauge("openDestinations"), 0);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_TRUE(calls_->last().cancelled);

  write("b");
  EXPECT_EQ(gauge("openDestinations"), 1) << "a row opens it again";
  writer_->beginFlush(false);
  EXPECT_THAT(written(), ElementsAre(Rows{"b"}));
}

// BQW-090
TEST_F(DefaultStreamFlushTest, OnlyIdleTablesAreLetGo) {
  options_.defaultStreamOptions.destinationIdleTimeout = seconds(10);
  options_.defaultStreamOptions.maxConnectionsPerRegion = 1;
  options_.defaultStreamOptions.minConnectionsPerRegion = 1;
  start();
  const auto second = add("t2");
  write("a");
  write(second, "b");
  flush();
  for (int i = 0; i < 3; ++i) {
    clock_.advance(seconds(4));
    write(second, "c");
    flush();
  }
  EXPECT_EQ(gauge("openDestinations"), 1);
  EXPECT_EQ(pool_->connectionCount(), 1U);
}

// BQW-090
TEST_F(DefaultStreamFlushTest, TheEndOfTheInputLetsNothingGo) {
  start();
  write("a");
  flush();
  clock_.advance(hours(2));
  flush(/*endOfInput=*/true);
  EXPECT_EQ(gauge("openDestinations"), 1);
}

// BQW-090, BASE-004
TEST_F(DefaultStreamFlushTest, TheLongestTimeoutMeansNever) {
  options_.defaultStreamOptions.destinationIdleTimeout = base::Duration::max();
  start();
  write("a");
  flush();
  clock_.advance(hours(24 * 365 * 100));
  flush();
  EXPECT_EQ(gauge("openDestinations"), 1);
}

}  // namespace
}  // namespace penstock::bigquery
