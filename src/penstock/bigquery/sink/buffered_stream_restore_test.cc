#include <gmock/gmock.h>

#include "penstock/base/log.h"
#include "penstock/bigquery/sink/testing/buffered_writer_fixture.h"

namespace penstock::bigquery {
namespace {

using absl::StatusCode;
using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What a writer makes of the state of an earlier one (BQW-130 to 133).
class BufferedStreamRestoreTest : public BufferedWriterTest {
 protected:
  const std::string old_ = tableNamed("t1").resource() + "/streams/old";
  const std::string new_ = streamOf("t1", 1);

  [[nodiscard]] BufferedStreamState aState(const std::string& table, const std::string& stream,
                                           int64_t nextOffset,
                                           connector::CheckpointId checkpoint = 5) const {
    return {tableNamed(table), tableNamed(table).resource() + "/streams/" + stream, nextOffset,
            checkpoint, nextOffset};
  }
  void restore(const std::vector<BufferedStreamState>& states) {
    States bytes;
    for (const BufferedStreamState& state : states) bytes.push_back(encodeState(state));
    start(bytes);
  }
  void restoreOld(int64_t nextOffset = 10) { restore({aState("t1", "old", nextOffset)}); }
};

// BQW-131, BQW-132: the first batch goes alone, at the restored offset; the others once it is
// known.
TEST_F(BufferedStreamRestoreTest, AdoptsTheStreamIfTheFirstBatchLands) {
  restoreOld();
  sendEach({"a"});
  writer_->beginFlush(false);
  EXPECT_THAT(streams_->created, IsEmpty());
  EXPECT_THAT(requests(), ElementsAre(Request{old_, 10, {"a"}}));
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  acknowledge(10);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  sendEach({"b", "c"});
  EXPECT_THAT(requests(), ElementsAre(Request{old_, 10, {"a"}}, Request{old_, 11, {"b"}},
                                      Request{old_, 12, {"c"}}));
  acknowledge(11);
  acknowledge(12);
  flush();
  EXPECT_THAT(prepare(), ElementsAre(StreamCommittable{old_, 12, 3}));
  EXPECT_EQ(counter("numRecordsSend"), 3U);
  EXPECT_EQ(counter("appendRetries"), 0U);
}

// BQW-132, BQW-133, scenarios 32 and 37: rows of the run before lie behind the checkpoint.
TEST_F(BufferedStreamRestoreTest, AbandonsAStreamThatHasRowsThere) {
  restoreOld();
  sendEach({"a"});
  refuseAsThere();
  ASSERT_THAT(streams_->created, ElementsAre(tableNamed("t1")));
  EXPECT_TRUE(calls_->calls[0]->cancelled);
  streams_->answerCreation();
  poll();
  EXPECT_THAT(requests(), ElementsAre(Request{new_, 0, {"a"}})) << "from offset 0";
  acknowledge(0);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_THAT(prepare(), ElementsAre(StreamCommittable{new_, 0, 3}))
      << "nothing names the old stream's tail";
  const auto states = snapshot(6);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].stream, new_);
  EXPECT_EQ(counter("numRecordsSend"), 1U) << "the probe was the first hand-off";
  EXPECT_EQ(counter("appendRetries"), 1U);
  EXPECT_EQ(counter("errorClass.ALREADY_EXISTS.errors"), 0U);
}

// BQW-132, section 6, scenario 46
TEST_F(BufferedStreamRestoreTest, AbandonsAStreamThatIsNotAsItWasLeft) {
  const std::pair<StatusCode, StorageErrorCode> errors[] = {
      {StatusCode::kOutOfRange, StorageErrorCode::kOffsetOutOfRange},
      {StatusCode::kInvalidArgument, StorageErrorCode::kStreamFinalized},
      {StatusCode::kNotFound, StorageErrorCode::kStreamNotFound},
      {StatusCode::kInvalidArgument, StorageErrorCode::kInvalidStreamState}};
  for (const auto& [code, storage] : errors) {
    restoreOld();
    streams_->created.clear();
    sendEach({"a"});
    refuse(code, storage);
    EXPECT_EQ(streams_->created.size(), 1U) << base::codeName(code);
    streams_->answerCreation();
  }
}

// BQW-132: the call itself ends: the stream cannot be opened.
TEST_F(BufferedStreamRestoreTest, AbandonsAStreamThatCannotBeOpened) {
  for (const StatusCode code : {StatusCode::kNotFound, StatusCode::kPermissionDenied}) {
    restoreOld();
    streams_->created.clear();
    sendEach({"a"});
    call().end(code);
    poll();
    EXPECT_EQ(streams_->created.size(), 1U) << base::codeName(code);
    streams_->answerCreation();
  }
}

// BQW-132: a probe that was lost on its way may have landed, and then gives the stream up.
TEST_F(BufferedStreamRestoreTest, AProbeIsTriedAgainWhileThatPasses) {
  restoreOld();
  sendEach({"a"});
  for (int attempt = 0; attempt < 2; ++attempt) {
    refuse(StatusCode::kUnavailable);
    writesLeave();
    refuse(StatusCode::kUnavailable);
    passToTimer();
    writesLeave();
  }
  EXPECT_EQ(requests().back(), (Request{old_, 10, {"a"}}));
  refuseAsThere();
  EXPECT_EQ(streams_->created.size(), 1U);
  streams_->answerCreation();
  EXPECT_EQ(counter("errorClass.UNAVAILABLE.errors"), 2U);
}

// BQW-132
TEST_F(BufferedStreamRestoreTest, AProbeWhoseConnectionIsGivenUpGoesOnANewOne) {
  restoreOld();
  sendEach({"a"});
  clock_.advance(minutes(5));
  poll();
  passToTimer();
  ASSERT_EQ(calls_->calls.size(), 2U);
  EXPECT_THAT(requests(), ElementsAre(Request{old_, 10, {"a"}}));
  acknowledge(10);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_THAT(streams_->created, IsEmpty());
}

// BQW-132: terminal, and with the budget spent, too.
TEST_F(BufferedStreamRestoreTest, AProbeFailsTheJobOnWhatDoesNotPass) {
  restoreOld();
  sendEach({"a"});
  refuse(StatusCode::kUnauthenticated);
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(failure(), HasSubstr("the first since the restore"));

  restoreOld();
  sendEach({"a"});
  for (int attempt = 0; attempt < 200 && poll().state != State::kFailed; ++attempt) {
    if (gauge("inFlightAppends") > 0) {
      refuse(StatusCode::kUnavailable);
      writesLeave();
    } else {
      passToTimer();
    }
  }
  EXPECT_THAT(failure(), HasSubstr("after 10 of 10 attempts"));
}

// BQW-132: a refused row leaves the stream as it was.
TEST_F(BufferedStreamRestoreTest, ARefusedRowKeepsTheStream) {
  restoreOld();
  sendEach({"X"});
  refuseRows({0});
  EXPECT_EQ(answerAll().size(), 1U);
  EXPECT_EQ(poll().state, State::kDone);
  sendEach({"b"});
  EXPECT_EQ(requests().back(), (Request{old_, 10, {"b"}}));
  EXPECT_THAT(streams_->created, IsEmpty());
}

// BQW-132, BQW-133: it says nothing of the stream's end, which the service may not have looked at:
// what comes next is a probe as well.
TEST_F(BufferedStreamRestoreTest, AfterARefusedRowTheStreamIsStillProbed) {
  restoreOld();
  sendEach({"X"});
  refuseRows({0});
  answerAll();
  sendEach({"b"});
  refuseAsThere();
  ASSERT_THAT(streams_->created, ElementsAre(tableNamed("t1")));
  streams_->answerCreation();
  poll();
  EXPECT_EQ(requests().back(), (Request{new_, 0, {"b"}}));
}

// BQW-131, scenario 42
TEST_F(BufferedStreamRestoreTest, AQuietDestinationIsNeitherProbedNorCommitted) {
  restore({aState("t1", "old", 10), aState("t2", "two", 3)});  // t2 has no row and no setup here
  flush();
  EXPECT_THAT(calls_->calls, IsEmpty());
  EXPECT_THAT(prepare(), IsEmpty());
  const auto states = snapshot(6);
  ASSERT_EQ(states.size(), 2U);
  for (const BufferedStreamState& state : states) EXPECT_EQ(state.checkpoint, 6);
  clock_.advance(hours(2));
  flush();
  EXPECT_THAT(snapshot(7), IsEmpty()) << "idle: forgotten, not finalized";
}

// BQW-130
TEST_F(BufferedStreamRestoreTest, OfSeveralStreamsTheNewestGoesOn) {
  restore({aState("t1", "older", 50, 4), aState("t1", "old", 10, 5), aState("t1", "oldest", 9, 3)});
  sendEach({"a"});
  EXPECT_THAT(requests(), ElementsAre(Request{old_, 10, {"a"}}));
  acknowledge(10);
  flush();
  EXPECT_EQ(prepare().size(), 1U);
  EXPECT_EQ(snapshot(6).size(), 1U);
}

// BQW-130
TEST_F(BufferedStreamRestoreTest, OfEquallyNewStreamsTheFirstByNameGoesOn) {
  restore({aState("t1", "zzz", 50), aState("t1", "old", 10), aState("t1", "ppp", 9)});
  sendEach({"a"});
  EXPECT_THAT(requests(), ElementsAre(Request{old_, 10, {"a"}}));
}

// BQW-130: entries without a stream are ignored.
TEST_F(BufferedStreamRestoreTest, AnEntryWithoutAStreamIsIgnored) {
  restore({{tableNamed("t1"), "", 0, 9, 0}});
  EXPECT_THAT(snapshot(10), IsEmpty());
  sendEach({"a"});
  EXPECT_EQ(streams_->created.size(), 1U);
}

TEST_F(BufferedStreamRestoreTest, AStateThatCannotBeReadIsNamed) {
  start();
  const auto writer = create({encodeState(aState("t1", "old", 1)), {"garbage"}});
  ASSERT_FALSE(writer.ok());
  EXPECT_THAT(base::describe(writer.status()), HasSubstr("writer state 2 of 2"));
}

// docs/decisions/0017: rows of a snapshot that came without a prepare are due after a restore.
TEST_F(BufferedStreamRestoreTest, WhatWasNeverPreparedIsCommittedWithoutANewRow) {
  BufferedStreamState adopted = aState("t1", "old", 10);
  adopted.preparedOffset = 4;
  BufferedStreamState quiet = aState("t2", "quiet", 7);
  quiet.preparedOffset = 0;
  BufferedStreamState outdone = aState("t1", "outdone", 3, 4);
  outdone.preparedOffset = 2;
  restore({adopted, quiet, outdone});
  flush();
  EXPECT_THAT(prepare(),
              testing::UnorderedElementsAre(
                  StreamCommittable{old_, 9, 3},
                  StreamCommittable{tableNamed("t2").resource() + "/streams/quiet", 6, 3},
                  StreamCommittable{tableNamed("t1").resource() + "/streams/outdone", 2, 3}));
  EXPECT_EQ(snapshot(6).size(), 2U) << "the one that was outdone has been seen through";
  EXPECT_THAT(prepare(), IsEmpty());
}

// The same, of a stream that is abandoned before it could be prepared.
TEST_F(BufferedStreamRestoreTest, AnAbandonedStreamsRowsStayDue) {
  BufferedStreamState state = aState("t1", "old", 10);
  state.preparedOffset = 4;
  restore({state});
  sendEach({"a"});
  refuseAsThere();
  streams_->answerCreation();
  poll();
  EXPECT_EQ(snapshot(6).size(), 2U) << "kept until they are prepared";
  writesLeave();
  acknowledge(0);
  flush();
  EXPECT_THAT(prepare(), testing::UnorderedElementsAre(StreamCommittable{new_, 0, 3},
                                                       StreamCommittable{old_, 9, 3}));
  const auto states = snapshot(7);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].stream, new_);
}

// BQW-060
TEST_F(BufferedStreamRestoreTest, WarnsWhenTheConnectionsComeNearTheServicesLimit) {
  std::vector<std::string> warnings;
  base::setLogHook([&](base::LogLevel level, std::string_view text) {
    if (level == base::LogLevel::kWarning) warnings.emplace_back(text);
  });
  parallelism_ = 400;
  start();
  for (const char* table : {"t1", "t2", "t3", "t4"}) {
    write(add(table), "row");
    writer_->beginFlush(false);
    streams_->answerCreation();
    poll();
    writesLeave();
    acknowledge(0);
    answerAll();
  }
  base::setLogHook(nullptr);
  ASSERT_EQ(warnings.size(), 1U) << "once";
  EXPECT_THAT(warnings[0], HasSubstr("400 subtasks"));
}

}  // namespace
}  // namespace penstock::bigquery
