#include <gmock/gmock.h>

#include "penstock/base/log.h"
#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/schema/schema_proto.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AppendResponse acknowledgedWith(const TableSchema& schema) {
  AppendResponse response;
  response.updatedSchema = schemaToProto(schema).SerializeAsString();
  return response;
}

/// Columns that change while the writer runs.
class DefaultStreamSchemaTest : public WriterTest {
 protected:
  /// A table with column a, whose own schema is used.
  void startFromTable() {
    options_.location = "us";
    options_.defaultStreamOptions.maxAppendRequestBytes = 1;  // a request a row
    start();
    DestinationSetup setup;
    setup.table = {"p", "d", "followed"};
    setup.followTable = true;
    table_ = *writer_->registerDestination(std::move(setup));
    WriteStreamInfo info;
    info.location = "us";
    info.schema = columns({"a"});
    admin_->answerStream(info);
    poll();
  }
  [[nodiscard]] bool hasSchema(const std::string& header, const TableSchema& schema) const {
    return header.find(*rowDescriptor(schema)) != std::string::npos;
  }

  connector::DestinationId table_{};
};

// BQW-164, BQW-166
TEST_F(DefaultStreamSchemaTest, AColumnAddedFromOutsideIsUsedWithoutARestart) {
  startFromTable();
  write(table_, "1");
  write(table_, "2");  // sends "1"
  write(table_, "3");  // sends "2", stays in the batch
  ASSERT_EQ(written().size(), 2U);
  EXPECT_TRUE(hasSchema(calls_->last().writes[0].header, columns({"a"})));
  calls_->last().answer(acknowledgedWith(columns({"a", "b"})));
  poll();
  EXPECT_EQ(writer_->admit(table_), Admission::kWouldWait) << "the others have the old columns yet";
  EXPECT_EQ(writer_->admit(first_), Admission::kAccepted) << "other tables go on";
  EXPECT_TRUE(writer_->questions().empty());
  EXPECT_THAT(written(), ElementsAre(Rows{"1"}, Rows{"2"}, Rows{"3"}))
      << "what was laid out before goes as it is";
  calls_->last().acknowledge();
  poll();
  EXPECT_TRUE(writer_->questions().empty());
  calls_->last().acknowledge();
  poll();

  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kNewSchema);
  EXPECT_EQ(writer_->questions()[0].destination, table_);
  EXPECT_EQ(writer_->schemaOf(table_)->columns.size(), 2U);
  EXPECT_EQ(writer_->admit(table_), Admission::kWouldWait) << "until the host is prepared";
  answerAll();
  write(table_, "4");
  writer_->beginFlush(false);
  EXPECT_EQ(written().back(), Rows{"4"});
  EXPECT_TRUE(hasSchema(calls_->last().writes.back().header, columns({"a", "b"})));
}

// BQW-164: answers repeat it until they have seen the columns in use.
TEST_F(DefaultStreamSchemaTest, TheSameColumnsAgainChangeNothing) {
  startFromTable();
  write(table_, "1");
  writer_->beginFlush(false);
  written();
  calls_->last().answer(acknowledgedWith(columns({"a"})));
  poll();
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
}

// BQW-164: a schema of the serializer's own is the serializer's to change.
TEST_F(DefaultStreamSchemaTest, ATableThatIsNotFollowedKeepsItsColumns) {
  options_.location = "us";
  start();
  write("1");
  writer_->beginFlush(false);
  written();
  calls_->last().answer(acknowledgedWith(columns({"c", "d"})));
  poll();
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kFlushHandler);
  EXPECT_EQ(writer_->schemaOf(first_)->columns.size(), 1U);
}

// BQW-164, BQW-072: news that come in a repair wait for its end.
TEST_F(DefaultStreamSchemaTest, NewColumnsDuringARepairComeAfterIt) {
  startFromTable();
  write(table_, "1");
  write(table_, "2");
  write(table_, "3");
  ASSERT_EQ(written().size(), 2U);
  calls_->last().refuse(absl::StatusCode::kFailedPrecondition, StorageErrorCode::kStreamFinalized);
  calls_->last().answer(acknowledgedWith(columns({"a", "b"})));
  poll();
  EXPECT_EQ(written().back(), Rows{"1"}) << "the repair sends it as it was laid out";
  EXPECT_TRUE(writer_->questions().empty());
  calls_->last().acknowledge();
  written();
  calls_->last().acknowledge();
  poll();
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kNewSchema);
}

// BQW-164: the service may say it once a connection, to whoever appends next.
TEST_F(DefaultStreamSchemaTest, EveryWriterOfTheTableIsTold) {
  startFromTable();
  DefaultStreamWriter::Dependencies dependencies;
  dependencies.pool = pool_;
  dependencies.admin = admin_;
  dependencies.clock = &clock_;
  dependencies.random = base::seededRandom(3);
  dependencies.metrics = std::make_shared<base::MetricGroup>();
  const auto other = *DefaultStreamWriter::create(options_, std::move(dependencies));
  DestinationSetup setup;
  setup.table = {"p", "d", "followed"};
  setup.followTable = true;
  const auto id = *other->registerDestination(std::move(setup));
  WriteStreamInfo info;
  info.location = "us";
  info.schema = columns({"a"});
  admin_->answerStream(info);
  other->poll();
  write(table_, "1");
  writer_->beginFlush(false);
  written();
  calls_->last().answer(acknowledgedWith(columns({"a", "b"})));
  other->poll();
  ASSERT_EQ(other->questions().size(), 1U);
  EXPECT_EQ(other->questions()[0].kind, connector::Question::Kind::kNewSchema);
  EXPECT_EQ(other->schemaOf(id)->columns.size(), 2U);
}

// BQW-090, BQW-166: what happened to the table while nothing was open is asked for.
TEST_F(DefaultStreamSchemaTest, ATableThatIsOpenedAgainIsReadAgain) {
  options_.defaultStreamOptions.destinationIdleTimeout = std::chrono::seconds(1);
  startFromTable();
  write(table_, "1");
  const auto flush = [this] {
    writer_->beginFlush(false);
    written();
    if (gauge("inFlightBatches") > 0) calls_->last().acknowledge();
    poll();
    answerAll();
    ASSERT_EQ(poll().state, State::kDone);
  };
  flush();
  EXPECT_EQ(admin_->lookUps.size(), 1U);
  clock_.advance(std::chrono::seconds(2));
  flush();
  ASSERT_EQ(gauge("openDestinations"), 0);
  write(table_, "2");
  ASSERT_EQ(admin_->lookUps.size(), 2U);
  EXPECT_TRUE(admin_->lookUps[1].fullView);
  WriteStreamInfo info;
  info.location = "us";
  info.schema = columns({"a", "b"});
  admin_->answerStream(info);
  poll();
  EXPECT_EQ(written().back(), Rows{"2"}) << "as it was laid out";
  EXPECT_TRUE(hasSchema(calls_->last().writes.back().header, columns({"a"})));
  calls_->last().acknowledge();
  poll();
  ASSERT_EQ(writer_->questions().size(), 1U);
  EXPECT_EQ(writer_->questions()[0].kind, connector::Question::Kind::kNewSchema);
}

// BQW-164
TEST_F(DefaultStreamSchemaTest, ColumnsOfAnUnknownTypeAreSaidAndNotUsed) {
  startFromTable();
  std::string said;
  base::setLogHook([&](base::LogLevel, std::string_view message) { said = message; });
  write(table_, "1");
  writer_->beginFlush(false);
  written();
  AppendResponse response;
  auto proto = schemaToProto(columns({"a", "b"}));
  using Field = google::cloud::bigquery::storage::v1::TableFieldSchema;
  proto.mutable_fields(1)->set_type(static_cast<Field::Type>(99));
  response.updatedSchema = proto.SerializeAsString();
  calls_->last().answer(std::move(response));
  poll();
  base::setLogHook({});
  EXPECT_THAT(said, HasSubstr("p.d.followed"));
  EXPECT_EQ(writer_->schemaOf(table_)->columns.size(), 1U);
  EXPECT_TRUE(answerAll().empty());
}

// BQW-164
TEST_F(DefaultStreamSchemaTest, AHostThatCannotPrepareForNewColumnsFailsTheWriter) {
  startFromTable();
  write(table_, "1");
  writer_->beginFlush(false);
  written();
  calls_->last().answer(acknowledgedWith(columns({"a", "b"})));
  poll();
  answerAll(absl::InvalidArgumentError("no plan for column b"));
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(std::string(base::messageOf(poll().status)), HasSubstr("no plan for column b"));
}

// BQW-163, BQW-025: the host's own columns change.
TEST_F(DefaultStreamSchemaTest, RowsWrittenBeforeAChangeKeepTheirColumns) {
  options_.location = "us";
  start();
  write("1");
  writer_->changeSchema(first_, columns({"c", "d"}), {});
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  ASSERT_THAT(written(), ElementsAre(Rows{"1"}));
  EXPECT_THAT(calls_->last().writes[0].header, HasSubstr("descriptor of t1"));
  calls_->last().acknowledge();
  poll();
  EXPECT_TRUE(writer_->questions().empty()) << "the host knows";
  ASSERT_EQ(writer_->admit(first_), Admission::kAccepted);
  write("2");
  writer_->beginFlush(false);
  EXPECT_EQ(written().back(), Rows{"2"});
  EXPECT_TRUE(hasSchema(calls_->last().writes.back().header, columns({"c", "d"})));
}

// BQW-163: before the first row, while the stream is being opened, there is nothing to await.
TEST_F(DefaultStreamSchemaTest, AChangeBeforeAnythingIsSentTakesHoldAtOnce) {
  options_.location = "us";
  start();
  writer_->changeSchema(first_, columns({"x"}), {});
  write("1");
  writer_->beginFlush(false);
  ASSERT_EQ(written().size(), 1U);
  EXPECT_TRUE(hasSchema(calls_->last().writes[0].header, columns({"x"})));
}

// BQW-163: columns that no descriptor can be made of end the writer and name the table.
TEST_F(DefaultStreamSchemaTest, ColumnsThatCannotBeLaidOutFailTheWriter) {
  options_.location = "us";
  start();
  writer_->changeSchema(first_, columns({"x", "X"}), {});
  EXPECT_EQ(poll().state, State::kFailed);
  EXPECT_THAT(std::string(base::messageOf(poll().status)), HasSubstr("p.d.t1"));
}

}  // namespace
}  // namespace penstock::bigquery
