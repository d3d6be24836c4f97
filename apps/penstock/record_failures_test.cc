#include "apps/penstock/record_failures.h"

#include <gmock/gmock.h>

#include "apps/penstock/testing/memory_file.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

connector::FailedRecord badRecord() {
  connector::FailedRecord failure;
  failure.connector = "bigquery";
  failure.destination = "p.d.t";
  failure.errorMessage = "'n' is not a number";
  failure.origin = "a.jsonl line 3";
  return failure;
}

TEST(RecordFailures, TheFirstOneEndsTheLoadNamingFileAndLine) {
  MemoryFile out;
  MemoryFile error;
  Console console(out.file(), error.file(), false);
  RecordFailures failures(OnError::kFail, console);
  EXPECT_FALSE(failures.endedLoad());
  const absl::Status status = failures.makeHandler()->handle(badRecord());
  EXPECT_THAT(
      std::string(base::messageOf(status)),
      AllOf(HasSubstr("a.jsonl line 3: 'n' is not a number"), HasSubstr("--on-error drop")));
  EXPECT_TRUE(failures.endedLoad());
  EXPECT_EQ(failures.dropped(), 0U);
}

TEST(RecordFailures, DroppedOnesAreCountedAndTheFirstFewShown) {
  MemoryFile out;
  MemoryFile error;
  Console console(out.file(), error.file(), false);
  RecordFailures failures(OnError::kDrop, console);
  const auto one = failures.makeHandler();
  const auto other = failures.makeHandler();
  for (int record = 0; record < 50; ++record) {
    EXPECT_TRUE((record % 2 == 0 ? one : other)->handle(badRecord()).ok());
  }
  EXPECT_EQ(failures.dropped(), 50U);
  EXPECT_FALSE(failures.endedLoad());
  const std::string shown = error.contents();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 11) << shown;
  EXPECT_THAT(shown, HasSubstr("dropped: a.jsonl line 3: 'n' is not a number"));
  EXPECT_THAT(shown, HasSubstr("only counted"));
}

TEST(RecordFailures, OfARecordThatNeverBecameARowTheCauseIsShown) {
  connector::FailedRecord failure = badRecord();
  failure.errorMessage = "serialization failed: root.n: not a number";
  failure.cause = absl::InvalidArgumentError("root.n: not a number");
  EXPECT_EQ(describeFailure(failure), "a.jsonl line 3: root.n: not a number");
  failure.payload = "bytes";
  EXPECT_EQ(describeFailure(failure), "a.jsonl line 3: serialization failed: root.n: not a number");
}

TEST(RecordFailures, WithoutAnOriginTheDestinationIsNamed) {
  connector::FailedRecord failure = badRecord();
  failure.origin.clear();
  EXPECT_EQ(describeFailure(failure), "p.d.t: 'n' is not a number");
}

TEST(RecordFailures, ARowRefusedLaterIsPlacedByItsOrigin) {
  class Origins final : public runtime::RecordOrigins {
   public:
    std::string describe(const runtime::RecordBatch&, size_t) const override { return {}; }
    std::function<std::string(size_t)> describeLater(const runtime::RecordBatch&) const override {
      return [](size_t index) { return fmt::format("a.jsonl line {}", index + 1); };
    }
  };
  const Origins origins;
  runtime::RecordBatch batch;
  batch.origins = &origins;
  const auto places = std::make_shared<RowPlaces>();
  connector::FailedRecord failure = badRecord();
  failure.origin.clear();
  failure.rowOrigin = connector::advanced(places->add(batch), 16);
  MemoryFile out;
  MemoryFile error;
  Console console(out.file(), error.file(), false);
  RecordFailures failures(OnError::kFail, console);
  const absl::Status status = failures.makeHandler(places)->handle(failure);
  EXPECT_THAT(std::string(base::messageOf(status)), HasSubstr("a.jsonl line 17: "));
}

}  // namespace
}  // namespace penstock::command
