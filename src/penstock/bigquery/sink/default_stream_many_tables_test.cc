#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/writer_fixture.h"

// Rows that go to several tables in turn: what is remembered of each, so that its next row need not
// ask, is forgotten when something else happens to it.
namespace penstock::bigquery {
namespace {

using testing::ElementsAre;

class DefaultStreamManyTablesTest : public WriterTest {
 protected:
  void SetUp() override { options_.location = "us"; }
  void startBoth() {
    start();
    second_ = add("t2");
    writeInTurn({"1", "2", "3"});
  }
  void writeInTurn(const Rows& rows) {
    for (const std::string& row : rows) {
      write(first_, "a" + row);
      write(second_, "b" + row);
    }
  }
  connector::DestinationId second_{};
};

// BQW-030: each table's rows go into requests of its own, in order.
TEST_F(DefaultStreamManyTablesTest, EachTableHasItsOwnRows) {
  options_.defaultStreamOptions.maxAppendRequestBytes = 6;
  startBoth();
  writeInTurn({"4", "5"});
  writer_->beginFlush(false);
  EXPECT_THAT(written(), ElementsAre(Rows{"a1", "a2", "a3"}, Rows{"b1", "b2", "b3"},
                                     Rows{"a4", "a5"}, Rows{"b4", "b5"}));
}

// BQW-163
TEST_F(DefaultStreamManyTablesTest, AChangeOfColumnsStopsOneTable) {
  startBoth();
  writer_->changeSchema(first_, TableSchema{{{"d", ColumnType::kString}}}, {});
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait);
  write(second_, "b4");
  EXPECT_THAT(written(), ElementsAre(Rows{"a1", "a2", "a3"}));
  calls_->last().acknowledge();
  poll();
  writeInTurn({"5"});
  writer_->beginFlush(false);
  EXPECT_THAT(written(), ElementsAre(Rows{"a5"}, Rows{"b1", "b2", "b3", "b4", "b5"}))
      << "on a connection of their own: nobody else had sent on the first";
}

// BQW-076
TEST_F(DefaultStreamManyTablesTest, RefusedRowsStopOneTable) {
  options_.defaultStreamOptions.maxAppendRequestBytes = 6;
  startBoth();
  write(first_, "a4");  // the first three go
  ASSERT_THAT(written(), ElementsAre(Rows{"a1", "a2", "a3"}));
  write(first_, "a5");
  refuseRows({1});
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kWouldWait) << "until the host has decided";
  write(second_, "b4");
  EXPECT_EQ(answerAll().size(), 1U);
  EXPECT_THAT(written(),
              ElementsAre(Rows{"a1", "a2", "a3"}, Rows{"b1", "b2", "b3"}, Rows{"a1", "a3"}));
}

// BQW-033: a batch that the bound has sent is no longer written to.
TEST_F(DefaultStreamManyTablesTest, ABatchThatWasSentGetsNoMoreRows) {
  options_.maxBufferedBytes = 1000;
  startBoth();
  write(first_, std::string(500, 'x'));
  write(second_, std::string(390, 'y'));
  ASSERT_EQ(written().size(), 1U) << "the larger one";
  EXPECT_EQ(written()[0].size(), 4U);
  calls_->last().acknowledge();
  poll();
  writeInTurn({"4"});
  writer_->beginFlush(false);
  EXPECT_THAT(written()[1], ElementsAre("a4"));
  EXPECT_THAT(written()[2], ElementsAre("b1", "b2", "b3", std::string(390, 'y'), "b4"));
}

// BQW-020
TEST_F(DefaultStreamManyTablesTest, AnErrorStopsEveryTable) {
  options_.createDisposition = CreateDisposition::kCreateNever;
  startBoth();
  writer_->cancel();
  poll();
  EXPECT_EQ(writer_->admit(first_), Admission::kFailed);
  EXPECT_EQ(writer_->admit(second_), Admission::kFailed);
}

}  // namespace
}  // namespace penstock::bigquery
