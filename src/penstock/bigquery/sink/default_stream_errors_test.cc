#include <gmock/gmock.h>

#include <functional>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using Code = absl::StatusCode;
using Storage = StorageErrorCode;

/// What becomes of an append, and with it of the load (section 6 of the specification).
enum class Fate {
  kRetried,  ///< sent again by the repair, on a new appender; it lands
  kCreated,  ///< the table is created, then as above
  kRouted,   ///< the refused row is with the handler, the other one sent again
  kFails,    ///< the job ends
};

struct Row {
  std::string_view condition;  ///< the table's row and what of it is played
  std::function<void(ScriptedCalls::Call&)> play;
  Fate ifNeeded = Fate::kFails;  ///< under CREATE_IF_NEEDED
  Fate never = Fate::kFails;     ///< under CREATE_NEVER
  std::string_view counted;      ///< the errorClass metric
};

std::function<void(ScriptedCalls::Call&)> refuses(Code code, Storage storage = Storage::kNone,
                                                  std::vector<int64_t> rows = {}) {
  return [=](ScriptedCalls::Call& call) {
    AppendResponse response;
    response.status = absl::Status(code, "scripted");
    response.storageError = storage;
    for (const int64_t row : rows) response.rowErrors.push_back({row, "bad"});
    call.answer(std::move(response));
  };
}
std::function<void(ScriptedCalls::Call&)> ends(Code code, Storage storage = Storage::kNone) {
  return [=](ScriptedCalls::Call& call) {
    call.events->onDone(absl::Status(code, "scripted end"), storage);
  };
}

std::vector<Row> theErrorTable() {
  std::vector<Row> rows;
  for (const Code code : {Code::kUnavailable, Code::kAborted, Code::kInternal, Code::kCancelled,
                          Code::kDeadlineExceeded, Code::kResourceExhausted, Code::kUnknown}) {
    const std::string_view name = base::codeName(code);
    rows.push_back({name, refuses(code), Fate::kRetried, Fate::kRetried, name});
    rows.push_back({"row errors, transient code", refuses(code, Storage::kNone, {0}),
                    Fate::kRetried, Fate::kRetried, name});
  }
  rows.push_back({"the connection ends with RESOURCE_EXHAUSTED", ends(Code::kResourceExhausted),
                  Fate::kRetried, Fate::kRetried, "RESOURCE_EXHAUSTED"});
  for (const Storage storage :
       {Storage::kStreamFinalized, Storage::kStreamNotFound, Storage::kInvalidStreamState}) {
    rows.push_back({"STREAM_FINALIZED, STREAM_NOT_FOUND, INVALID_STREAM_STATE",
                    refuses(Code::kInvalidArgument, storage), Fate::kRetried, Fate::kRetried,
                    "INVALID_ARGUMENT"});
  }
  rows.push_back({"a stale stream ends the connection",
                  ends(Code::kFailedPrecondition, Storage::kStreamFinalized), Fate::kRetried,
                  Fate::kRetried, "FAILED_PRECONDITION"});
  rows.push_back({"PERMISSION_DENIED, no row details", refuses(Code::kPermissionDenied),
                  Fate::kCreated, Fate::kFails, "PERMISSION_DENIED"});
  rows.push_back({"PERMISSION_DENIED ends the connection", ends(Code::kPermissionDenied),
                  Fate::kCreated, Fate::kFails, "PERMISSION_DENIED"});
  rows.push_back(
      {"NOT_FOUND", refuses(Code::kNotFound), Fate::kCreated, Fate::kFails, "NOT_FOUND"});
  rows.push_back({"NOT_FOUND ends the connection", ends(Code::kNotFound, Storage::kTableNotFound),
                  Fate::kCreated, Fate::kFails, "NOT_FOUND"});
  rows.push_back({"SCHEMA_MISMATCH_EXTRA_FIELDS, updates off",
                  refuses(Code::kInvalidArgument, Storage::kSchemaMismatchExtraFields),
                  Fate::kFails, Fate::kFails, "INVALID_ARGUMENT"});
  rows.push_back({"same, with row errors",
                  refuses(Code::kInvalidArgument, Storage::kSchemaMismatchExtraFields, {0}),
                  Fate::kRouted, Fate::kRouted, "INVALID_ARGUMENT"});
  rows.push_back({"row errors, non-transient code",
                  refuses(Code::kInvalidArgument, Storage::kNone, {0}), Fate::kRouted,
                  Fate::kRouted, "INVALID_ARGUMENT"});
  rows.push_back({"row errors under a missing-table code",
                  refuses(Code::kPermissionDenied, Storage::kNone, {0}), Fate::kRouted,
                  Fate::kRouted, "PERMISSION_DENIED"});
  rows.push_back({"row errors without a status", refuses(Code::kOk, Storage::kNone, {0}),
                  Fate::kRouted, Fate::kRouted, "UNCLASSIFIED"});
  rows.push_back({"row errors matching no row",
                  refuses(Code::kInvalidArgument, Storage::kNone, {7}), Fate::kFails, Fate::kFails,
                  "INVALID_ARGUMENT"});
  rows.push_back({"OFFSET_ALREADY_EXISTS",
                  refuses(Code::kAlreadyExists, Storage::kOffsetAlreadyExists), Fate::kFails,
                  Fate::kFails, "ALREADY_EXISTS"});
  rows.push_back({"OFFSET_OUT_OF_RANGE", refuses(Code::kOutOfRange, Storage::kOffsetOutOfRange),
                  Fate::kFails, Fate::kFails, "OUT_OF_RANGE"});
  for (const Code code :
       {Code::kInvalidArgument, Code::kAlreadyExists, Code::kFailedPrecondition, Code::kOutOfRange,
        Code::kUnimplemented, Code::kDataLoss, Code::kUnauthenticated}) {
    const std::string_view name = base::codeName(code);
    rows.push_back({name, refuses(code), Fate::kFails, Fate::kFails, name});
    rows.push_back(
        {"other codes end the connection", ends(code), Fate::kFails, Fate::kFails, name});
  }
  return rows;
}

class DefaultStreamErrorsTest : public WriterTest {
 protected:
  /// Two rows in one append meet `row`; what became of them.
  Fate play(const Row& row, CreateDisposition disposition) {
    calls_ = std::make_shared<ScriptedCalls>();
    admin_ = std::make_shared<ScriptedAdmin>();
    metrics_ = std::make_shared<base::MetricGroup>();
    writesDone_.clear();
    options_ = {};
    options_.location = "us";
    options_.createDisposition = disposition;
    options_.defaultStreamOptions.retryMaxAttempts = 1;
    start();
    write("r0");
    write("r1");
    writer_->beginFlush(false);
    written();
    for (int plays = 0; plays < 2 && !decided(); ++plays) {  // once more for the in-stream resend
      row.play(calls_->last());
      poll();
      if (!decided()) pass(seconds(1));
      written();
    }
    if (poll().state == State::kFailed) return Fate::kFails;
    if (!admin_->created.empty()) {
      admin_->answerCreation({});
      poll();
      finish(2);
      return Fate::kCreated;
    }
    if (counter("appendRetries") == 0) {
      EXPECT_EQ(answerAll().size(), 1U);
      finish(1);
      return Fate::kRouted;
    }
    EXPECT_EQ(calls_->calls.size(), 2U) << "rebuilt";
    finish(2);
    return Fate::kRetried;
  }
  bool decided() {
    return poll().state == State::kFailed || !admin_->created.empty() ||
           !writer_->questions().empty() || counter("appendRetries") > 0;
  }
  /// What is sent again, so many rows, is acknowledged and the flush ends.
  void finish(size_t rows) {
    ASSERT_FALSE(written().empty());
    EXPECT_EQ(written().back().size(), rows);
    calls_->last().acknowledge();
    poll();
    answerAll();
    EXPECT_EQ(poll().state, State::kDone);
    EXPECT_EQ(counter("numRecordsSend"), 2U);
    EXPECT_EQ(counter("numRecordsSendErrors"), 2 - rows);
    EXPECT_EQ(counter("appendRetries"), 1U);
  }
};

// BQW-041, BQW-042, BQW-073, BQW-077, BQW-150: each row of the error table.
TEST_F(DefaultStreamErrorsTest, EveryRowOfTheErrorTableHasItsFate) {
  for (const Row& row : theErrorTable()) {
    SCOPED_TRACE(row.condition);
    for (const auto disposition :
         {CreateDisposition::kCreateIfNeeded, CreateDisposition::kCreateNever}) {
      const bool ifNeeded = disposition == CreateDisposition::kCreateIfNeeded;
      SCOPED_TRACE(ifNeeded ? "CREATE_IF_NEEDED" : "CREATE_NEVER");
      EXPECT_EQ(play(row, disposition), ifNeeded ? row.ifNeeded : row.never);
      EXPECT_EQ(counter(fmt::format("errorClass.{}.errors", row.counted)), 1U)
          << "each failed append that the task thread sees";
    }
  }
}

// BQW-041: a code that gRPC does not define is not transient, whatever absl makes of it.
TEST_F(DefaultStreamErrorsTest, ACodeThatNobodyKnowsFailsTheJob) {
  const Row row{"other codes", refuses(static_cast<Code>(77))};
  EXPECT_EQ(play(row, CreateDisposition::kCreateIfNeeded), Fate::kFails);
}

// BQW-056: closed writer, watchdog.
TEST_F(DefaultStreamErrorsTest, SilenceIsRepairedByARebuild) {
  options_.location = "us";
  start();
  write("r0");
  write("r1");
  writer_->beginFlush(false);
  written();
  pass(minutes(5));
  EXPECT_EQ(calls_->calls.size(), 2U);
  finish(2);
}

// BQW-076: row errors matching no row, in the repair.
TEST_F(DefaultStreamErrorsTest, RowErrorsThatMatchNothingFailTheRepairToo) {
  options_.location = "us";
  start();
  write("r0");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(Code::kInvalidArgument, Storage::kStreamFinalized);
  written();
  refuseRows({3});
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(std::string(base::messageOf(poll().status)), HasSubstr("repair began with"));
}

// BQW-076, BQW-078: a repair routes and goes on with the survivors in the same attempt.
TEST_F(DefaultStreamErrorsTest, ARepairRoutesRefusedRowsAndGoesOn) {
  options_.location = "us";
  start();
  for (const char* row : {"r0", "r1", "r2"}) write(row);
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(Code::kInvalidArgument, Storage::kStreamFinalized);
  written();
  refuseRows({1});
  poll();
  ASSERT_EQ(answerAll().size(), 1U);
  EXPECT_EQ(written().back(), (std::vector<std::string>{"r0", "r2"}));
  EXPECT_EQ(calls_->calls.size(), 2U) << "the appender was new already";
  refuseRows({0, 1});  // all that is left
  poll();
  ASSERT_EQ(answerAll().size(), 2U);
  EXPECT_EQ(poll().state, State::kNeedsHost);
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(counter("numRecordsSendErrors"), 3U);
}

// BQW-070, BQW-076: a sibling with refused rows joins the repair after they are routed.
TEST_F(DefaultStreamErrorsTest, ASiblingWithRefusedRowsJoinsTheRepair) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = 4;
  start();
  for (const char* row : {"a0", "a1", "b0", "b1"}) write(row);
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(Code::kInvalidArgument, Storage::kStreamFinalized);
  refuseRows({0});  // b0
  poll();
  ASSERT_EQ(calls_->calls.size(), 1U) << "the rebuild waits for the host";
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].payload, "b0");
  EXPECT_EQ(written().back(), (std::vector<std::string>{"a0", "a1"}));
  calls_->last().acknowledge();
  EXPECT_EQ(written().back(), (std::vector<std::string>{"b1"}));
}

// BQW-070: a terminal sibling fails the write, and the confirmed row failure is handed over all the
// same. BASE-019
TEST_F(DefaultStreamErrorsTest, ATerminalSiblingFailsTheWriteButRefusedRowsAreHandedOver) {
  options_.location = "us";
  options_.defaultStreamOptions.maxAppendRequestBytes = 2;
  start();
  for (const char* row : {"a0", "b0"}) write(row);
  writer_->beginFlush(false);
  written();
  refuseRows({0});
  poll();
  calls_->last().refuse(Code::kInvalidArgument);
  EXPECT_EQ(poll().state, State::kFailed);
  const auto failures = answerAll();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].payload, "a0");
}

// BQW-074, BQW-075: a table that vanishes during a repair is created once; what follows is waited
// out on the recovery schedule, with the attempts that are left.
TEST_F(DefaultStreamErrorsTest, AMissingTableInTheMiddleOfARepairIsCreatedOnce) {
  options_.location = "us";
  options_.defaultStreamOptions.recoveryMaxAttempts = 4;
  start();
  write("r0");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(Code::kInvalidArgument, Storage::kStreamFinalized);
  written();
  calls_->last().refuse(Code::kPermissionDenied);  // attempt 1
  poll();
  ASSERT_EQ(admin_->created.size(), 1U);
  admin_->answerCreation({});
  for (int attempt = 2; attempt <= 4; ++attempt) {
    poll();
    written();
    ASSERT_EQ(gauge("inFlightBatches"), 1) << attempt;
    calls_->last().refuse(Code::kPermissionDenied);
    poll();
    if (attempt < 4) pass(seconds(20));
  }
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_EQ(admin_->created.size(), 1U);
  const std::string why(base::messageOf(poll().status));
  EXPECT_THAT(why, HasSubstr("4 of 4 repair attempts and the creation of the table"));
}

// BQW-045: what cannot be appended at all fails the write and was never sent.
TEST_F(DefaultStreamErrorsTest, AFirstAppendThatCannotBeMadeIsNotCountedAsSent) {
  options_.location = "us";
  start();
  DestinationSetup setup;
  setup.table = {"p", "d", "twice"};
  setup.schema = TableSchema{{{"c", ColumnType::kString}, {"C", ColumnType::kString}}};
  const auto id = *writer_->registerDestination(std::move(setup));
  ASSERT_EQ(writer_->admit(id), Admission::kAccepted);
  writer_->beginRow(id).append("a");
  writer_->commitRow(connector::RowOrigin::kUnknown);
  EXPECT_EQ(writer_->admit(id), Admission::kFailed);
  EXPECT_THAT(std::string(base::messageOf(poll().status)), HasSubstr("p.d.twice"));
  EXPECT_EQ(counter("numRecordsSend"), 0U);
  EXPECT_TRUE(calls_->calls.empty());
}

}  // namespace
}  // namespace penstock::bigquery
