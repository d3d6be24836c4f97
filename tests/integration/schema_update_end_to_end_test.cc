// Writers that change the columns of their tables, against the emulator.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

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
using nlohmann::json;
using testing::UnorderedElementsAreArray;

TableSchema columns(const std::vector<std::string>& names) {
  TableSchema schema;
  for (const std::string& name : names) schema.columns.push_back({name, ColumnType::kString});
  return schema;
}

/// JSON documents whose columns grow: the schema is whatever it is now.
class GrowingSchema final : public bigquery::BigQueryProtoSerializationSchema<std::string_view> {
 public:
  explicit GrowingSchema(const std::vector<std::string>& names) : names_(names) {}
  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) override {
    return columns(names_);
  }
  std::optional<uint64_t> schemaFingerprint(const TableName&) override { return names_.size(); }
  absl::Status prepare(connector::DestinationId destination, const TableName& table,
                       const TableSchema* columns) override {
    documents_ = std::make_unique<JsonDocumentSerializationSchema>(*columns);
    return documents_->prepare(destination, table, columns);
  }
  absl::StatusOr<bigquery::Serialized> serialize(const std::string_view& record,
                                                 connector::DestinationId destination,
                                                 connector::RowEncoder& row) override {
    return documents_->serialize(record, destination, row);
  }

 private:
  const std::vector<std::string>& names_;
  std::unique_ptr<JsonDocumentSerializationSchema> documents_;
};

class SchemaUpdateEndToEnd : public testing::Test {
 protected:
  using Sink = BigQuerySink<std::string_view>;

  std::unique_ptr<Sink> makeSink(Sink::SerializerFactory serializer) {
    auto sink = Sink::builder()
                    .emulatorEndpoint(emulator_->grpcEndpoint())
                    .emulatorRestEndpoint(emulator_->restEndpoint())
                    .table("p.d.t")
                    .schemaUpdateOptions({.allowNewFields = true})
                    .serializer(std::move(serializer))
                    .build();
    EXPECT_TRUE(sink.ok()) << base::describe(sink.status());
    return sink.ok() ? *std::move(sink) : nullptr;
  }
  std::unique_ptr<Sink> makeSink(const std::vector<std::string>& names) {
    return makeSink(
        [names] { return std::make_unique<JsonDocumentSerializationSchema>(columns(names)); });
  }
  json get(const std::string& path) {
    gcp::HttpClient client({});
    gcp::HttpRequest request;
    request.url = fmt::format("http://{}/bigquery/v2/projects/p/datasets/d/tables/t{}",
                              emulator_->restEndpoint(), path);
    request.withoutProxy = true;
    const auto response = client.sendAndWait(std::move(request));
    return json::parse(response.ok() ? response->body : "", nullptr, false);
  }
  std::vector<std::string> columnNames() {
    std::vector<std::string> names;
    const json table = get("");
    for (const json& field : table["schema"]["fields"]) names.push_back(field["name"]);
    return names;
  }

  const std::unique_ptr<emulator::Emulator> emulator_ = emulator::startLocalEmulator();
};

void writeAll(connector::SinkWriter<std::string_view>& writer, const std::string& row, int count) {
  for (int i = 0; i < count; ++i) {
    const absl::Status status = writer.write(row, {});
    ASSERT_TRUE(status.ok()) << base::describe(status);
  }
  const absl::Status flushed = writer.flush(true);
  ASSERT_TRUE(flushed.ok()) << base::describe(flushed);
}

// BQW-160, scenario 24: each adds another column at the same time.
TEST_F(SchemaUpdateEndToEnd, WritersThatAddDifferentColumnsConverge) {
  constexpr int kWriters = 4;
  constexpr int kRows = 1000;
  {
    const auto sink = makeSink(std::vector<std::string>{"name"});
    writeAll(**sink->createWriter({}), R"({"name":"first"})", 1);
  }
  std::vector<std::string> expected = {"name"};
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    const std::string own = fmt::format("own{}", i);
    expected.push_back(own);
    threads.emplace_back([this, own] {
      const auto sink = makeSink(std::vector<std::string>{own, "name"});
      const auto writer = sink->createWriter({});
      ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
      writeAll(**writer, fmt::format(R"({{"name":"n","{0}":"{0}"}})", own), kRows);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(columnNames(), UnorderedElementsAreArray(expected));
  EXPECT_EQ(get("")["numRows"], std::to_string(kWriters * kRows + 1));
}

// BQW-163: a serializer's new columns are in the table before the rows that have them.
TEST_F(SchemaUpdateEndToEnd, ColumnsThatASerializerGainsAreAddedBeforeItsRows) {
  std::vector<std::string> names = {"a"};
  const auto sink = makeSink([&names] { return std::make_unique<GrowingSchema>(names); });
  const auto metrics = std::make_shared<base::MetricGroup>();
  const auto writer = sink->createWriter({.metrics = metrics});
  ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
  writeAll(**writer, R"({"a":"1"})", 3);
  for (const char* name : {"b", "c"}) {
    ASSERT_TRUE((*writer)->write(R"({"a":"before"})", {}).ok());
    names.emplace_back(name);
    writeAll(**writer, fmt::format(R"({{"a":"2","{}":"new"}})", name), 2);
  }
  EXPECT_EQ(columnNames(), names);
  EXPECT_EQ(get("")["numRows"], "9");
  size_t filled = 0;
  const json data = get("/data");
  for (const json& row : data["rows"]) {
    for (const json& value : row["f"]) filled += value["v"] == "new" ? 1 : 0;
  }
  EXPECT_EQ(filled, 4U);
  EXPECT_EQ(metrics->counter("schemaReconciliations").value(), 2U);
  EXPECT_EQ(metrics->counter("appendRetries").value(), 0U);
}

}  // namespace
}  // namespace penstock
