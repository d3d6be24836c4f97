#include <gmock/gmock.h>

#include "penstock/bigquery/sink/testing/writer_fixture.h"

namespace penstock::bigquery {
namespace {

using testing::StartsWith;

/// A table that came up with a record: what is said when it is missing for good begins with the
/// record's place.
class MissingTableTest : public WriterTest {
 protected:
  connector::DestinationId addFrom(const std::string& origin, std::optional<TableSchema> schema) {
    DestinationSetup setup;
    setup.table = {"p", "d", "of_record"};
    setup.schema = std::move(schema);
    setup.followTable = !setup.schema.has_value();
    setup.origin = origin;
    return *writer_->registerDestination(std::move(setup));
  }
  void writeAndRefuse(connector::DestinationId table) {
    write(table, "row");
    writer_->beginFlush(false);
    written();
    calls_->last().refuse(absl::StatusCode::kNotFound);
  }
  std::string failure() {
    const connector::Progress progress = poll();
    EXPECT_EQ(progress.state, State::kFailed);
    return std::string(base::messageOf(progress.status));
  }

  const TableSchema columns_{{{"c", ColumnType::kString}}};
};

TEST_F(MissingTableTest, ThatCannotBeCreatedWithoutASchema) {  // BQW-166
  start();
  addFrom("a.jsonl line 2", std::nullopt);
  admin_->answerStream(absl::NotFoundError("no such table"));
  EXPECT_THAT(failure(), StartsWith("a.jsonl line 2: cannot read the schema of p.d.of_record"));
}

TEST_F(MissingTableTest, ThatMustNotBeCreated) {  // BQW-042, BQW-154
  options_.location = "us";
  options_.createDisposition = CreateDisposition::kCreateNever;
  start();
  writeAndRefuse(addFrom("a.jsonl line 2", columns_));
  EXPECT_THAT(failure(), StartsWith("a.jsonl line 2: append to p.d.of_record (AppendRows"));
}

TEST_F(MissingTableTest, WhoseCreationIsRefused) {  // BQW-152
  options_.location = "us";
  start();
  writeAndRefuse(addFrom("a.jsonl line 2", columns_));
  poll();
  ASSERT_EQ(admin_->creations.size(), 1U);
  admin_->answerCreation({absl::NotFoundError("no such dataset"), 404, "notFound"});
  EXPECT_THAT(failure(), StartsWith("a.jsonl line 2: cannot create table p.d.of_record"));
}

TEST_F(MissingTableTest, IsToldWithoutAPlaceWhenNoneIsKnown) {
  start();
  addFrom("", std::nullopt);
  admin_->answerStream(absl::NotFoundError("no such table"));
  EXPECT_THAT(failure(), StartsWith("cannot read the schema of p.d.of_record"));
}

// The place is that of the record which named the table: no other failure is that record's fault.
TEST_F(MissingTableTest, OtherFailuresAreNotBlamedOnTheRecord) {
  options_.location = "us";
  start();
  const auto table = addFrom("a.jsonl line 2", columns_);
  write(table, "row");
  writer_->beginFlush(false);
  written();
  calls_->last().refuse(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(failure(), StartsWith("append to p.d.of_record"));
}

}  // namespace
}  // namespace penstock::bigquery
