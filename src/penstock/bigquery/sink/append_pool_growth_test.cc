#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/base/log.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/testing/pool_fixture.h"

// How a location's connections become more and fewer (BQW-058, BQW-059), and whose options count.
namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class AppendPoolGrowthTest : public AppendPoolTest {
 protected:
  /// Ten requests a connection: the third in flight overwhelms it.
  static ConnectionLimits tenRequests() {
    ConnectionLimits limits;
    limits.maxInflightRequests = 10;
    return limits;
  }
  /// Writes and acknowledges what `call` has been given.
  static void settle(ScriptedCalls::Call& call, size_t already = 0) {
    for (size_t next = already; next < call.writes.size(); ++next) {
      call.events->onWriteDone(true);
      call.acknowledge();
    }
  }
  [[nodiscard]] std::vector<size_t> writesPerCall() const {
    std::vector<size_t> writes;
    for (const auto& call : calls_->calls) writes.push_back(call->writes.size());
    return writes;
  }
};

/// What is logged while it lives.
class LoggedWarnings {
 public:
  LoggedWarnings() {
    base::setLogHook([this](base::LogLevel level, std::string_view message) {
      if (level == base::LogLevel::kWarning) messages.emplace_back(message);
    });
  }
  ~LoggedWarnings() { base::setLogHook({}); }
  LoggedWarnings(const LoggedWarnings&) = delete;
  LoggedWarnings& operator=(const LoggedWarnings&) = delete;

  std::vector<std::string> messages;
};

// BQW-059: below the floor every new table opens a connection, from there on they share.
TEST_F(AppendPoolGrowthTest, OpensTheFloorThenShares) {
  start(tenRequests(), 2, 4);
  for (const char* table : {"a", "b", "c", "d"}) EXPECT_TRUE(append(open(table)));
  EXPECT_EQ(calls_->calls.size(), 2U);
  EXPECT_EQ(pool_->connectionCount(), 2U);
}

// BQW-059, sink scenario 17
TEST_F(AppendPoolGrowthTest, StaysOnItsConnectionUpToAFifthOfTheRequests) {
  start(tenRequests(), 1, 4);
  const AppenderId appender = open("a");
  for (uint64_t token = 1; token <= 3; ++token) EXPECT_TRUE(append(appender, token));
  EXPECT_EQ(calls_->calls.size(), 1U) << "two in flight of ten were not yet too many";
  EXPECT_TRUE(append(appender, 4));
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-059, sink scenario 17
TEST_F(AppendPoolGrowthTest, CountsBytesAsWellAsRequests) {
  ConnectionLimits limits;
  limits.maxInflightBytes = 1000;
  start(limits, 1, 4);
  const AppenderId appender = open("a");
  EXPECT_TRUE(append(appender, 1, std::string(197, 'x'))) << "200 with tag and length";
  EXPECT_TRUE(append(appender, 2));
  ASSERT_EQ(calls_->calls.size(), 1U) << "exactly a fifth is not more than a fifth";
  EXPECT_TRUE(append(appender, 3));
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-059, sink scenario 17
TEST_F(AppendPoolGrowthTest, NeverGrowsPastTheCeiling) {
  start(tenRequests(), 1, 3);
  const AppenderId appender = open("a");
  uint64_t taken = 0;
  while (taken < 100 && append(appender, taken + 1)) ++taken;
  EXPECT_EQ(calls_->calls.size(), 3U);
  EXPECT_EQ(taken, 30U) << "each is filled to its limit before a row waits";
  EXPECT_EQ(pool_->inflightRequests(), 30U);
}

// BQW-059
TEST_F(AppendPoolGrowthTest, GoesToTheLeastLoadedOfThoseThereAre) {
  start(tenRequests(), 3, 3);
  const AppenderId busy = open("busy");
  const AppenderId second = open("b");
  const AppenderId third = open("c");
  const std::string large(4000, 'x');
  EXPECT_TRUE(append(busy, 1, large));
  EXPECT_TRUE(append(second, 1, large));
  EXPECT_TRUE(append(third, 1));
  for (uint64_t token = 2; token <= 3; ++token) EXPECT_TRUE(append(busy, token, large));
  // Overwhelmed, and no more may be opened: the one with the fewest bytes in flight.
  EXPECT_TRUE(append(busy, 4, "to the third"));
  calls_->calls[2]->events->onWriteDone(true);
  ASSERT_THAT(writesPerCall(), ElementsAre(1, 1, 2));
  EXPECT_EQ(calls_->calls[2]->writes[1].rows, std::vector<std::string>{"to the third"});
}

// BQW-059: a small difference moves nobody; then the number of tables decides.
TEST_F(AppendPoolGrowthTest, OfEqualLoadsTheFewerTablesCount) {
  start(tenRequests(), 2, 2);
  for (const char* table : {"a", "b", "c"}) EXPECT_TRUE(append(open(table)));
  for (const auto& call : calls_->calls) settle(*call);
  EXPECT_TRUE(append(open("d")));
  EXPECT_THAT(writesPerCall(), ElementsAre(2, 2));
}

// BQW-059
TEST_F(AppendPoolGrowthTest, MovesBackOnlyWhenItsOwnIsOverwhelmed) {
  start(tenRequests(), 1, 2);
  const AppenderId appender = open("a");
  for (uint64_t token = 1; token <= 4; ++token) EXPECT_TRUE(append(appender, token));
  ASSERT_EQ(calls_->calls.size(), 2U);
  settle(*calls_->calls[0]);
  EXPECT_TRUE(append(appender, 5));
  EXPECT_EQ(pool_->connectionCount(), 2U);
  calls_->calls[1]->events->onWriteDone(true);
  EXPECT_THAT(writesPerCall(), ElementsAre(3, 2)) << "it stays where it went";
}

// BQW-059: all overwhelmed, its own full, another not: it does not wait.
TEST_F(AppendPoolGrowthTest, LeavesAFullConnectionForOneWithRoom) {
  start(tenRequests(), 2, 2);
  const AppenderId first = open("a");
  const AppenderId second = open("b");
  EXPECT_TRUE(append(first));
  EXPECT_TRUE(append(second));
  for (uint64_t token = 2; token <= 19; ++token) EXPECT_TRUE(append(first, token)) << token;
  EXPECT_FALSE(append(first, 20));
}

// BQW-059: a stream that takes rows more slowly than they come is worth leaving, long before a
// fifth of the limits is reached.
TEST_F(AppendPoolGrowthTest, LeavesAStreamThatTakesRowsSlowly) {
  start({}, 1, 2);
  const AppenderId appender = open("a");
  EXPECT_TRUE(append(appender, 1));
  EXPECT_TRUE(append(appender, 2));
  clock_.advance(kSlowStream + milliseconds(1));
  EXPECT_TRUE(append(appender, 3));
  EXPECT_EQ(calls_->calls.size(), 1U) << "not connected yet: another would not be either";
  calls_->last().events->onWriteDone(true);
  calls_->last().acknowledge();
  clock_.advance(kSlowStream + milliseconds(1));
  EXPECT_TRUE(append(appender, 4));
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-059: it is closed only when no open appender has ever used it.
TEST_F(AppendPoolGrowthTest, KeepsAConnectionWhoseTableHasMovedOn) {
  start(tenRequests(), 1, 2);
  const AppenderId appender = open("a");
  for (uint64_t token = 1; token <= 4; ++token) EXPECT_TRUE(append(appender, token));
  for (const auto& call : calls_->calls) settle(*call);
  EXPECT_EQ(pool_->connectionCount(), 2U);
  pool_->closeAppender(appender);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  for (const auto& call : calls_->calls) EXPECT_TRUE(call->cancelled);
}

// BQW-057, BQW-059: a dead connection leaves the pool at once, not only when its tables close.
TEST_F(AppendPoolGrowthTest, ADeadConnectionMakesPlaceForANewOne) {
  start(tenRequests(), 1, 1);
  const AppenderId first = open("a");
  EXPECT_TRUE(append(first));
  EXPECT_TRUE(append(open("b")));
  calls_->last().end(absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(pool_->connectionCount(), 0U);
  EXPECT_EQ(client_->done.size(), 2U);
  EXPECT_TRUE(append(first, 2));
  EXPECT_EQ(pool_->connectionCount(), 1U);
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-053: the rows that wait to be written stay few, however many connections there are.
TEST_F(AppendPoolGrowthTest, SharesWhatMayWaitAmongTheConnections) {
  start({}, 2, 2);
  const AppenderId first = open("a");
  EXPECT_TRUE(append(open("b")));
  const std::string row(kMaxWaitingBytes / 4 - 100, 'x');
  EXPECT_TRUE(append(first, 1, row)) << "is being written";
  for (uint64_t token = 2; token <= 3; ++token) EXPECT_TRUE(append(first, token, row));
  EXPECT_FALSE(append(first, 4, row)) << "half of it is the other's";
}

// BQW-053: patience begins anew whenever anything in the location moves, and when a connection
// ends.
TEST_F(AppendPoolGrowthTest, ProgressAnywhereInTheLocationCounts) {
  start(tenRequests(), 2, 2);
  const AppenderId first = open("a");
  const AppenderId second = open("b");
  EXPECT_TRUE(append(first));
  EXPECT_TRUE(append(second));
  clock_.advance(std::chrono::seconds(100));
  settle(*calls_->calls[1]);
  EXPECT_EQ(pool_->lastProgress(first), clock_.now());
  clock_.advance(std::chrono::seconds(100));
  calls_->calls[0]->end(absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(pool_->lastProgress(first), clock_.now());
}

// BQW-058: the first sink's limits count, a later one is told so, once, and goes on.
TEST_F(AppendPoolGrowthTest, WarnsOnceOfOptionsThatCannotCount) {
  const LoggedWarnings logged;
  start(tenRequests(), 2, 4);
  EXPECT_TRUE(append(open("a")));
  PoolOptions other = options_;
  other.connection.maxInflightRequests = 50;
  other.connection.retryMaxDelay = milliseconds(1500);
  other.process.maxConnections = 8;
  for (int sink = 0; sink < 2; ++sink) {
    writer_ = pool_->addWriter(client_, other);
    EXPECT_TRUE(append(open("b")));
  }
  EXPECT_THAT(logged.messages,
              ElementsAre(AllOf(HasSubstr("sink.max-connections-per-region = 8"),
                                HasSubstr("4 stays"), HasSubstr("the process")),
                          AllOf(HasSubstr("sink.max-inflight-requests = 50"), HasSubstr("10 stays"),
                                HasSubstr("the connections to us")),
                          AllOf(HasSubstr("sink.retry-max-delay"), HasSubstr("1500 ms"),
                                HasSubstr("30 s stays"))));
}

// BQW-058: pools of other credentials share floor and ceiling, each has its own connections.
TEST_F(AppendPoolGrowthTest, FloorAndCeilingCountForEveryPoolOfTheProcess) {
  const LoggedWarnings logged;
  start(tenRequests(), 1, 2);
  const auto otherCalls = std::make_shared<ScriptedCalls>();
  auto otherPool = AppendPool::create(otherCalls, clock_, base::seededRandom(1), bounds_);
  PoolOptions asks = options_;
  asks.process.minConnections = 2;
  writer_ = otherPool->addWriter(client_, asks);
  std::swap(pool_, otherPool);
  for (const char* table : {"a", "b"}) EXPECT_TRUE(append(open(table)));
  EXPECT_EQ(otherCalls->calls.size(), 1U) << "the first sink's floor";
  EXPECT_TRUE(calls_->calls.empty());
  EXPECT_THAT(logged.messages, ElementsAre(HasSubstr("sink.min-connections-per-region = 2")));
}

// BQW-058: when nobody is left, the next sink begins with what it asks for.
TEST_F(AppendPoolGrowthTest, OptionsEndWithTheLastWriter) {
  const LoggedWarnings logged;
  start(tenRequests(), 1, 1);
  EXPECT_TRUE(append(open("a")));
  pool_->removeWriter(writer_);
  options_.process.minConnections = options_.process.maxConnections = 3;
  options_.connection.maxInflightRequests = 1;
  writer_ = pool_->addWriter(client_, options_);
  const AppenderId appender = open("a");
  for (uint64_t token = 1; token <= 3; ++token) EXPECT_TRUE(append(appender, token));
  EXPECT_FALSE(append(appender, 4)) << "three connections, a request each";
  EXPECT_TRUE(logged.messages.empty());
}

// BQW-058
TEST(PoolOptions, AreThoseOfTheSink) {
  SinkOptions options;
  const PoolOptions defaults = poolOptions(options);
  EXPECT_EQ(defaults.connection, ConnectionLimits{});
  EXPECT_EQ(defaults.process, ProcessLimits{});
  options.defaultStreamOptions.maxInflightRequests = int64_t{1} << 40;
  options.defaultStreamOptions.maxConnectionsPerRegion = int64_t{1} << 40;
  options.maxBufferedBytes = 5;
  EXPECT_GT(poolOptions(options).connection.maxInflightRequests, 0) << "not wrapped around";
  EXPECT_GT(poolOptions(options).process.maxConnections, 0);
  EXPECT_EQ(poolOptions(options).process.maxBufferedBytes, 5);
}

}  // namespace
}  // namespace penstock::bigquery
