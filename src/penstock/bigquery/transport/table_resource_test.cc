#include "penstock/bigquery/transport/table_resource.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penstock::bigquery {
namespace {

using nlohmann::json;
using std::chrono_literals::operator""h;

const TableName kScopedTable{"example.com:project", "dataset", "table"};

TEST(TableResource, PathsAreEncoded) {
  EXPECT_EQ(tablesPath(kScopedTable),
            "/bigquery/v2/projects/example.com%3Aproject/datasets/dataset/tables");
  EXPECT_EQ(tablePath(kScopedTable),
            "/bigquery/v2/projects/example.com%3Aproject/datasets/dataset/tables/table");
}

TEST(TableResource, ANewTableCarriesItsSchemaAndNothingThatWasNotAsked) {  // BQW-151
  TableSchema schema;
  schema.columns.push_back(
      {.name = "id", .type = ColumnType::kInt64, .mode = ColumnMode::kRequired});
  const json resource = json::parse(newTableResource(kScopedTable, schema, {}));
  EXPECT_EQ(
      resource["tableReference"],
      json({{"projectId", "example.com:project"}, {"datasetId", "dataset"}, {"tableId", "table"}}));
  EXPECT_EQ(resource["schema"]["fields"][0]["name"], "id");
  EXPECT_EQ(resource["schema"]["fields"][0]["mode"], "REQUIRED");
  EXPECT_FALSE(resource.contains("timePartitioning"));
  EXPECT_FALSE(resource.contains("clustering"));
}

TEST(TableResource, ANewTableCarriesPartitioningAndClustering) {
  const json resource = json::parse(newTableResource(kScopedTable, {},
                                                     {.timePartitioningType = "DAY",
                                                      .timePartitioningField = "day",
                                                      .timePartitioningExpiration = 48h,
                                                      .clusteredFields = {"a", "b"}}));
  EXPECT_EQ(resource["timePartitioning"],
            json({{"type", "DAY"}, {"field", "day"}, {"expirationMs", "172800000"}}));
  EXPECT_EQ(resource["clustering"], json({{"fields", {"a", "b"}}}));
}

TEST(TableResource, ReadsATable) {
  const absl::StatusOr<TableInfo> table = parseTableResource(R"({
    "etag": "e1", "type": "TABLE", "location": "EU", "numRows": "12345678901", "numBytes": 17,
    "schema": {"fields": [{"name": "x", "type": "STRING", "collation": "und:ci"}]}})");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->etag, "e1");
  EXPECT_EQ(table->type, "TABLE");
  EXPECT_EQ(table->location, "EU");
  EXPECT_EQ(table->numRows, 12345678901);
  EXPECT_EQ(table->numBytes, 17);
  ASSERT_EQ(table->schema.columns.size(), 1u);
  EXPECT_EQ(table->schema.columns[0].name, "x");
  EXPECT_EQ(table->schemaJson,  // BQW-162: with what the schema itself does not hold
            R"({"fields":[{"collation":"und:ci","name":"x","type":"STRING"}]})");
}

TEST(TableResource, ATableWithoutColumnsHasAnEmptySchema) {
  for (const char* text : {"{}", R"({"schema": {}})", R"({"schema": {"fields": []}})"}) {
    const absl::StatusOr<TableInfo> table = parseTableResource(text);
    ASSERT_TRUE(table.ok()) << text;
    EXPECT_TRUE(table->schema.columns.empty());
  }
}

TEST(TableResource, WhatIsNoTableIsAnError) {
  for (const char* text : {"", "[]", "<html>", R"({"schema": {"fields": [{}]}})"}) {
    EXPECT_FALSE(parseTableResource(text).ok()) << text;
  }
}

}  // namespace
}  // namespace penstock::bigquery
