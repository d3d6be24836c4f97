#include "penstock/bigquery/sink/buffer_account.h"

#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

using connector::DestinationId;

class BufferAccountTest : public testing::Test {
 protected:
  BufferAccountTest() { bounds_->enter({.maxBufferedBytes = 800}); }

  /// What a writer does when it is told to send.
  void send(BufferAccount& account, DestinationId destination, size_t bytes) {
    account.setUnsent(destination, 0);
    account.addSealed(static_cast<int64_t>(bytes));
  }

  std::shared_ptr<ProcessBounds> bounds_ = std::make_shared<ProcessBounds>();
  base::MetricGroup metrics_;
  base::Gauge& gauge_ = metrics_.gauge("bufferedBytes");
  const DestinationId a_{0};
  const DestinationId b_{1};
};

// BQW-033
TEST_F(BufferAccountTest, SendsTheLargestAsSoonAsSevenEighthsAreTaken) {
  BufferAccount account(bounds_, gauge_);
  account.setUnsent(a_, 300);
  account.setUnsent(b_, 400);
  EXPECT_TRUE(account.isRelaxed());
  EXPECT_EQ(account.toSend(), std::nullopt);
  account.setUnsent(a_, 310);
  EXPECT_FALSE(account.isRelaxed());
  EXPECT_EQ(account.toSend(), b_);
  send(account, b_, 400);
  EXPECT_EQ(account.toSend(), std::nullopt) << "its acknowledgement brings the total down again";
  EXPECT_FALSE(account.mustWait());
  EXPECT_EQ(gauge_.value(), 710);
}

// BQW-033
TEST_F(BufferAccountTest, WaitsAtTheBoundUntilThereIsRoomForMany) {
  BufferAccount account(bounds_, gauge_);
  account.addSealed(799);
  EXPECT_FALSE(account.mustWait());
  account.addSealed(1);
  EXPECT_TRUE(account.mustWait());
  account.addSealed(-25);
  EXPECT_TRUE(account.mustWait());
  account.addSealed(-1);
  EXPECT_FALSE(account.mustWait());
}

// BQW-033: an acknowledgement to come is what a waiting writer wakes up for.
TEST_F(BufferAccountTest, WithoutAnythingSealedItNeverWaits) {
  BufferAccount other(bounds_, metrics_.gauge("other"));
  other.addSealed(900);
  BufferAccount account(bounds_, gauge_);
  EXPECT_FALSE(account.mustWait());
  account.setUnsent(a_, 10);
  EXPECT_FALSE(account.mustWait());
  EXPECT_EQ(account.toSend(), a_) << "or it would wait for others";
  send(account, a_, 10);
  EXPECT_TRUE(account.mustWait());
  account.addSealed(-10);
  EXPECT_FALSE(account.mustWait());
}

// BQW-033: the bound is the process's; a writer sees what others hold.
TEST_F(BufferAccountTest, CountsOverAllWriters) {
  BufferAccount first(bounds_, gauge_);
  BufferAccount second(bounds_, metrics_.gauge("second"));
  first.setUnsent(a_, 500);
  second.setUnsent(a_, 250);
  EXPECT_EQ(bounds_->buffered(), 750);
  EXPECT_EQ(first.toSend(), a_);
  EXPECT_EQ(second.toSend(), a_);
  send(second, a_, 250);
  EXPECT_EQ(first.toSend(), std::nullopt);
  EXPECT_FALSE(second.othersHoldUnsent()) << "what is sealed is enough";
  second.addSealed(100);
  first.setUnsent(a_, 900);
  EXPECT_TRUE(second.mustWait());
  EXPECT_TRUE(second.othersHoldUnsent());
  first.close();
  second.close();
  EXPECT_EQ(bounds_->buffered(), 0);
  EXPECT_EQ(bounds_->sealed(), 0);
  EXPECT_EQ(gauge_.value(), 0);
}

// BQW-033: with a large bound the process is told in steps, and nothing stays behind.
TEST(BufferAccount, DrawsInStepsAndReturnsEverything) {
  const auto bounds = std::make_shared<ProcessBounds>();
  bounds->enter({});
  base::MetricGroup metrics;
  BufferAccount account(bounds, metrics.gauge("bufferedBytes"));
  int64_t changes = 0;
  int64_t last = 0;
  for (size_t bytes = 100; bytes <= 1'000'000; bytes += 100) {
    account.setUnsent(connector::DestinationId{0}, bytes);
    EXPECT_GE(bounds->buffered(), static_cast<int64_t>(bytes));
    EXPECT_LE(bounds->buffered(), static_cast<int64_t>(bytes) + 2 * bounds->bufferStep());
    if (bounds->buffered() != last) ++changes;
    last = bounds->buffered();
  }
  EXPECT_LT(changes, 20);
  account.setUnsent(connector::DestinationId{0}, 0);
  EXPECT_EQ(bounds->buffered(), 0);
}

}  // namespace
}  // namespace penstock::bigquery
