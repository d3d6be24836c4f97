#include <gtest/gtest.h>

#include "penstock/base/testing/heap_in_use.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/bigquery/sink/testing/threaded_service.h"

namespace penstock::bigquery {
namespace {

using base::heapInUse;

constexpr size_t kTables = 2000;

/// Columns as an event log has them, a STRUCT among them.
TableSchema twentyColumns() {
  TableSchema schema;
  for (int column = 0; column < 16; ++column) {
    schema.columns.push_back({.name = fmt::format("an_ordinary_column_name_{}", column),
                              .type = column % 2 == 0 ? ColumnType::kString : ColumnType::kInt64});
  }
  Column place{.name = "place", .type = ColumnType::kStruct};
  place.fields = {{.name = "latitude", .type = ColumnType::kDouble},
                  {.name = "longitude", .type = ColumnType::kDouble},
                  {.name = "country", .type = ColumnType::kString}};
  schema.columns.push_back(std::move(place));
  return schema;
}

/// One table after another.
class EachTable final : public connector::DestinationResolver<std::string_view, TableName> {
 public:
  absl::StatusOr<connector::Resolution<TableName>> resolve(
      const std::string_view&, const connector::WriteContext&) override {
    table_ = {"project", "dataset", fmt::format("events_of_customer_{}", next_++ % kTables)};
    return connector::Resolution<TableName>(&table_);
  }

 private:
  TableName table_;
  size_t next_ = 0;
};

// A table that has had rows and has none now costs less than 16 KiB, everything included: its
// state, its schema and descriptor, the serializer's plan, the pool's knowledge of it, its share of
// the chunks that wait for further rows.
TEST(BigQuerySinkMemory, AnIdleTableIsSmall) {
  const auto service = std::make_shared<ThreadedService>(ThreadedService::Behaviour{});
  SinkConnections connections;
  connections.pool = AppendPool::create(service, base::systemClock(), base::seededRandom(1));
  connections.admin = service;
  connections.clock = &base::systemClock();
  const auto sink = BigQuerySink<std::string_view>::builder()
                        .destinationResolver([] { return std::make_unique<EachTable>(); })
                        .serializer([] {
                          return std::make_unique<JsonDocumentSerializationSchema>(twentyColumns());
                        })
                        .location("us")
                        .connections(connections)
                        .build();
  ASSERT_TRUE(sink.ok()) << base::describe(sink.status());
  const auto writer = (*sink)->createWriter({});
  ASSERT_TRUE(writer.ok());
  const int64_t before = heapInUse();
  for (size_t table = 0; table < kTables; ++table) {
    ASSERT_TRUE((*writer)->write(R"({"an_ordinary_column_name_1": 5})", {}).ok());
  }
  ASSERT_TRUE((*writer)->flush(false).ok());
  ASSERT_TRUE((*writer)->flush(false).ok());
  const int64_t perTable = (heapInUse() - before) / static_cast<int64_t>(kTables);
  RecordProperty("bytes_per_idle_table", static_cast<int>(perTable));
  std::printf("%d bytes for each idle table\n", static_cast<int>(perTable));
  EXPECT_LT(perTable, int64_t{16} << 10);
  EXPECT_GT(perTable, 1000) << "or this measures nothing";
  ASSERT_TRUE((*writer)->close().ok());
}

}  // namespace
}  // namespace penstock::bigquery
