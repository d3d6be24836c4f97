#include <gmock/gmock.h>
#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/sink/append_connection.h"

namespace penstock::bigquery {
namespace {

using absl::StatusCode;
using google::cloud::bigquery::storage::v1::AppendRowsRequest;
using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = AppendConnection::Action::Kind;

/// A connection of one stream, whose requests have offsets: a row each.
class AppendOffsetsTest : public testing::Test {
 protected:
  AppendOffsetsTest() {
    auto target = std::make_shared<StreamTarget>();
    target->stream = "projects/p/datasets/d/tables/t/streams/s";
    target->descriptor = "\x0A\x03Row";
    target_ = std::move(target);
  }

  void send(int64_t offset) {
    auto rows = std::make_shared<connector::RowBatch>();
    rows->appendRow("row");
    connection_.append({1, AppendToken{static_cast<uint64_t>(offset)}, target_, rows, offset},
                       clock_.now(), actions_);
    writesLeave();
  }
  /// Every write leaves at once, as far as the connection has more.
  void writesLeave() {
    for (size_t seen = 0; seen != actions_.size();) {
      seen = actions_.size();
      connection_.onWriteDone(true, clock_.now(), actions_);
    }
  }
  void answer(StatusCode code = StatusCode::kOk) {
    AppendResponse response;
    if (code != StatusCode::kOk) response.status = absl::Status(code, "scripted");
    connection_.onMessage(std::move(response), clock_.now(), actions_);
    writesLeave();
  }
  void end(StatusCode code) {
    connection_.onDone(absl::Status(code, "scripted"), StorageErrorCode::kNone, clock_.now(),
                       actions_);
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    connection_.advance(clock_.now(), actions_);
    writesLeave();
  }
  static AppendRowsRequest decode(const AppendConnection::Action& write) {
    std::string bytes = write.bytes.header;
    for (const auto& slice : write.bytes.rows->slices()) bytes.append(slice.data, slice.size);
    AppendRowsRequest result;
    EXPECT_TRUE(result.ParseFromString(bytes));
    return result;
  }
  /// The offsets that were written since the last look, and the outcomes that came.
  std::vector<int64_t> written() {
    std::vector<int64_t> offsets;
    for (const auto& action : actions_) {
      if (action.kind == Kind::kWrite) offsets.push_back(decode(action).offset().value());
      if (action.kind == Kind::kComplete) done_.push_back(action);
    }
    actions_.clear();
    return offsets;
  }
  std::vector<uint64_t> done() {
    written();
    std::vector<uint64_t> tokens;
    for (const auto& action : done_) tokens.push_back(static_cast<uint64_t>(action.request.token));
    return tokens;
  }

  base::ManualClock clock_;
  std::unique_ptr<base::Random> random_ = base::seededRandom(1);
  ConnectionLimits limits_;
  AppendConnection connection_{limits_, /*multiplexed=*/false, "penstock:test", *random_};
  AppendConnection::Actions actions_;
  std::vector<AppendConnection::Action> done_;
  std::shared_ptr<const StreamTarget> target_;
};

// BQW-101, BQW-051
TEST_F(AppendOffsetsTest, EachRequestSaysItsOffsetAndOnlyTheFirstTheStream) {
  send(0);
  send(1);
  send(int64_t{1} << 40);
  std::vector<AppendRowsRequest> requests;
  for (const auto& action : actions_) {
    if (action.kind == Kind::kWrite) requests.push_back(decode(action));
  }
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0].has_offset()) << "0 is an offset";
  EXPECT_EQ(requests[0].offset().value(), 0);
  EXPECT_EQ(requests[0].write_stream(), target_->stream);
  EXPECT_TRUE(requests[0].proto_rows().has_writer_schema());
  EXPECT_EQ(requests[1].offset().value(), 1);
  EXPECT_EQ(requests[1].write_stream(), "");
  EXPECT_FALSE(requests[1].proto_rows().has_writer_schema());
  EXPECT_EQ(requests[2].offset().value(), int64_t{1} << 40);
}

// BQW-054
TEST_F(AppendOffsetsTest, SendsEverythingBehindAPassingErrorAgainAndIgnoresItsStaleAnswers) {
  for (int64_t offset = 0; offset < 4; ++offset) send(offset);
  EXPECT_THAT(written(), ElementsAre(0, 1, 2, 3));
  answer();
  answer(StatusCode::kUnavailable);  // 1
  EXPECT_THAT(written(), ElementsAre(1, 2, 3));
  answer(StatusCode::kOutOfRange);  // 2 and 3, as they were sent first
  answer(StatusCode::kOutOfRange);
  EXPECT_THAT(done(), ElementsAre(0)) << "whoever sent 2 and 3 hears nothing of it";
  for (int i = 0; i < 3; ++i) answer();
  EXPECT_THAT(done(), ElementsAre(0, 1, 2, 3));
  for (const auto& action : done_) EXPECT_TRUE(action.outcome.response.status.ok());
  EXPECT_EQ(done_[0].outcome.transmissions, 1);
  EXPECT_EQ(done_[3].outcome.transmissions, 2) << "BQW-102";
  EXPECT_EQ(connection_.inflightRequests(), 0U);
  EXPECT_EQ(connection_.inflightBytes(), 0U);
}

// BQW-054: again while the first round's answers are still to come.
TEST_F(AppendOffsetsTest, TwoRoundsOfStaleAnswersAreToldApart) {
  for (int64_t offset = 0; offset < 3; ++offset) send(offset);
  answer(StatusCode::kAborted);     // 0
  answer(StatusCode::kOutOfRange);  // 1, stale
  answer(StatusCode::kOutOfRange);  // 2, stale
  answer(StatusCode::kAborted);     // 0, again
  answer(StatusCode::kOutOfRange);  // 1 and 2, stale again
  answer(StatusCode::kOutOfRange);
  EXPECT_THAT(done(), IsEmpty());
  for (int i = 0; i < 3; ++i) answer();
  EXPECT_THAT(done(), ElementsAre(0, 1, 2));
  for (const auto& action : done_) EXPECT_EQ(action.outcome.transmissions, 3);
}

// BQW-054: a spent quota is waited out, and nothing overtakes the one that waits.
TEST_F(AppendOffsetsTest, NothingIsWrittenWhileTheFirstWaits) {
  send(0);
  send(1);
  written();
  answer(StatusCode::kResourceExhausted);
  send(2);
  EXPECT_THAT(written(), IsEmpty());
  answer(StatusCode::kOutOfRange);  // 1, stale
  EXPECT_THAT(written(), IsEmpty());
  const base::MonotonicTime due = connection_.nextTimer();
  EXPECT_GT(due, clock_.now());
  EXPECT_LE(due, clock_.now() + milliseconds(500));
  pass(due - clock_.now());
  EXPECT_THAT(written(), ElementsAre(0, 1, 2));
}

// BQW-054: INTERNAL waits on default streams only.
TEST_F(AppendOffsetsTest, AnInternalErrorIsSentAgainAtOnce) {
  send(0);
  written();
  answer(StatusCode::kInternal);
  EXPECT_THAT(written(), ElementsAre(0));
}

// BQW-054: after the last resend those behind get the answers that they were given.
TEST_F(AppendOffsetsTest, WhatTheServiceSaysAfterTheLastResendIsTold) {
  send(0);
  send(1);
  for (int resend = 0; resend < limits_.retryMaxAttempts; ++resend) {
    answer(StatusCode::kUnavailable);
    answer(StatusCode::kOutOfRange);
  }
  EXPECT_THAT(done(), IsEmpty());
  answer(StatusCode::kUnavailable);
  answer(StatusCode::kOutOfRange);
  EXPECT_THAT(done(), ElementsAre(0, 1));
  EXPECT_EQ(done_[0].outcome.response.status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(done_[1].outcome.response.status.code(), StatusCode::kOutOfRange);
}

// BQW-055
TEST_F(AppendOffsetsTest, AReconnectionSendsEachUnansweredRequestOnceInOrder) {
  for (int64_t offset = 0; offset < 3; ++offset) send(offset);
  answer(StatusCode::kAborted);  // 0: all three are under way a second time
  written();
  end(StatusCode::kUnavailable);
  pass(milliseconds(50));
  EXPECT_THAT(written(), ElementsAre(0, 1, 2)) << "no stale one among them";
  for (int i = 0; i < 3; ++i) answer();
  EXPECT_THAT(done(), ElementsAre(0, 1, 2));
  EXPECT_EQ(connection_.inflightRequests(), 0U);
}

// BQW-056: also of a request that only waits for an answer nobody is interested in.
TEST_F(AppendOffsetsTest, SilenceEndsTheConnection) {
  send(0);
  send(1);
  answer(StatusCode::kUnavailable);
  pass(minutes(5));
  EXPECT_THAT(done(), ElementsAre(0, 1));
  for (const auto& action : done_) {
    EXPECT_EQ(action.outcome.kind, AppendOutcome::Kind::kClosedWriter);
    EXPECT_EQ(action.outcome.transmissions, 2);
  }
}

}  // namespace
}  // namespace penstock::bigquery
