#include "penstock/bigquery/sink/append_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/bigquery/sink/testing/pool_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::minutes;

// BQW-059
TEST_F(AppendPoolTest, AppendersOfALocationShareAConnection) {
  start();
  EXPECT_TRUE(append(open("a")));
  EXPECT_TRUE(append(open("b")));
  EXPECT_EQ(calls_->calls.size(), 1U);
  EXPECT_TRUE(append(open("c", "eu")));
  EXPECT_EQ(calls_->calls.size(), 2U);
  EXPECT_EQ(calls_->calls[1]->options.requestParams, "write_location=projects/p/locations/eu");
}

// BQW-052
TEST_F(AppendPoolTest, AnUnknownLocationIsRoutedByTheStream) {
  start();
  EXPECT_TRUE(append(open("a", "")));
  EXPECT_EQ(calls_->last().options.requestParams,
            "write_stream=projects/p/datasets/d/tables/a/streams/_default");
}

// BQW-051: the trace id has a colon inside, and the version behind it.
TEST_F(AppendPoolTest, TheFirstRequestSaysWhoIsCalling) {
  start();
  EXPECT_TRUE(append(open("a")));
  EXPECT_THAT(calls_->last().writes[0].header,
              testing::ContainsRegex("penstock:[0-9]+\\.[0-9]+\\.[0-9]+"));
}

// BQW-193
TEST_F(AppendPoolTest, DedicatedAppendersShareNothing) {
  start();
  EXPECT_TRUE(append(open("a", "", true)));
  EXPECT_TRUE(append(open("b", "", true)));
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-059
TEST_F(AppendPoolTest, ClosesAConnectionThatNoAppenderUses) {
  start();
  const AppenderId first = open("a");
  const AppenderId second = open("b");
  EXPECT_TRUE(append(first));
  EXPECT_TRUE(append(second));
  calls_->last().events->onWriteDone(true);
  calls_->last().acknowledge();
  pool_->closeAppender(first);
  EXPECT_FALSE(calls_->last().cancelled) << "the other appender uses it";
  pool_->closeAppender(second);
  EXPECT_EQ(pool_->connectionCount(), 1U) << "a request is still awaited";
  calls_->last().acknowledge();
  EXPECT_EQ(client_->done.size(), 2U);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_TRUE(calls_->last().cancelled);
  pool_->advance();
  EXPECT_TRUE(calls_->last().destroyed) << "on a task thread, never inside its own event";
}

// BQW-059
TEST_F(AppendPoolTest, LeavesAFinalConnectionForANewOne) {
  start();
  const AppenderId appender = open("a");
  EXPECT_TRUE(append(appender));
  calls_->last().end(absl::StatusCode::kPermissionDenied);
  ASSERT_EQ(client_->done.size(), 1U);
  EXPECT_EQ(client_->done[0].second.kind, AppendOutcome::Kind::kCallFailed);
  EXPECT_TRUE(append(appender, 2));
  EXPECT_EQ(calls_->calls.size(), 2U);
  EXPECT_EQ(pool_->connectionCount(), 1U);
}

// BQW-053
TEST_F(AppendPoolTest, TellsWhoeverFoundNoRoomWhenThereIsSome) {
  ConnectionLimits limits;
  limits.maxInflightRequests = 1;
  start(limits);
  const AppenderId appender = open("a");
  EXPECT_TRUE(append(appender, 1));
  EXPECT_FALSE(append(appender, 2));
  EXPECT_FALSE(append(appender, 2));
  EXPECT_EQ(client_->rooms, 0);
  calls_->last().events->onWriteDone(true);
  calls_->last().acknowledge();
  EXPECT_EQ(client_->rooms, 1);
  EXPECT_TRUE(append(appender, 2));
}

// BQW-053: what waits to be written stays small enough to be in the cache when it is.
TEST_F(AppendPoolTest, HoldsRowsBackWhileMuchWaitsToBeWritten) {
  start();
  const AppenderId appender = open("a");
  const std::string row(kMaxWaitingBytes / 4 - 100, 'x');
  EXPECT_TRUE(append(appender, 1, row)) << "is being written";
  for (uint64_t token = 2; token <= 5; ++token) EXPECT_TRUE(append(appender, token, row));
  EXPECT_FALSE(append(appender, 6, row));
  for (int written = 0; written < 2; ++written) calls_->last().events->onWriteDone(true);
  EXPECT_EQ(client_->rooms, 0) << "not worth a context switch yet";
  calls_->last().events->onWriteDone(true);
  EXPECT_EQ(client_->rooms, 1) << "a quarter of it waits";
  EXPECT_TRUE(append(appender, 6, row));
}

// BQW-053: a request larger than that may wait alone.
TEST_F(AppendPoolTest, LetsOneRequestOfAnySizeWait) {
  start();
  const AppenderId appender = open("a");
  const std::string row(3 * kMaxWaitingBytes, 'x');
  EXPECT_TRUE(append(appender, 1, row));
  EXPECT_TRUE(append(appender, 2, row));
  EXPECT_FALSE(append(appender, 3, row));
}

// BQW-053: a writer that closes frees the room that its waiting requests took.
TEST_F(AppendPoolTest, TellsWhoeverFoundNoRoomWhenAnotherWriterCloses) {
  ConnectionLimits limits;
  limits.maxInflightRequests = 2;
  start(limits);
  EXPECT_TRUE(append(open("a"), 1));
  calls_->last().end(absl::StatusCode::kUnavailable);  // it waits for the reconnection
  const auto other = std::make_shared<NotingClient>();
  const uint32_t first = std::exchange(writer_, pool_->addWriter(other, options_));
  const AppenderId appender = open("b");
  EXPECT_TRUE(append(appender, 2));
  EXPECT_FALSE(append(appender, 3));
  const int rooms = other->rooms;
  pool_->removeWriter(first);
  EXPECT_EQ(other->rooms, rooms + 1);
  EXPECT_TRUE(append(appender, 3));
}

// BQW-040
TEST_F(AppendPoolTest, ForgetsALocationAfterTenMinutes) {
  start();
  pool_->rememberLocation("p.d", "us");
  clock_.advance(minutes(10) - std::chrono::milliseconds(1));
  EXPECT_EQ(pool_->cachedLocation("p.d"), "us");
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(pool_->cachedLocation("p.d"), std::nullopt);
}

TEST_F(AppendPoolTest, EventsOfAnEndedCallFindNobody) {
  start();
  const AppenderId appender = open("a");
  EXPECT_TRUE(append(appender));
  const auto old = calls_->calls[0];
  old->end(absl::StatusCode::kUnavailable);
  clock_.advance(std::chrono::milliseconds(50));
  pool_->advance();
  ASSERT_EQ(calls_->calls.size(), 2U);
  old->acknowledge();  // late, of the call before
  EXPECT_TRUE(client_->done.empty());
  calls_->last().events->onWriteDone(true);
  calls_->last().acknowledge();
  EXPECT_EQ(client_->done.size(), 1U);
}

TEST_F(AppendPoolTest, ARemovedWriterLeavesNeitherPermitsNorConnections) {
  start();
  EXPECT_TRUE(append(open("a")));
  EXPECT_TRUE(append(open("b")));
  pool_->removeWriter(writer_);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_EQ(pool_->inflightRequests(), 0U);
  EXPECT_TRUE(calls_->last().cancelled);
}

}  // namespace
}  // namespace penstock::bigquery
