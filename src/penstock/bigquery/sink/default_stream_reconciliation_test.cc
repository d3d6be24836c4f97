#include <gmock/gmock.h>

#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AdminError refusal(int httpCode, const std::string& reason = {}) {
  return {absl::UnknownError("scripted refusal"), httpCode, reason};
}

/// Tables whose columns are brought in line with the rows.
class DefaultStreamReconciliationTest : public WriterTest {
 protected:
  void SetUp() override {
    options_.location = "us";
    options_.defaultStreamOptions.retryMaxAttempts = 1;
    options_.defaultStreamOptions.maxAppendRequestBytes = 1;  // a request a row
    options_.schemaUpdateOptions.allowNewFields = true;
  }
  /// A destination whose rows have the columns a and b.
  void startWide() {
    start();
    DestinationSetup setup;
    setup.table = {"p", "d", "wide"};
    setup.schema = columns({"a", "b"});
    wide_ = *writer_->registerDestination(std::move(setup));
  }
  void sendOne() {
    write(wide_, "1");
    writer_->beginFlush(false);
    ASSERT_THAT(written(), ElementsAre(Rows{"1"}));
  }
  void mismatch() {
    calls_->last().refuse(absl::StatusCode::kInvalidArgument,
                          StorageErrorCode::kSchemaMismatchExtraFields);
    poll();
  }
  /// The last append was refused, and the table is read for it.
  void sendMismatched() {
    sendOne();
    mismatch();
    ASSERT_EQ(admin_->read.size(), 1U);
    EXPECT_EQ(admin_->read[0].dotted(), "p.d.wide");
  }
  void answerTable(const TableSchema& schema, const std::string& etag = "e1") {
    admin_->answerTable(schema, etag);
    poll();
  }
  void answerUpdate(const AdminError& error = {}) {
    admin_->answerUpdate(error);
    poll();
  }
  /// The row goes again and lands; the flush is done.
  void expectToLand() {
    ASSERT_EQ(written().back(), Rows{"1"});
    calls_->last().acknowledge();
    poll();
    answerAll();
    EXPECT_EQ(poll().state, State::kDone) << base::describe(poll().status);
  }
  /// How long nothing is appended.
  base::Duration quietTime() {
    const size_t before = calls_->last().writes.size() + calls_->calls.size();
    const base::MonotonicTime begin = clock_.now();
    while (calls_->last().writes.size() + calls_->calls.size() == before &&
           clock_.now() - begin < minutes(2)) {
      clock_.advanceTo(std::max(poll().wakeAt, clock_.now() + milliseconds(1)));
      poll();
      written();
    }
    return clock_.now() - begin;
  }
  std::string failure() {
    EXPECT_EQ(poll().state, State::kFailed);
    return std::string(base::messageOf(poll().status));
  }

  connector::DestinationId wide_{};
};

// BQW-042, BQW-160
TEST_F(DefaultStreamReconciliationTest, AMismatchAddsTheColumnsAndTheRowsLand) {
  startWide();
  sendMismatched();
  EXPECT_EQ(writer_->admit(wide_), Admission::kWouldWait);
  answerTable(columns({"A"}));
  ASSERT_EQ(admin_->updated.size(), 1U);
  EXPECT_EQ(admin_->updated[0].table.dotted(), "p.d.wide");
  EXPECT_EQ(admin_->updated[0].etag, "e1");
  EXPECT_EQ(*parseSchemaJson(admin_->updated[0].schemaJson), columns({"A", "b"}));
  EXPECT_EQ(counter("schemaReconciliations"), 0U);
  answerUpdate();
  expectToLand();
  EXPECT_EQ(counter("schemaReconciliations"), 1U);
  EXPECT_EQ(counter("appendRetries"), 1U);
  EXPECT_EQ(counter("errorClass.INVALID_ARGUMENT.errors"), 1U);
}

// BQW-162
TEST_F(DefaultStreamReconciliationTest, AttributesThatOnlyRestKnowsGoBackAsTheyCame) {
  startWide();
  sendMismatched();
  TableInfo info;
  info.schema = columns({"a"});
  info.schemaJson =
      R"({"fields":[{"name":"a","type":"STRING","policyTags":{"names":["t"]},"collation":"und:ci"}]})";
  auto callback = std::move(admin_->reads.front());
  admin_->reads.pop_front();
  callback({}, std::move(info));
  poll();
  ASSERT_EQ(admin_->updated.size(), 1U);
  EXPECT_THAT(admin_->updated[0].schemaJson,
              AllOf(HasSubstr(R"("policyTags":{"names":["t"]})"),
                    HasSubstr(R"("collation":"und:ci")"), HasSubstr(R"("name":"b")")));
}

// BQW-041, BQW-076: reconciling is tried before rows are routed, and only where it may.
TEST_F(DefaultStreamReconciliationTest, RowErrorsOfAMismatchAreRoutedOnlyWithUpdatesOff) {
  AppendResponse response;
  response.status = absl::InvalidArgumentError("extra fields");
  response.storageError = StorageErrorCode::kSchemaMismatchExtraFields;
  response.rowErrors.push_back({0, "field b"});
  startWide();
  sendOne();
  calls_->last().answer(response);
  poll();
  EXPECT_TRUE(writer_->questions().empty());
  EXPECT_EQ(admin_->read.size(), 1U);

  options_.schemaUpdateOptions = {};
  startWide();
  sendOne();
  calls_->last().answer(response);
  poll();
  EXPECT_EQ(answerAll().size(), 1U);
  EXPECT_EQ(admin_->read.size(), 1U);
}

// BQW-165
TEST_F(DefaultStreamReconciliationTest, WithUpdatesOffAMismatchIsTerminalAndNamesTheOption) {
  options_.schemaUpdateOptions = {};
  startWide();
  sendOne();
  mismatch();
  EXPECT_THAT(failure(), AllOf(HasSubstr("p.d.wide"), HasSubstr("set allowNewFields")));
  EXPECT_THAT(admin_->read, IsEmpty());
}

// BQW-165: a table can only be brought in line with columns that are known.
TEST_F(DefaultStreamReconciliationTest, ARowDescriptorAloneIsNotEnough) {
  start();
  DestinationSetup setup;
  setup.table = {"p", "d", "wide"};
  setup.descriptor = "descriptor";
  wide_ = *writer_->registerDestination(std::move(setup));
  sendOne();
  mismatch();
  EXPECT_THAT(failure(), HasSubstr("only a row descriptor was given, no schema"));
}

// BQW-074, BQW-075, BQW-073: once a repair, then the service is given its 15 minutes.
TEST_F(DefaultStreamReconciliationTest, LaterMismatchesAreWaitedOutOnTheSchemaSchedule) {
  startWide();
  sendMismatched();
  answerTable(columns({"a"}));
  answerUpdate();
  ASSERT_EQ(written().back(), Rows{"1"});
  const base::MonotonicTime begin = clock_.now();
  for (int attempt = 1; attempt < 30; ++attempt) {
    mismatch();
    const base::Duration quiet = quietTime();
    EXPECT_GE(quiet, seconds(22)) << attempt;
    EXPECT_LE(quiet, seconds(38)) << attempt;
    ASSERT_EQ(written().back(), Rows{"1"});
  }
  EXPECT_GT(clock_.now() - begin, minutes(13));
  mismatch();
  EXPECT_THAT(failure(), AllOf(HasSubstr("30 of 30 repair attempts"), HasSubstr("p.d.wide"),
                               HasSubstr("have been brought in line"), HasSubstr("run again")));
  EXPECT_EQ(admin_->read.size(), 1U);
  EXPECT_EQ(counter("schemaReconciliations"), 1U);
}

// BQW-075: also when somebody else has added the columns; other failures keep the schedule.
TEST_F(DefaultStreamReconciliationTest, TransientFailuresKeepTheSchemaSchedule) {
  startWide();
  sendMismatched();
  answerTable(columns({"b", "a"}));
  EXPECT_THAT(admin_->updated, IsEmpty());
  ASSERT_EQ(written().back(), Rows{"1"});
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  EXPECT_GE(quietTime(), seconds(22));
  mismatch();
  EXPECT_GE(quietTime(), seconds(22));
  expectToLand();
  EXPECT_EQ(counter("schemaReconciliations"), 0U);
}

// BQW-075: a denial that is meant must not cost 15 minutes.
TEST_F(DefaultStreamReconciliationTest, AMissingTableDropsToRecoveryAndAMismatchRestores) {
  startWide();
  sendMismatched();
  answerTable(columns({"a"}));
  answerUpdate();
  written();
  const auto deny = [this] {
    calls_->last().refuse(absl::StatusCode::kPermissionDenied);
    poll();
  };
  deny();
  ASSERT_EQ(admin_->creations.size(), 1U) << "the one creation of the repair (BQW-074)";
  admin_->answerCreation(refusal(409, "duplicate"));
  poll();
  written();
  deny();
  EXPECT_LE(quietTime(), seconds(2)) << "after attempt 2, of the recovery schedule";
  mismatch();
  EXPECT_GE(quietTime(), seconds(22));
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  EXPECT_GE(quietTime(), seconds(22));
  for (int attempt = 5; attempt < 10; ++attempt) {
    deny();
    EXPECT_LE(quietTime(), seconds(13)) << attempt;
  }
  deny();
  EXPECT_THAT(failure(), HasSubstr("10 of 10 repair attempts"));
  EXPECT_EQ(admin_->created.size(), 1U);
}

// BQW-160, scenario 24
TEST_F(DefaultStreamReconciliationTest, AfterALostRaceTheTableIsReadAgain) {
  const std::vector<AdminError> races = {refusal(409), refusal(412, "conditionNotMet"),
                                         refusal(400, "conditionNotMet"),
                                         refusal(403, "rateLimitExceeded")};
  for (const AdminError& race : races) {
    admin_ = std::make_shared<ScriptedAdmin>();
    startWide();
    sendMismatched();
    answerTable(columns({"a"}), "e1");
    answerUpdate(race);
    EXPECT_THAT(admin_->reads, IsEmpty()) << "not at once";
    pass(milliseconds(501));
    ASSERT_EQ(admin_->reads.size(), 1U);
    answerTable(columns({"a", "theirs"}), "e2");
    ASSERT_EQ(admin_->updated.size(), 2U);
    EXPECT_EQ(admin_->updated[1].etag, "e2");
    EXPECT_EQ(*parseSchemaJson(admin_->updated[1].schemaJson), columns({"a", "theirs", "b"}));
    answerUpdate();
    expectToLand();
  }
}

// BQW-160: most often the other has added what was wanted.
TEST_F(DefaultStreamReconciliationTest, WhatAnotherWriterHasAddedNeedsNoUpdate) {
  startWide();
  sendMismatched();
  answerTable(columns({"a"}));
  answerUpdate(refusal(412, "conditionNotMet"));
  pass(milliseconds(501));
  answerTable(columns({"a", "b"}), "e2");
  EXPECT_EQ(admin_->updated.size(), 1U);
  expectToLand();
  EXPECT_EQ(counter("schemaReconciliations"), 0U);
}

// BQW-160, scenario 24
TEST_F(DefaultStreamReconciliationTest, FiveLostRacesFail) {
  startWide();
  sendMismatched();
  for (int race = 1; race <= 5; ++race) {
    ASSERT_EQ(admin_->reads.size(), 1U) << race;
    answerTable(columns({"a"}));
    answerUpdate(refusal(412, "conditionNotMet"));
    if (race < 5) pass(milliseconds(501));
  }
  EXPECT_THAT(failure(), AllOf(HasSubstr("p.d.wide"), HasSubstr("5 times"),
                               HasSubstr("scripted refusal"), HasSubstr("answered INVALID_ARG")));
  EXPECT_EQ(admin_->read.size(), 5U);
}

// BQW-160
TEST_F(DefaultStreamReconciliationTest, ATableThatIsGoneIsCreatedAndLookedAtAgain) {
  startWide();
  sendMismatched();
  admin_->refuseTable(refusal(404, "notFound"));
  poll();
  ASSERT_EQ(admin_->created.size(), 1U);
  EXPECT_EQ(admin_->created[0].second, columns({"a", "b"}));
  admin_->answerCreation({});
  poll();
  ASSERT_EQ(admin_->reads.size(), 1U);
  answerTable(columns({"a", "b"}));
  EXPECT_THAT(admin_->updated, IsEmpty());
  expectToLand();
  EXPECT_EQ(counter("tablesCreated"), 1U);
}

// BQW-160: gone between reading and updating; nobody waits for a table that does not come.
TEST_F(DefaultStreamReconciliationTest, ATableThatVanishesAgainIsWaitedForOnRecovery) {
  startWide();
  sendMismatched();
  answerTable(columns({"a"}));
  answerUpdate(refusal(404, "notFound"));
  pass(milliseconds(501));
  admin_->refuseTable(refusal(404, "notFound"));
  poll();
  admin_->answerCreation({});
  poll();
  for (int attempt = 1; attempt < 10; ++attempt) {
    ASSERT_EQ(admin_->reads.size(), 1U) << attempt;
    admin_->refuseTable(refusal(404, "notFound"));
    pass(seconds(13));
  }
  admin_->refuseTable(refusal(404, "notFound"));
  EXPECT_THAT(failure(), AllOf(HasSubstr("10 of 10"), HasSubstr("p.d.wide")));
  EXPECT_EQ(admin_->created.size(), 1U);
}

// BQW-160, BQW-154
TEST_F(DefaultStreamReconciliationTest, ATableThatIsGoneFailsUnderCreateNever) {
  options_.createDisposition = CreateDisposition::kCreateNever;
  startWide();
  sendMismatched();
  admin_->refuseTable(refusal(404, "notFound"));
  EXPECT_THAT(failure(), AllOf(HasSubstr("p.d.wide"), HasSubstr("CREATE_NEVER")));
  EXPECT_THAT(admin_->created, IsEmpty());
}

// BQW-160
TEST_F(DefaultStreamReconciliationTest, OnlyNativeTablesAreChanged) {
  startWide();
  sendMismatched();
  TableInfo info;
  info.schema = columns({"a"});
  info.type = "EXTERNAL";
  auto callback = std::move(admin_->reads.front());
  callback({}, std::move(info));
  EXPECT_THAT(failure(), AllOf(HasSubstr("p.d.wide"), HasSubstr("it is of type EXTERNAL")));
  EXPECT_THAT(admin_->updated, IsEmpty());
}

// BQW-160
TEST_F(DefaultStreamReconciliationTest, RowsForAPartitionChangeItsTable) {
  start();
  DestinationSetup setup;
  setup.table = {"p", "d", "wide$20261130"};
  setup.schema = columns({"a", "b"});
  wide_ = *writer_->registerDestination(std::move(setup));
  sendOne();
  mismatch();
  ASSERT_EQ(admin_->read.size(), 1U);
  EXPECT_EQ(admin_->read[0].dotted(), "p.d.wide");
  answerTable(columns({"a"}));
  ASSERT_EQ(admin_->updated.size(), 1U);
  EXPECT_EQ(admin_->updated[0].table.dotted(), "p.d.wide");
  answerUpdate();
  expectToLand();
}

// BQW-161
TEST_F(DefaultStreamReconciliationTest, ColumnsThatContradictAreTerminalAndNamed) {
  startWide();
  sendMismatched();
  TableSchema other = columns({"a", "b"});
  other.columns[1].type = ColumnType::kInt64;
  answerTable(other);
  EXPECT_THAT(failure(), AllOf(HasSubstr("column \"b\" is NULLABLE STRING in the rows and NULLABLE "
                                         "INT64 in the table"),
                               HasSubstr("writing to the table answered INVALID_ARGUMENT")));
}

// BQW-160: an update whose answer was lost may have been made; reading again shows.
TEST_F(DefaultStreamReconciliationTest, PassingErrorsAreTriedAgainOnTheRecoverySchedule) {
  startWide();
  sendMismatched();
  for (const int httpCode : {503, 0, 429}) {
    admin_->refuseTable(refusal(httpCode));
    poll();
    EXPECT_THAT(admin_->reads, IsEmpty());
    pass(seconds(13));
    ASSERT_EQ(admin_->reads.size(), 1U) << httpCode;
  }
  answerTable(columns({"a"}));
  answerUpdate(refusal(0));
  pass(seconds(13));
  ASSERT_EQ(admin_->reads.size(), 1U);
  answerTable(columns({"a", "b"}), "e2");
  EXPECT_EQ(admin_->updated.size(), 1U);
  expectToLand();
}

// BQW-160
TEST_F(DefaultStreamReconciliationTest, AServiceThatStaysDownEndsTheRecoverySchedule) {
  startWide();
  sendMismatched();
  for (int attempt = 1; attempt <= 10; ++attempt) {
    ASSERT_EQ(admin_->reads.size(), 1U) << attempt;
    admin_->refuseTable(refusal(503, "backendError"));
    if (attempt < 10) pass(seconds(13));
  }
  EXPECT_THAT(failure(), HasSubstr("(attempt 10)"));
}

// BQW-160
TEST_F(DefaultStreamReconciliationTest, ADenialNamesThePermissions) {
  startWide();
  sendMismatched();
  answerTable(columns({"a"}));
  admin_->answerUpdate(refusal(403, "accessDenied"));
  EXPECT_THAT(failure(), AllOf(HasSubstr("p.d.wide"), HasSubstr("bigquery.tables.update")));
}

// BQW-070: live siblings are awaited first, and others of the same kind join.
TEST_F(DefaultStreamReconciliationTest, SiblingsOfAMismatchJoinOneRepair) {
  startWide();
  for (const char* row : {"1", "2", "3"}) write(wide_, row);
  writer_->beginFlush(false);
  ASSERT_EQ(written().size(), 3U);
  mismatch();
  EXPECT_THAT(admin_->read, IsEmpty());
  calls_->last().acknowledge();
  mismatch();
  ASSERT_EQ(admin_->read.size(), 1U);
  answerTable(columns({"a"}));
  answerUpdate();
  EXPECT_EQ(written().back(), Rows{"1"});
  calls_->last().acknowledge();
  EXPECT_EQ(written().back(), Rows{"3"});
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
  EXPECT_EQ(admin_->read.size(), 1U);
}

// BQW-072, BQW-076: in the middle of a repair that began otherwise, at once and before routing.
TEST_F(DefaultStreamReconciliationTest, AMismatchInsideARepairIsMendedAtOnce) {
  startWide();
  sendOne();
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  ASSERT_EQ(written().back(), Rows{"1"});
  AppendResponse response;
  response.status = absl::InvalidArgumentError("extra fields");
  response.storageError = StorageErrorCode::kSchemaMismatchExtraFields;
  response.rowErrors.push_back({0, "field b"});
  calls_->last().answer(response);
  poll();
  EXPECT_TRUE(writer_->questions().empty());
  ASSERT_EQ(admin_->reads.size(), 1U);
  answerTable(columns({"a"}));
  answerUpdate();
  ASSERT_EQ(written().back(), Rows{"1"});
  mismatch();
  EXPECT_GE(quietTime(), seconds(22));
  refuseRows({0});
  poll();
  EXPECT_EQ(answerAll().size(), 1U) << "a bad value is still one";
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
}

// BQW-074: one batch of the repair misses the table, another its columns.
TEST_F(DefaultStreamReconciliationTest, ATableIsCreatedBeforeItsColumnsAreLookedAt) {
  startWide();
  for (const char* row : {"1", "2"}) write(wide_, row);
  writer_->beginFlush(false);
  ASSERT_EQ(written().size(), 2U);
  mismatch();
  calls_->last().refuse(absl::StatusCode::kNotFound);
  poll();
  EXPECT_THAT(admin_->read, IsEmpty());
  ASSERT_EQ(admin_->creations.size(), 1U);
  admin_->answerCreation(refusal(409, "duplicate"));
  poll();
  ASSERT_EQ(admin_->reads.size(), 1U);
  answerTable(columns({"a"}));
  answerUpdate();
  ASSERT_EQ(written().back(), Rows{"1"});
  calls_->last().acknowledge();
  ASSERT_EQ(written().back(), Rows{"2"});
  calls_->last().acknowledge();
  poll();
  answerAll();
  EXPECT_EQ(poll().state, State::kDone);
}

// BQW-163
TEST_F(DefaultStreamReconciliationTest, OtherColumnsOfTheRowsAreBroughtInLineFirst) {
  startWide();
  sendOne();
  writer_->changeSchema(wide_, columns({"a", "b", "c"}), {});
  EXPECT_THAT(admin_->read, IsEmpty()) << "what was written before is awaited";
  calls_->last().acknowledge();
  poll();
  ASSERT_EQ(admin_->read.size(), 1U);
  answerAll();
  EXPECT_EQ(writer_->admit(wide_), Admission::kWouldWait);
  answerTable(columns({"a", "b"}));
  ASSERT_EQ(admin_->updated.size(), 1U);
  EXPECT_EQ(*parseSchemaJson(admin_->updated[0].schemaJson), columns({"a", "b", "c"}));
  answerUpdate();
  answerAll();
  ASSERT_EQ(poll().state, State::kDone);
  write(wide_, "2");
  writer_->beginFlush(false);
  EXPECT_EQ(written().back(), Rows{"2"});
  EXPECT_THAT(calls_->last().writes.back().header,
              HasSubstr(*rowDescriptor(columns({"a", "b", "c"}))));
  EXPECT_EQ(counter("appendRetries"), 0U);
}

// BQW-163: the schema schedule only if the table was changed.
TEST_F(DefaultStreamReconciliationTest, OpeningAnewWaitsLongOnlyForATableThatWasChanged) {
  emulator_ = true;  // looks each stream up as it is opened
  for (const bool change : {true, false}) {
    admin_ = std::make_shared<ScriptedAdmin>();
    startWide();
    write(wide_, "1");
    writer_->beginFlush(false);
    admin_->answerLocation("us");
    poll();
    ASSERT_EQ(written().size(), 1U);
    writer_->changeSchema(wide_, columns({"a", "b", "c"}), {});
    calls_->last().acknowledge();
    poll();
    answerTable(change ? columns({"a", "b"}) : columns({"a", "b", "c"}));
    if (change) answerUpdate();
    ASSERT_EQ(admin_->streams.size(), 1U);
    admin_->answerStream(absl::UnavailableError("down"));
    pass(seconds(20));
    EXPECT_EQ(admin_->streams.size(), change ? 0U : 1U);
    if (change) pass(seconds(18));
    ASSERT_EQ(admin_->streams.size(), 1U);
    admin_->answerLocation("us");
    poll();
    answerAll();
    EXPECT_EQ(poll().state, State::kDone);
  }
}

// BQW-163: without permission the new columns are simply used.
TEST_F(DefaultStreamReconciliationTest, WithUpdatesOffOtherColumnsReadNothing) {
  options_.schemaUpdateOptions = {};
  startWide();
  sendOne();
  writer_->changeSchema(wide_, columns({"a", "b", "c"}), {});
  calls_->last().acknowledge();
  poll();
  EXPECT_THAT(admin_->read, IsEmpty());
  EXPECT_EQ(counter("schemaReconciliations"), 0U);
}

// BQW-161, BQW-021: no answer tells of it, so the table is looked at before its first row.
TEST_F(DefaultStreamReconciliationTest, WithRelaxationATableIsReadBeforeItsFirstRow) {
  options_.schemaUpdateOptions = {.allowFieldRelaxation = true};
  startWide();
  writer_->admit(wide_);
  writer_->beginRow(wide_);
  writer_->discardRow();
  poll();
  EXPECT_THAT(admin_->read, IsEmpty()) << "no row, no question";
  write(wide_, "1");
  writer_->beginFlush(false);
  ASSERT_EQ(admin_->read.size(), 1U);
  EXPECT_THAT(calls_->calls, IsEmpty());
  answerTable(columns({"a", "b"}, ColumnMode::kRequired));
  ASSERT_EQ(admin_->updated.size(), 1U);
  EXPECT_EQ(*parseSchemaJson(admin_->updated[0].schemaJson), columns({"a", "b"}));
  answerUpdate();
  expectToLand();
  EXPECT_EQ(counter("appendRetries"), 0U);
  write(wide_, "2");
  EXPECT_EQ(admin_->read.size(), 1U) << "once";
}

// BQW-161, BQW-151
TEST_F(DefaultStreamReconciliationTest, ATableThatIsNotThereYetIsCreatedInstead) {
  options_.schemaUpdateOptions = {.allowFieldRelaxation = true};
  startWide();
  write(wide_, "1");
  writer_->beginFlush(false);
  admin_->refuseTable(refusal(404, "notFound"));
  poll();
  ASSERT_EQ(admin_->created.size(), 1U);
  admin_->answerCreation(refusal(403, "quotaExceeded"));
  EXPECT_THAT(failure(), AllOf(HasSubstr("cannot create table p.d.wide"), HasSubstr("NOT_FOUND")));
}

// BQW-001, BASE-024: what is answered after the end finds nobody.
TEST_F(DefaultStreamReconciliationTest, AnswersAfterTheWriterHasClosedAreIgnored) {
  startWide();
  sendMismatched();
  writer_->beginClose();
  admin_->answerTable(columns({"a"}), "e1");
  poll();
  EXPECT_THAT(admin_->updated, IsEmpty());
}

}  // namespace
}  // namespace penstock::bigquery
