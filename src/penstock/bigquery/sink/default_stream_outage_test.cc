#include <gmock/gmock.h>

#include <functional>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

// How long a load waits for a service that is not there, with the defaults (BQW-061).
namespace penstock::bigquery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class DefaultStreamOutageTest : public WriterTest {
 protected:
  void SetUp() override { options_.location = "us"; }

  /// One row, and a service that treats every call as `serve` says. The time until the writer
  /// fails.
  base::Duration waitsFor(const std::function<void(ScriptedCalls::Call&)>& serve) {
    start();
    write("a");
    writer_->beginFlush(false);
    const base::MonotonicTime begin = clock_.now();
    size_t served = 0;
    while (clock_.now() - begin < hours(24)) {
      const connector::Progress progress = poll();
      if (progress.state == State::kFailed) {
        status_ = progress.status;
        break;
      }
      if (served == calls_->calls.size()) {
        clock_.advanceTo(std::max(progress.wakeAt, clock_.now() + std::chrono::milliseconds(1)));
      } else {
        serve(*calls_->calls[served++]);
      }
    }
    return clock_.now() - begin;
  }

  absl::Status status_;
};

// BQW-056, BQW-061: eleven times the watchdog's five minutes, and the waits between the attempts.
TEST_F(DefaultStreamOutageTest, ASilentServiceIsGivenUpAfterAboutFiftySixMinutes) {
  const base::Duration waited =
      waitsFor([](ScriptedCalls::Call& call) { call.events->onWriteDone(true); });
  EXPECT_GT(waited, minutes(55));
  EXPECT_LT(waited, minutes(57));
  EXPECT_THAT(base::describe(status_),
              AllOf(HasSubstr("p.d.t1"), HasSubstr("after 10 of 10 repair attempts"),
                    HasSubstr("nothing acknowledged is lost")));
  EXPECT_EQ(pool_->connectionCount(), 0U);
}

// BQW-055, BQW-061: each connection is reopened for maxRetryDuration and up to its last delay of 60
// s.
TEST_F(DefaultStreamOutageTest, AServiceThatRefusesIsGivenUpAfterAboutSixtyFourMinutes) {
  const base::Duration waited =
      waitsFor([](ScriptedCalls::Call& call) { call.end(absl::StatusCode::kUnavailable); });
  EXPECT_GT(waited, minutes(62));
  EXPECT_LT(waited, minutes(65));
  EXPECT_THAT(base::describe(status_),
              AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("after 10 of 10 repair attempts")));
}

// BQW-061: the options that make it shorter.
TEST_F(DefaultStreamOutageTest, FewerAttemptsAndAShorterRetryDurationEndItSooner) {
  options_.defaultStreamOptions.recoveryMaxAttempts = 2;
  options_.defaultStreamOptions.maxRetryDuration = seconds(10);
  const base::Duration waited =
      waitsFor([](ScriptedCalls::Call& call) { call.end(absl::StatusCode::kUnavailable); });
  EXPECT_GT(waited, seconds(30));
  EXPECT_LT(waited, seconds(60));
}

}  // namespace
}  // namespace penstock::bigquery
