#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

// maxBufferedBytes, as a writer keeps to it (BQW-033).
namespace penstock::bigquery {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::SizeIs;

class DefaultStreamBuffersTest : public WriterTest {
 protected:
  void SetUp() override {
    options_.location = "us";
    options_.maxBufferedBytes = 1000;
  }
  static std::string row(size_t bytes, char letter = 'x') { return std::string(bytes, letter); }
  ProcessBounds& bounds() { return *pool_->bounds(); }
  /// Writes rows of 100 bytes until one has to wait; returns how many.
  int fill(connector::DestinationId destination) {
    int rows = 0;
    while (rows < 100 && writer_->admit(destination) == Admission::kAccepted) {
      write(destination, row(100));
      ++rows;
    }
    return rows;
  }
};

// BQW-033
TEST_F(DefaultStreamBuffersTest, NearTheBoundTheLargestBatchIsSentFirst) {
  start();
  const auto second = add("t2");
  const auto third = add("t3");
  write(first_, row(200));
  write(second, row(500, 'b'));
  EXPECT_TRUE(calls_->calls.empty()) << "nothing is sent early while there is room";
  EXPECT_EQ(gauge("bufferedBytes"), bounds().buffered());
  EXPECT_GE(gauge("bufferedBytes"), 700);
  write(third, row(200));
  EXPECT_THAT(written(), ElementsAre(ElementsAre(row(500, 'b'))));
  calls_->last().acknowledge();
  poll();
  EXPECT_LT(gauge("bufferedBytes"), 500);
}

// BQW-033: at most the row that went beyond it.
TEST_F(DefaultStreamBuffersTest, RowsWaitAtTheBoundUntilSomethingIsAcknowledged) {
  start();
  const int taken = fill(first_);
  EXPECT_GE(taken, 9);
  EXPECT_LE(taken, 10);
  EXPECT_LE(bounds().buffered(), 1100);
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  EXPECT_EQ(writer_->admit(add("t2")), Admission::kWouldWait) << "it is everybody's bound";
  for (size_t answered = 0; answered < written().size(); ++answered) {
    calls_->last().acknowledge();
    poll();
  }
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted);
}

// BQW-033
TEST_F(DefaultStreamBuffersTest, ARowLargerThanTheBoundStillGoes) {
  start();
  write(row(3000));
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  ASSERT_THAT(written(), SizeIs(1));
  calls_->last().acknowledge();
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted);
}

// BQW-033, BQW-080: a flush needs no room.
TEST_F(DefaultStreamBuffersTest, AFlushAtTheBoundEnds) {
  start();
  fill(first_);
  writer_->beginFlush(false);
  for (size_t answered = 0; answered < written().size(); ++answered) calls_->last().acknowledge();
  EXPECT_EQ(poll().state, State::kNeedsHost);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(gauge("bufferedBytes"), 0);
  EXPECT_EQ(bounds().buffered(), 0);
  EXPECT_EQ(bounds().sealed(), 0);
}

// BQW-033, BQW-076: refused rows leave, what is left of their batch goes again, rows go on.
TEST_F(DefaultStreamBuffersTest, RowErrorsAtTheBoundMakeRoom) {
  start();
  write("bad");
  fill(first_);
  const size_t requests = written().size();
  refuseRows({0});
  for (size_t answered = 1; answered < requests; ++answered) calls_->last().acknowledge();
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "the host decides first";
  EXPECT_EQ(answerAll().size(), 1U);
  ASSERT_EQ(written().size(), requests + 1) << "the survivors";
  calls_->last().acknowledge();
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted);
  EXPECT_LT(bounds().buffered(), 500);
}

// BQW-033, BQW-072: what a repair holds counts until it has landed, and no longer.
TEST_F(DefaultStreamBuffersTest, ARepairHoldsItsRowsAndGivesThemBack) {
  start();
  fill(first_);
  const size_t requests = written().size();
  calls_->last().end(absl::StatusCode::kPermissionDenied);  // of a table that exists: CREATE
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  EXPECT_GE(bounds().sealed(), 900);
  ASSERT_EQ(admin_->creations.size(), 1U);
  admin_->answerCreation({absl::AlreadyExistsError("exists"), 409, "duplicate"});
  poll();
  for (size_t answered = 0; answered < requests; ++answered) {
    written();
    calls_->last().acknowledge();
    poll();
  }
  writer_->beginFlush(false);
  for (size_t answered = 0; answered + requests < 20 && poll().state == State::kPending;
       ++answered) {
    written();
    calls_->last().acknowledge();
  }
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(bounds().buffered(), 0);
}

// BQW-033: a writer whose rows wait has those send that sit on theirs.
TEST_F(DefaultStreamBuffersTest, AWriterThatSitsOnItsRowsIsAskedToSendThem) {
  start();
  write(row(860));
  const auto idle = std::exchange(writer_, nullptr);
  DefaultStreamWriter::Dependencies dependencies;
  dependencies.pool = pool_;
  dependencies.admin = admin_;
  dependencies.clock = &clock_;
  dependencies.random = base::seededRandom(3);
  dependencies.metrics = std::make_shared<base::MetricGroup>();
  writer_ = *DefaultStreamWriter::create(options_, std::move(dependencies));
  const auto busy = add("busy");
  EXPECT_GE(fill(busy), 1)
      << "nobody else's rows keep a writer with nothing under way from going on";
  poll();
  EXPECT_EQ(writer_->admit(busy), Admission::kWouldWait);
  const size_t before = written().size();
  idle->poll();
  EXPECT_EQ(written().size(), before + 1) << "the idle one's";
  writer_.reset();
  EXPECT_GE(bounds().buffered(), 860) << "the idle writer's are still its own";
  idle->beginClose();
  EXPECT_EQ(bounds().buffered(), 0);
  EXPECT_EQ(bounds().sealed(), 0);
}

// BQW-004, BQW-033: whatever was going on.
TEST_F(DefaultStreamBuffersTest, ClosingGivesEverythingBack) {
  start();
  fill(first_);
  fill(add("t2"));
  EXPECT_GT(bounds().buffered(), 900);
  writer_->beginClose();
  EXPECT_EQ(bounds().buffered(), 0);
  EXPECT_EQ(bounds().sealed(), 0);
  EXPECT_EQ(gauge("bufferedBytes"), 0);
}

// BQW-033: with the default bound and one table, nothing is ever sent early.
TEST_F(DefaultStreamBuffersTest, FarFromTheBoundBatchesFill) {
  options_.maxBufferedBytes = SinkOptions{}.maxBufferedBytes;
  start();
  const std::string bytes = row(1000);
  const std::vector<std::string_view> rows(600, bytes);
  EXPECT_EQ(writer_->takeRows(first_, rows, connector::RowOrigin::kUnknown), rows.size());
  ASSERT_THAT(written(), SizeIs(1));
  EXPECT_EQ(written()[0].size(), (512U << 10) / 1000);
  EXPECT_GE(gauge("bufferedBytes"), 600'000 - (64 << 10) - 2000) << "counted in steps";
}

}  // namespace
}  // namespace penstock::bigquery
