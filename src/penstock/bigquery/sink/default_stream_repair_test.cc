#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// The recovery of one destination, under its section of the specification.
class DefaultStreamRepairTest : public WriterTest {
 protected:
  void SetUp() override {
    options_.location = "us";
    options_.defaultStreamOptions.retryMaxAttempts = 1;
    options_.defaultStreamOptions.maxAppendRequestBytes = 1;  // a request a row
  }
  /// Three requests are under way on the first call.
  void sendThree() {
    for (const char* row : {"a", "b", "c"}) write(row);
    writer_->beginFlush(false);
    ASSERT_EQ(written().size(), 3U);
  }
  /// The service refuses the table to whoever asks.
  void denyTable() { calls_->last().refuse(absl::StatusCode::kPermissionDenied); }
};

// BQW-070, BQW-072
TEST_F(DefaultStreamRepairTest, AwaitsTheSiblingsThenAppendsTheFailedInOrder) {
  start();
  const auto other = add("t2");
  sendThree();
  const auto stale = StorageErrorCode::kStreamFinalized;
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, stale);  // "a"
  EXPECT_EQ(written().size(), 3U) << "not repaired yet: siblings are unanswered";
  calls_->last().acknowledge();  // "b"
  EXPECT_EQ(written().size(), 3U);
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, stale);  // "c" joins
  poll();
  ASSERT_EQ(calls_->calls.size(), 2U) << "nobody else used the old connection";
  EXPECT_THAT(written(), ElementsAre(Rows{"a"})) << "one at a time";
  calls_->last().acknowledge();
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}, Rows{"c"}));
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(counter("appendRetries"), 2U);
  EXPECT_EQ(writer_->admit(other), Admission::kAccepted);
}

// BQW-070
TEST_F(DefaultStreamRepairTest, OtherDestinationsGoOnMeanwhile) {
  start();
  const auto other = add("t2");
  write("a");
  write("b");  // seals and sends "a"
  written();
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamNotFound);
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  EXPECT_EQ(writer_->admit(other), Admission::kAccepted);
}

// BQW-057, BQW-056
TEST_F(DefaultStreamRepairTest, AConnectionThatIsGivenUpIsRepairedWithOneRebuild) {
  start();
  sendThree();
  pass(minutes(5));  // nothing is answered: the watchdog
  EXPECT_TRUE(calls_->calls[0]->cancelled);
  ASSERT_EQ(calls_->calls.size(), 2U);
  for (const char* row : {"a", "b", "c"}) {
    EXPECT_EQ(written().back(), Rows{row});
    calls_->last().acknowledge();
    poll();
  }
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(counter("appendRetries"), 3U);
  EXPECT_EQ(calls_->calls.size(), 2U);
}

// BQW-072, BQW-073, BASE-016: an outage is never routed, it fails the job.
TEST_F(DefaultStreamRepairTest, BacksOffBetweenAttemptsAndFailsWithTheStory) {
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  const base::MonotonicTime begin = clock_.now();
  connector::Progress progress = poll();
  for (int refusals = 0; progress.state != State::kFailed; ++refusals) {
    ASSERT_LT(refusals, 1000);
    if (calls_->last().writes.size() > 0 && gauge("inFlightBatches") > 0) {
      calls_->last().refuse(absl::StatusCode::kUnavailable);
      written();
    } else {
      clock_.advanceTo(poll().wakeAt);
    }
    progress = poll();
  }
  // 0.5+1+2+4+8+10+10+10+10 s, each within a quarter (BASE-036), 10 attempts (BASE-037).
  EXPECT_GT(clock_.now() - begin, seconds(55) * 3 / 4);
  EXPECT_LT(clock_.now() - begin, seconds(56) * 5 / 4);
  EXPECT_THAT(errorText(progress.status), HasSubstr("10 of 10 repair attempts"));
  EXPECT_THAT(errorText(progress.status), HasSubstr("p.d.t1"));
  EXPECT_EQ(counter("appendRetries"), 10U);
  EXPECT_TRUE(writer_->questions().empty());
  EXPECT_EQ(counter("numRecordsSendErrors"), 0U);
}

// BQW-071
TEST_F(DefaultStreamRepairTest, RowsBufferedMeanwhileSurviveAFailedOpen) {
  options_.location.reset();
  start();
  write("a");
  admin_->answerStream(absl::UnavailableError("down"));
  poll();
  admin_->answerStream(absl::UnavailableError("still down"));
  pass(seconds(2));
  admin_->answerLocation("us");
  poll();
  writer_->beginFlush(false);
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}));
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
}

// BQW-150, BQW-151, BQW-074
TEST_F(DefaultStreamRepairTest, AMissingTableIsCreatedOnceAndItsMaskingWaitedOut) {
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  denyTable();
  poll();
  ASSERT_EQ(admin_->created.size(), 1U);
  EXPECT_EQ(admin_->created[0].first.dotted(), "p.d.t1");
  EXPECT_EQ(admin_->created[0].second.columns[0].name, "c");
  admin_->answerCreation({});
  poll();
  for (int masked = 0; masked < 3; ++masked) {
    written();
    denyTable();
    pass(seconds(6));
  }
  written();
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(admin_->created.size(), 1U);
  EXPECT_EQ(counter("tablesCreated"), 1U);
}

// BQW-152
TEST_F(DefaultStreamRepairTest, SomeoneElsesCreationIsSuccess) {
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  denyTable();
  poll();
  admin_->answerCreation({absl::AlreadyExistsError("duplicate"), 409, "duplicate"});
  poll();
  EXPECT_THAT(written(), ElementsAre(Rows{"a"}));
  EXPECT_EQ(counter("tablesCreated"), 1U);
}

// BQW-152, BQW-153
TEST_F(DefaultStreamRepairTest, CreationIsRepeatedForPassingErrorsOnly) {
  const std::vector<AdminError> passing = {
      {absl::UnavailableError("x"), 503, ""},
      {absl::UnavailableError("x"), 0, ""},
      {absl::ResourceExhaustedError("x"), 429, ""},
      {absl::PermissionDeniedError("x"), 403, "rateLimitExceeded"},
      {absl::InternalError("x"), 500, ""},
      {absl::UnavailableError("x"), 502, ""},
      {absl::DeadlineExceededError("x"), 504, ""},
  };
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  denyTable();
  poll();
  for (const AdminError& error : passing) {
    ASSERT_EQ(admin_->creations.size(), 1U) << error.httpCode;
    admin_->answerCreation(error);
    pass(seconds(13));
  }
  ASSERT_EQ(admin_->creations.size(), 1U);
  admin_->answerCreation({absl::PermissionDeniedError("spent"), 403, "quotaExceeded"});
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(errorText(poll().status), HasSubstr("spent"));
  EXPECT_THAT(errorText(poll().status), HasSubstr("PERMISSION_DENIED: scripted"))
      << "and the verdict that began it";
}

// BQW-154
TEST_F(DefaultStreamRepairTest, CreateNeverFailsAtOnceAndIsNamedOnlyWhenTheTableIsMissing) {
  options_.createDisposition = CreateDisposition::kCreateNever;
  start();
  write("a");
  writer_->beginFlush(false);
  written();
  denyTable();
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_TRUE(admin_->created.empty());
  EXPECT_THAT(errorText(poll().status), testing::Not(HasSubstr("CREATE_NEVER")));
  EXPECT_THAT(errorText(poll().status), HasSubstr("may not exist or may not be writable"));

  start();
  write("a");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(absl::StatusCode::kNotFound);
  EXPECT_THAT(errorText(poll().status), HasSubstr("CREATE_NEVER"));
}

// BQW-053
TEST_F(DefaultStreamRepairTest, WaitsForRoomFiveMinutesFromTheLastAnswer) {
  options_.defaultStreamOptions.maxInflightRequests = 1;
  start();
  write("a");
  write("b");
  write("c");  // "b" has no room now
  written();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  pass(minutes(4));
  calls_->last().refuse(absl::StatusCode::kUnavailable);  // an answer: patience starts anew
  written();
  pass(minutes(5) - milliseconds(10));
  EXPECT_EQ(counter("errorClass.DEADLINE_EXCEEDED.errors"), 0U);
  pass(milliseconds(20));
  EXPECT_GT(counter("errorClass.DEADLINE_EXCEEDED.errors"), 0U);
}

}  // namespace
}  // namespace penstock::bigquery
