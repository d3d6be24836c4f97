#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <string>

#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/emulator/testing/local_emulator.h"
#include "penstock/gcp/http_client.h"

namespace penstock {
namespace {

using bigquery::BigQuerySink;
using bigquery::ColumnType;
using bigquery::JsonDocumentSerializationSchema;
using bigquery::TableName;
using bigquery::TableSchema;

TableSchema people() {
  TableSchema schema;
  schema.columns = {{"name", ColumnType::kString}, {"n", ColumnType::kInt64}};
  schema.columns[0].maxLength = 10;
  return schema;
}

/// Counts what it is given and drops it.
class CountingHandler final : public connector::FailureHandler {
 public:
  explicit CountingHandler(std::vector<connector::FailedRecord>& seen) : seen_(seen) {}
  absl::Status handle(const connector::FailedRecord& failure) override {
    seen_.push_back(failure);
    return absl::OkStatus();
  }

 private:
  std::vector<connector::FailedRecord>& seen_;
};

class SinkEndToEnd : public testing::Test {
 protected:
  BigQuerySink<std::string_view>::Builder builder() {
    return BigQuerySink<std::string_view>::builder()
        .emulatorEndpoint(emulator_->grpcEndpoint())
        .emulatorRestEndpoint(emulator_->restEndpoint())
        .table("p.d.people")
        .failureHandler([this] { return std::make_unique<CountingHandler>(failures_); })
        .serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(people()); });
  }

  /// Rows have the table's own columns.
  BigQuerySink<std::string_view>::Builder readingTheTable(std::string_view table) {
    return builder().table(table).serializer(
        [] { return std::make_unique<JsonDocumentSerializationSchema>(); });
  }
  void makeTableOfOne() {
    auto sink = builder().build();
    auto writer = (*sink)->createWriter({});
    ASSERT_TRUE((*writer)->write(R"({"name":"a","n":1})", {}).ok());
    ASSERT_TRUE((*writer)->flush(true).ok());
  }

  int64_t rowCount(const std::string& table) {
    bigquery::SinkOptions options;
    options.emulatorEndpoint = *base::parseEndpoint("x", emulator_->grpcEndpoint());
    options.emulatorRestEndpoint = *base::parseEndpoint("x", emulator_->restEndpoint());
    auto connections = bigquery::connectSink(options);
    std::promise<int64_t> answer;
    connections->admin->getTable({"p", "d", table}, std::chrono::seconds(10),
                                 [&](bigquery::AdminError error, bigquery::TableInfo info) {
                                   answer.set_value(error.status.ok() ? info.numRows : -1);
                                 });
    return answer.get_future().get();
  }

  void patchTable(const std::string& table, const std::string& body) {
    gcp::HttpClient client({});
    gcp::HttpRequest request;
    request.method = "PATCH";
    request.url = fmt::format("http://{}/bigquery/v2/projects/p/datasets/d/tables/{}",
                              emulator_->restEndpoint(), table);
    request.headers = {"Content-Type: application/json"};
    request.body = body;
    request.withoutProxy = true;
    const auto response = client.sendAndWait(std::move(request));
    ASSERT_TRUE(response.ok()) << base::describe(response.status());
    ASSERT_EQ(response->code, 200) << response->body;
  }

  const std::unique_ptr<emulator::Emulator> emulator_ = emulator::startLocalEmulator();
  std::vector<connector::FailedRecord> failures_;
};

// BQW-020, 030, 040, 080, 151: a missing table is created and every row is there after the flush.
TEST_F(SinkEndToEnd, CreatesTheTableAndWritesEveryRow) {
  auto sink = builder().build();
  ASSERT_TRUE(sink.ok()) << base::describe(sink.status());
  auto writer = (*sink)->createWriter({});
  ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
  for (int i = 0; i < 20000; ++i) {
    const std::string row = fmt::format(R"({{"name":"r{}","n":{}}})", i, i);
    const absl::Status status = (*writer)->write(row, {});
    ASSERT_TRUE(status.ok()) << base::describe(status);
  }
  const absl::Status flushed = (*writer)->flush(true);
  ASSERT_TRUE(flushed.ok()) << base::describe(flushed);
  EXPECT_EQ(rowCount("people"), 20000);
  EXPECT_TRUE((*writer)->close().ok());
  EXPECT_TRUE(failures_.empty());
}

// BQW-076, BQW-078: the service's verdict on single rows; BQW-022: the serializer's.
TEST_F(SinkEndToEnd, HandsOverBadRowsAndKeepsTheOthers) {
  auto sink = builder().build();
  ASSERT_TRUE(sink.ok());
  auto writer = (*sink)->createWriter({});
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 100; ++i) {
    std::string row = fmt::format(R"({{"name":"r{}","n":{}}})", i, i);
    if (i == 17) row = R"({"name":"longer than ten characters"})";
    if (i == 23) row = R"({"n":"not a number"})";
    ASSERT_TRUE((*writer)->write(row, {}).ok());
  }
  ASSERT_TRUE((*writer)->flush(true).ok());
  EXPECT_EQ(rowCount("people"), 98);
  ASSERT_EQ(failures_.size(), 2U);
  EXPECT_FALSE(failures_[0].payload.has_value());  // never serialized
  EXPECT_TRUE(failures_[1].payload.has_value());
  EXPECT_EQ(failures_[1].destination, "p.d.people");
  EXPECT_TRUE((*writer)->close().ok());
}

// BQW-166: columns read from the table.
TEST_F(SinkEndToEnd, ReadsTheSchemaFromTheTable) {
  ASSERT_NO_FATAL_FAILURE(makeTableOfOne());
  auto sink = readingTheTable("p.d.people").build();
  auto writer = (*sink)->createWriter({});
  const absl::Status status = (*writer)->write(R"({"n":2})", {});
  ASSERT_TRUE(status.ok()) << base::describe(status);
  ASSERT_TRUE((*writer)->flush(true).ok());
  EXPECT_EQ(rowCount("people"), 2);

  auto missing = readingTheTable("p.d.nowhere").build();
  auto refused = (*missing)->createWriter({});
  const absl::Status why = (*refused)->write(R"({"n":2})", {});
  EXPECT_FALSE(why.ok());
  EXPECT_NE(base::messageOf(why).find("p.d.nowhere"), std::string_view::npos);
  EXPECT_NE(base::messageOf(why).find("create"), std::string_view::npos);
}

// BQW-164, BQW-166: a column is added to the table while a writer runs, and used without a restart.
TEST_F(SinkEndToEnd, UsesAColumnAddedFromOutside) {
  ASSERT_NO_FATAL_FAILURE(makeTableOfOne());
  auto sink = readingTheTable("p.d.people").build();
  auto writer = (*sink)->createWriter({});
  ASSERT_TRUE((*writer)->write(R"({"n":2})", {}).ok());
  ASSERT_TRUE((*writer)->flush(false).ok());
  patchTable("people", R"({"schema":{"fields":[{"name":"name","type":"STRING","maxLength":"10"},
      {"name":"n","type":"INTEGER"},{"name":"city","type":"STRING"}]}})");
  ASSERT_TRUE((*writer)->write(R"({"n":3})", {}).ok());
  ASSERT_TRUE((*writer)->flush(false).ok()) << "its acknowledgement says so";
  const absl::Status status = (*writer)->write(R"({"n":4,"city":"Ulm"})", {});
  ASSERT_TRUE(status.ok()) << base::describe(status);
  ASSERT_TRUE((*writer)->flush(true).ok());
  EXPECT_EQ(rowCount("people"), 4);
  EXPECT_TRUE(failures_.empty()) << failures_[0].errorMessage;
}

// BQW-081: rows become visible without a checkpoint.
TEST_F(SinkEndToEnd, ATimerMakesRowsVisibleWithoutACheckpoint) {
  bigquery::DefaultStreamOptions options;
  options.flushInterval = std::chrono::milliseconds(20);
  auto sink = builder().defaultStreamOptions(options).build();
  auto writer = (*sink)->createWriter({});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int written = 0;
  while (rowCount("people") <= 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << written;
    ASSERT_TRUE((*writer)->write(R"({"n":1})", {}).ok());
    ++written;
  }
}

}  // namespace
}  // namespace penstock
