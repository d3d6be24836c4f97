#include "penstock/bigquery/schema/schema_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/schema_json_value.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TableSchema parsedSchema(std::string_view text) {
  auto schema = parseSchemaJson(text);
  EXPECT_TRUE(schema.ok()) << base::describe(schema.status());
  return schema.ok() ? *schema : TableSchema{};
}

std::string refusal(std::string_view text) {
  const auto schema = parseSchemaJson(text);
  if (schema.ok()) return "accepted";
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(base::messageOf(schema.status()));
}

TEST(SchemaJson, ReadsAllThreeForms) {  // BQT-003
  const TableSchema expected{{{.name = "id", .type = ColumnType::kInt64}}};
  EXPECT_EQ(parsedSchema(R"([{"name": "id", "type": "INTEGER"}])"), expected);
  EXPECT_EQ(parsedSchema(R"({"fields": [{"name": "id", "type": "INTEGER"}]})"), expected);
  EXPECT_EQ(parsedSchema(R"({"kind": "bigquery#table", "etag": "x", "numRows": "3", "schema":
                       {"fields": [{"name": "id", "type": "INTEGER", "mode": "NULLABLE"}]},
                       "tableReference": {"projectId": "p"}, "type": "TABLE"})"),
            expected);
  EXPECT_EQ(parsedSchema("\xEF\xBB\xBF[{\"name\": \"id\", \"type\": \"INTEGER\"}]"), expected);
}

TEST(SchemaJson, KnowsLegacyAndStandardTypeNamesInAnyCase) {  // BQT-003
  const std::pair<const char*, ColumnType> kNames[] = {
      {"STRING", ColumnType::kString},     {"INTEGER", ColumnType::kInt64},
      {"INT64", ColumnType::kInt64},       {"FLOAT", ColumnType::kDouble},
      {"FLOAT64", ColumnType::kDouble},    {"DOUBLE", ColumnType::kDouble},
      {"BOOLEAN", ColumnType::kBool},      {"BOOL", ColumnType::kBool},
      {"BYTES", ColumnType::kBytes},       {"TIMESTAMP", ColumnType::kTimestamp},
      {"DATE", ColumnType::kDate},         {"TIME", ColumnType::kTime},
      {"DATETIME", ColumnType::kDatetime}, {"GEOGRAPHY", ColumnType::kGeography},
      {"NUMERIC", ColumnType::kNumeric},   {"BIGNUMERIC", ColumnType::kBignumeric},
      {"INTERVAL", ColumnType::kInterval}, {"JSON", ColumnType::kJson},
      {"integer", ColumnType::kInt64},     {"Timestamp", ColumnType::kTimestamp},
  };
  for (const auto& [name, type] : kNames) {
    const auto schema = parsedSchema(fmt::format(R"([{{"name": "x", "type": "{}"}}])", name));
    ASSERT_EQ(schema.columns.size(), 1U) << name;
    EXPECT_EQ(schema.columns[0].type, type) << name;
  }
  for (const char* name : {"RECORD", "STRUCT", "struct"}) {
    const auto schema = parsedSchema(fmt::format(
        R"([{{"name": "x", "type": "{}", "fields": [{{"name": "y", "type": "BOOL"}}]}}])", name));
    ASSERT_EQ(schema.columns.size(), 1U) << name;
    EXPECT_EQ(schema.columns[0].type, ColumnType::kStruct) << name;
    EXPECT_EQ(schema.columns[0].fields[0].name, "y");
  }
}

TEST(SchemaJson, KeepsEveryAttributeAndPassesOverOthers) {  // BQT-003
  const TableSchema schema = parsedSchema(R"([
    {"name": "n", "type": "NUMERIC", "precision": "10", "scale": 2, "mode": "required",
     "policyTags": {"names": ["a"]}, "collation": "und:ci", "description": null},
    {"name": "s", "type": "STRING", "maxLength": "20", "description": "who",
     "defaultValueExpression": "'x'", "mode": null},
    {"name": "r", "type": "RANGE", "rangeElementType": {"type": "DATE"}, "mode": "Repeated"},
    {"name": "q", "type": "RANGE", "rangeElementType": "TIMESTAMP"},
    {"name": "t", "type": "TIMESTAMP", "timestampPrecision": "12"}])");
  const TableSchema expected{{
      {.name = "n",
       .type = ColumnType::kNumeric,
       .mode = ColumnMode::kRequired,
       .precision = 10,
       .scale = 2},
      {.name = "s",
       .type = ColumnType::kString,
       .maxLength = 20,
       .description = "who",
       .defaultValueExpression = "'x'"},
      {.name = "r",
       .type = ColumnType::kRange,
       .mode = ColumnMode::kRepeated,
       .rangeElementType = ColumnType::kDate},
      {.name = "q", .type = ColumnType::kRange, .rangeElementType = ColumnType::kTimestamp},
      {.name = "t", .type = ColumnType::kTimestamp, .timestampPrecision = 12},
  }};
  EXPECT_EQ(schema, expected);
  EXPECT_EQ(parsedSchema(schemaToJson(schema)), expected);  // lossless
  EXPECT_EQ(parsedSchema(schemaToJson(schema, 2)), expected);
}

TEST(SchemaJson, WritesTheFormOfTheRestApi) {  // BQT-003
  const TableSchema schema{{
      {.name = "id", .type = ColumnType::kInt64, .mode = ColumnMode::kRequired},
      {.name = "a",
       .type = ColumnType::kStruct,
       .mode = ColumnMode::kRepeated,
       .fields = {{.name = "f", .type = ColumnType::kDouble},
                  {.name = "b", .type = ColumnType::kBool}}},
      {.name = "n", .type = ColumnType::kNumeric, .precision = 10, .scale = 2},
  }};
  EXPECT_EQ(schemaToJsonValue(schema), nlohmann::json::parse(R"({"fields": [
      {"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
      {"name": "a", "type": "RECORD", "mode": "REPEATED", "fields": [
        {"name": "f", "type": "FLOAT", "mode": "NULLABLE"},
        {"name": "b", "type": "BOOLEAN", "mode": "NULLABLE"}]},
      {"name": "n", "type": "NUMERIC", "mode": "NULLABLE", "precision": "10", "scale": "2"}]})"));
}

TEST(SchemaJson, NamesTheColumnByItsPathInErrors) {  // BQT-003
  EXPECT_THAT(
      refusal(R"([{"name": "a", "type": "RECORD", "fields": [
                          {"name": "b", "type": "VARCHAR"}]}])"),
      AllOf(HasSubstr("\"a.b\""), HasSubstr("unknown type \"VARCHAR\""), HasSubstr("STRING")));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "STRING"}, {"name": "b"}])"),
              AllOf(HasSubstr("\"b\""), HasSubstr("no \"type\"")));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "STRING", "mode": "OPTIONAL"}])"),
              AllOf(HasSubstr("\"a\""), HasSubstr("\"OPTIONAL\""), HasSubstr("REPEATED")));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "RECORD", "fields": [{"type": "STRING"}]}])"),
              HasSubstr("column 1 of \"a\" has no \"name\""));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "RECORD", "fields": ["b"]}])"),
              HasSubstr("column 1 of \"a\" is not a JSON object"));
  EXPECT_THAT(refusal(R"~([{"name": "a", "type": "NUMERIC(10,2)"}])~"), HasSubstr("\"precision\""));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "ARRAY<INT64>"}])"), HasSubstr("REPEATED"));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": 5}])"), HasSubstr("must be a string, and is 5"));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "RECORD", "fields": {}}])"),
              HasSubstr("\"fields\" must be an array"));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "STRING", "maxLength": "x"}])"),
              AllOf(HasSubstr("\"maxLength\""), HasSubstr("\"x\"")));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "STRING", "maxLength": 0}])"), HasSubstr("from 1"));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "NUMERIC", "precision": 1.5}])"), HasSubstr("1.5"));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "RANGE", "rangeElementType": {}}])"),
              HasSubstr("rangeElementType has no \"type\""));
}

TEST(SchemaJson, PointsOutAttributesThatWouldBeOverlooked) {
  EXPECT_THAT(refusal(R"([{"Name": "a", "type": "STRING"}])"),
              AllOf(HasSubstr("\"Name\""), HasSubstr("write \"name\"")));
  EXPECT_THAT(refusal(R"([{"name": "a", "type": "STRING", "max_length": 5}])"),
              HasSubstr("write \"maxLength\""));
}

TEST(SchemaJson, SaysWhereJsonIsBroken) {
  EXPECT_THAT(refusal("[\n  {\"name\": \"a\" \"type\": \"STRING\"}]"),
              AllOf(HasSubstr("not valid JSON: line 2"), Not(HasSubstr("json.exception"))));
  EXPECT_THAT(refusal(""), HasSubstr("only blank space"));
  EXPECT_THAT(refusal(" \n"), HasSubstr("only blank space"));
  EXPECT_THAT(refusal("id:INTEGER,name:STRING"), HasSubstr("not valid JSON"));
  for (const char* other : {"{}", "5", "null", "\"x\"", R"({"schema": null})", R"({"fields": 5})",
                            R"({"schema": {"schema": 5}})"}) {
    EXPECT_THAT(refusal(other), HasSubstr("holds no schema")) << other;
  }
  EXPECT_THAT(refusal("[]"), HasSubstr("no columns"));  // BQT-051
}

TEST(SchemaJson, SurvivesAbsurdNesting) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += R"([{"name":"a","type":"RECORD","fields":)";
  EXPECT_THAT(refusal(text), HasSubstr("not valid JSON"));
  text += "[]";
  for (int i = 0; i < 20'000; ++i) text += "}]";
  EXPECT_THAT(refusal(text), HasSubstr("more than 15 levels"));
}

}  // namespace
}  // namespace penstock::bigquery
