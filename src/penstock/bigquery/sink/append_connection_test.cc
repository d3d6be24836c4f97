#include "penstock/bigquery/sink/append_connection.h"

#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <gtest/gtest.h>

#include "penstock/base/testing/manual_clock.h"

namespace penstock::bigquery {
namespace {

using Kind = AppendConnection::Action::Kind;
using OutcomeKind = AppendOutcome::Kind;
using State = AppendConnection::State;
using google::cloud::bigquery::storage::v1::AppendRowsRequest;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// Always the same number, so that delays are exact: 0.999... gives the bound itself.
class FixedRandom final : public base::Random {
 public:
  uint64_t next() override { return ~uint64_t{0}; }
};

std::shared_ptr<const StreamTarget> target(const std::string& stream) {
  auto result = std::make_shared<StreamTarget>();
  result->stream = stream;
  result->descriptor = "descriptor of " + stream;
  return result;
}

class AppendConnectionTest : public testing::Test {
 protected:
  AppendConnection make(const ConnectionLimits& limits = {}, bool multiplexed = true) {
    return {limits, multiplexed, "penstock:test", random_};
  }

  AppendRequest request(uint64_t token, std::shared_ptr<const StreamTarget> to = nullptr,
                        const std::string& row = "row") {
    auto rows = std::make_shared<connector::RowBatch>();
    rows->appendRow(row);
    AppendRequest result;
    result.writer = 1;
    result.token = AppendToken{token};
    result.target = to ? std::move(to) : target_;
    result.rows = std::move(rows);
    return result;
  }

  /// Takes the request and lets its write finish.
  void send(AppendConnection& connection, AppendRequest request) {
    connection.append(std::move(request), clock_.now(), actions_);
    connection.onWriteDone(true, clock_.now(), actions_);
  }
  void answer(AppendConnection& connection, absl::StatusCode code = absl::StatusCode::kOk) {
    AppendResponse response;
    response.status = absl::Status(code, code == absl::StatusCode::kOk ? "" : "scripted");
    connection.onMessage(std::move(response), clock_.now(), actions_);
  }
  void end(AppendConnection& connection, absl::StatusCode code, const char* text = "scripted") {
    connection.onDone(absl::Status(code, text), StorageErrorCode::kNone, clock_.now(), actions_);
  }
  void pass(AppendConnection& connection, base::Duration time) {
    clock_.advance(time);
    connection.advance(clock_.now(), actions_);
  }

  std::vector<AppendConnection::Action> take(Kind kind) {
    std::vector<AppendConnection::Action> taken;
    for (auto& action : actions_) {
      if (action.kind == kind) taken.push_back(std::move(action));
    }
    actions_.clear();
    return taken;
  }
  static AppendRowsRequest decode(const AppendConnection::Action& write) {
    std::string bytes = write.bytes.header;
    for (const auto& slice : write.bytes.rows->slices()) bytes.append(slice.data, slice.size);
    AppendRowsRequest result;
    // The descriptor here is any text, not a DescriptorProto; its bytes are compared instead.
    (void)result.ParseFromString(bytes);
    return result;
  }

  base::ManualClock clock_;
  FixedRandom random_;
  std::shared_ptr<const StreamTarget> target_ = target("a");
  AppendConnection::Actions actions_;
};

// BQW-050
TEST_F(AppendConnectionTest, MatchesAnswersFirstInFirstOut) {
  AppendConnection connection = make();
  send(connection, request(1));
  send(connection, request(2));
  answer(connection);
  answer(connection);
  const auto done = take(Kind::kComplete);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].request.token, AppendToken{1});
  EXPECT_EQ(done[1].request.token, AppendToken{2});
  EXPECT_EQ(connection.inflightRequests(), 0U);
  EXPECT_EQ(connection.inflightBytes(), 0U);
}

// BQW-050
TEST_F(AppendConnectionTest, DiesOfAnAnswerToNothing) {
  AppendConnection connection = make();
  send(connection, request(1));
  answer(connection);
  actions_.clear();
  answer(connection);
  EXPECT_EQ(take(Kind::kCancelCall).size(), 1U);
  EXPECT_EQ(connection.state(), State::kFinal);
}

TEST_F(AppendConnectionTest, SendsOneWriteAtATime) {
  AppendConnection connection = make();
  connection.append(request(1), clock_.now(), actions_);
  connection.append(request(2), clock_.now(), actions_);
  EXPECT_EQ(take(Kind::kWrite).size(), 1U);
  connection.onWriteDone(true, clock_.now(), actions_);
  EXPECT_EQ(take(Kind::kWrite).size(), 1U);
}

// BQW-051
TEST_F(AppendConnectionTest, MultiplexedRequestsNameTheirStreamAndResendAChangedSchema) {
  AppendConnection connection = make();
  const auto other = target("b");
  for (auto to : {target_, target_, other, target_}) send(connection, request(1, to));
  const auto writes = take(Kind::kWrite);
  ASSERT_EQ(writes.size(), 4U);
  const auto has = [&](size_t write, const std::string& text) {
    return writes[write].bytes.header.find(text) != std::string::npos;
  };
  EXPECT_TRUE(has(0, "descriptor of a") && has(0, "penstock:test"));
  EXPECT_FALSE(has(1, "descriptor of") || has(1, "penstock:test"));
  EXPECT_TRUE(has(2, "descriptor of b"));
  EXPECT_TRUE(has(3, "descriptor of a"));
  for (size_t i = 0; i < writes.size(); ++i) {
    EXPECT_EQ(decode(writes[i]).write_stream(), i == 2 ? "b" : "a");
  }
}

// BQW-051
TEST_F(AppendConnectionTest, DedicatedRequestsOmitStreamAndSchemaAfterTheFirst) {
  AppendConnection connection = make({}, /*multiplexed=*/false);
  send(connection, request(1));
  send(connection, request(2));
  const auto writes = take(Kind::kWrite);
  EXPECT_EQ(decode(writes[0]).write_stream(), "a");
  EXPECT_EQ(decode(writes[1]).write_stream(), "");
  EXPECT_EQ(writes[1].bytes.header.find("descriptor"), std::string::npos);
}

// BQW-051, BQW-054
TEST_F(AppendConnectionTest, SendsTheSchemaAgainWhenTheRequestThatCarriedItWasRefused) {
  for (const bool multiplexed : {true, false}) {
    AppendConnection connection = make({}, multiplexed);
    send(connection, request(1));
    actions_.clear();
    answer(connection, absl::StatusCode::kUnavailable);
    const auto resent = take(Kind::kWrite);
    ASSERT_EQ(resent.size(), 1U);
    EXPECT_NE(resent[0].bytes.header.find("descriptor of a"), std::string::npos);
    EXPECT_EQ(decode(resent[0]).write_stream(), "a");
  }
}

// BQW-053
TEST_F(AppendConnectionTest, BoundsWhatIsInFlight) {
  ConnectionLimits limits;
  limits.maxInflightRequests = 2;
  limits.maxInflightBytes = 10;
  AppendConnection connection = make(limits);
  EXPECT_TRUE(connection.hasRoomFor(1000)) << "an oversized request fits an idle connection";
  send(connection, request(1));  // 5 framed bytes
  EXPECT_TRUE(connection.hasRoomFor(5));
  EXPECT_FALSE(connection.hasRoomFor(6));
  send(connection, request(2));
  EXPECT_FALSE(connection.hasRoomFor(0));
  answer(connection);
  EXPECT_TRUE(connection.hasRoomFor(5));
}

// BQW-054
TEST_F(AppendConnectionTest, ResendsPassingErrorsInTheStream) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kAborted, absl::StatusCode::kUnavailable, absl::StatusCode::kCancelled,
        absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kUnknown}) {
    AppendConnection connection = make();
    send(connection, request(1));
    for (int resend = 1; resend <= 5; ++resend) {
      actions_.clear();
      answer(connection, code);
      ASSERT_EQ(take(Kind::kWrite).size(), 1U) << base::codeName(code) << " resend " << resend;
      connection.onWriteDone(true, clock_.now(), actions_);
    }
    actions_.clear();
    answer(connection, code);
    const auto done = take(Kind::kComplete);
    ASSERT_EQ(done.size(), 1U) << "retryMaxAttempts resends, then the error";
    EXPECT_EQ(done[0].outcome.kind, OutcomeKind::kAnswered);
    EXPECT_EQ(done[0].outcome.response.status.code(), code);
  }
}

// BQW-054
TEST_F(AppendConnectionTest, WaitsBeforeResendingOnlyWhereAQuotaIsSpentOrTheServiceBroken) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kResourceExhausted, absl::StatusCode::kInternal}) {
    ConnectionLimits limits;
    limits.retryMaxDelay = seconds(3);
    AppendConnection connection = make(limits);
    send(connection, request(1));
    for (const base::Duration wait : {base::Duration(milliseconds(500)), base::Duration(seconds(1)),
                                      base::Duration(seconds(2)), base::Duration(seconds(3))}) {
      actions_.clear();
      answer(connection, code);
      EXPECT_TRUE(take(Kind::kWrite).empty());
      EXPECT_LE(connection.nextTimer() - clock_.now(), wait);
      EXPECT_GT(connection.nextTimer() - clock_.now(), wait - milliseconds(1));
      pass(connection, wait - milliseconds(2));
      EXPECT_TRUE(take(Kind::kWrite).empty());
      pass(connection, milliseconds(2));
      EXPECT_EQ(take(Kind::kWrite).size(), 1U);
      connection.onWriteDone(true, clock_.now(), actions_);
    }
  }
}

// BQW-054
TEST_F(AppendConnectionTest, ALongestDelayOfZeroMeansNoDelay) {
  ConnectionLimits limits;
  limits.retryMaxDelay = base::Duration::zero();
  AppendConnection connection = make(limits);
  send(connection, request(1));
  actions_.clear();
  answer(connection, absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(take(Kind::kWrite).size(), 1U);
}

// BQW-055, BQW-031
TEST_F(AppendConnectionTest, ReconnectsAndResendsWhatWasUnansweredFirst) {
  AppendConnection connection = make();
  send(connection, request(1, nullptr, "one"));
  send(connection, request(2, nullptr, "two"));
  connection.append(request(3, nullptr, "three"), clock_.now(), actions_);
  connection.append(request(4, nullptr, "four"), clock_.now(), actions_);  // not yet written
  end(connection, absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection.state(), State::kBackoff);
  actions_.clear();
  pass(connection, milliseconds(49));
  EXPECT_TRUE(actions_.empty());
  pass(connection, milliseconds(1));
  EXPECT_EQ(actions_.front().kind, Kind::kStartCall);
  std::vector<std::string> rows;
  for (int i = 0; i < 4; ++i) {
    for (const auto& write : take(Kind::kWrite)) {
      rows.emplace_back(write.bytes.rows->row(0));
      if (i == 0) {
        EXPECT_NE(write.bytes.header.find("descriptor of a"), std::string::npos)
            << "the new call has not seen the schema";
      }
    }
    connection.onWriteDone(true, clock_.now(), actions_);
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"one", "two", "three", "four"}));
}

// BQW-055
TEST_F(AppendConnectionTest, DoublesTheReconnectDelayUpToAMinuteAndAnyAnswerResetsIt) {
  ConnectionLimits limits;
  limits.maxRetryDuration = base::Duration::zero();  // no limit
  AppendConnection connection = make(limits);
  send(connection, request(1));
  send(connection, request(2));
  std::vector<int64_t> delays;
  for (int i = 0; i < 13; ++i) {
    end(connection, absl::StatusCode::kUnavailable);
    const base::Duration delay = connection.nextTimer() - clock_.now();
    delays.push_back(delay / milliseconds(1));
    pass(connection, delay);
  }
  EXPECT_EQ(delays, (std::vector<int64_t>{50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600,
                                          51200, 60000, 60000}));
  answer(connection);
  end(connection, absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection.nextTimer() - clock_.now(), milliseconds(50));
}

// BQW-055, BQW-057
TEST_F(AppendConnectionTest, GivesUpReconnectingAfterMaxRetryDuration) {
  ConnectionLimits limits;
  limits.maxRetryDuration = seconds(10);
  AppendConnection connection = make(limits);
  send(connection, request(1));
  send(connection, request(2));
  const base::MonotonicTime start = clock_.now();
  while (connection.state() != State::kFinal) {
    end(connection, absl::StatusCode::kUnavailable);
    if (connection.state() == State::kBackoff)
      pass(connection, connection.nextTimer() - clock_.now());
    ASSERT_LT(clock_.now() - start, seconds(30));
  }
  EXPECT_GT(clock_.now() - start, seconds(10));
  const auto done = take(Kind::kComplete);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].outcome.kind, OutcomeKind::kCallFailed);
  EXPECT_EQ(done[0].outcome.response.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(done[1].outcome.kind, OutcomeKind::kClosedWriter);
}

// BQW-055, BQW-057
TEST_F(AppendConnectionTest, OtherEndsAreFinal) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kResourceExhausted, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kInvalidArgument, absl::StatusCode::kNotFound}) {
    AppendConnection connection = make();
    send(connection, request(1));
    send(connection, request(2));
    actions_.clear();
    end(connection, code);
    EXPECT_EQ(connection.state(), State::kFinal) << base::codeName(code);
    const auto done = take(Kind::kComplete);
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(done[0].outcome.response.status.code(), code);
    EXPECT_EQ(done[0].outcome.kind, OutcomeKind::kCallFailed);
    EXPECT_EQ(done[1].outcome.kind, OutcomeKind::kClosedWriter);
    EXPECT_EQ(connection.inflightBytes(), 0U);
  }
}

// BQW-055
TEST_F(AppendConnectionTest, AnIdleCloseReconnectsForFree) {
  AppendConnection connection = make();
  send(connection, request(1));
  actions_.clear();
  end(connection, absl::StatusCode::kAborted, "the stream has been inactive for too long");
  EXPECT_EQ(connection.state(), State::kOpen);
  EXPECT_EQ(actions_.front().kind, Kind::kStartCall);

  AppendConnection quiet = make();
  send(quiet, request(1));
  answer(quiet);
  actions_.clear();
  end(quiet, absl::StatusCode::kUnavailable);
  EXPECT_EQ(quiet.state(), State::kIdle) << "nothing outstanding: the next append reconnects";
  EXPECT_TRUE(actions_.empty());
  quiet.append(request(2), clock_.now(), actions_);
  EXPECT_EQ(actions_.front().kind, Kind::kStartCall);
}

// BQW-056
TEST_F(AppendConnectionTest, SilenceForFiveMinutesClosesTheWriter) {
  AppendConnection connection = make();
  send(connection, request(1));
  clock_.advance(minutes(1));
  send(connection, request(2));
  actions_.clear();
  pass(connection, minutes(4) - milliseconds(1));
  EXPECT_TRUE(actions_.empty()) << "no shorter time-out: a slow append would become a duplicate";
  pass(connection, milliseconds(1));
  EXPECT_EQ(actions_.front().kind, Kind::kCancelCall);
  const auto done = take(Kind::kComplete);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].outcome.kind, OutcomeKind::kClosedWriter);
  EXPECT_EQ(done[1].outcome.kind, OutcomeKind::kClosedWriter);
}

TEST_F(AppendConnectionTest, AForgottenWritersRequestsAreNeitherReportedNorSentAgain) {
  AppendConnection connection = make();
  send(connection, request(1));
  AppendRequest others = request(2, nullptr, "other");
  others.writer = 2;
  send(connection, std::move(others));
  connection.forgetWriter(1);
  EXPECT_EQ(connection.awaitedRequests(), 1U);
  actions_.clear();
  end(connection, absl::StatusCode::kUnavailable);
  pass(connection, milliseconds(50));
  const auto writes = take(Kind::kWrite);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].bytes.rows->row(0), "other");
  EXPECT_EQ(connection.inflightRequests(), 1U);
}

TEST_F(AppendConnectionTest, TellsWhatItIsWaitingFor) {
  AppendConnection connection = make();
  EXPECT_EQ(connection.statistics(clock_.now()).state, "idle");
  send(connection, request(1));
  pass(connection, seconds(3));
  answer(connection);
  send(connection, request(2));
  connection.append(request(3), clock_.now(), actions_);
  connection.append(request(4), clock_.now(), actions_);
  pass(connection, seconds(2));
  ConnectionStatistics statistics = connection.statistics(clock_.now());
  EXPECT_EQ(statistics.state, "open");
  EXPECT_EQ(statistics.answers, 1U);
  EXPECT_EQ(statistics.latency.longest(), seconds(3));
  EXPECT_EQ(statistics.inflightRequests, 3U);
  EXPECT_EQ(statistics.waitingRequests, 1U) << "one write at a time";
  EXPECT_EQ(statistics.oldestSent, seconds(2));
  EXPECT_EQ(statistics.sinceProgress, seconds(2));
  EXPECT_EQ(statistics.reconnects, 0U);
  answer(connection, absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection.statistics(clock_.now()).resends, 1U);
  end(connection, absl::StatusCode::kUnavailable, "gone");
  statistics = connection.statistics(clock_.now());
  EXPECT_EQ(statistics.state, "backoff");
  EXPECT_EQ(statistics.lastEnd, "UNAVAILABLE: gone");
  EXPECT_FALSE(statistics.oldestSent.has_value());
  pass(connection, seconds(1));
  EXPECT_EQ(connection.statistics(clock_.now()).reconnects, 1U);
}

}  // namespace
}  // namespace penstock::bigquery
