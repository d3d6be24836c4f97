#include "penstock/bigquery/schema/schema_fit.h"

#include <gmock/gmock.h>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/schema_json.h"

namespace penstock::bigquery {
namespace {

TableSchema schemaOf(std::string_view json) {
  absl::StatusOr<TableSchema> schema = parseSchemaJson(json);
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *schema;
}

/// What contradicts; empty if nothing does.
std::string misfit(std::string_view rows, std::string_view table) {
  return std::string(base::messageOf(checkSchemaFits(schemaOf(rows), schemaOf(table))));
}

TEST(SchemaFit, TakesWhatTheTableTakes) {  // BQW-166
  constexpr std::string_view kTable =
      R"([{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"Name","type":"STRING"},
          {"name":"price","type":"NUMERIC","precision":10,"scale":2},
          {"name":"tags","type":"STRING","mode":"REPEATED"}])";
  EXPECT_EQ(misfit(kTable, kTable), "");
  EXPECT_EQ(misfit(R"([{"name":"ID","type":"INT64","mode":"REQUIRED"}])", kTable), "")
      << "NULLABLE columns may be left out, case does not matter";
  EXPECT_EQ(misfit(R"([{"name":"price","type":"NUMERIC"},{"name":"name","type":"STRING",
                        "mode":"REQUIRED"},{"name":"id","type":"INTEGER","mode":"REQUIRED"}])",
                   kTable),
            "")
      << "order, parameters and a stricter mode do not matter";
}

TEST(SchemaFit, NamesTheColumnAndBothSides) {
  EXPECT_EQ(misfit(R"([{"name":"a","type":"STRING"}])", R"([{"name":"a","type":"INTEGER"}])"),
            "column \"a\" is NULLABLE STRING in the schema and NULLABLE INT64 in the table");
  EXPECT_EQ(misfit(R"([{"name":"a","type":"STRING","mode":"REPEATED"}])",
                   R"([{"name":"a","type":"STRING"}])"),
            "column \"a\" is REPEATED STRING in the schema and NULLABLE STRING in the table");
  EXPECT_EQ(misfit(R"([{"name":"a","type":"STRING"}])",
                   R"([{"name":"a","type":"STRING","mode":"REQUIRED"}])"),
            "column \"a\" is NULLABLE STRING in the schema and REQUIRED STRING in the table");
  EXPECT_EQ(misfit(R"([{"name":"a","type":"RANGE","rangeElementType":"DATE"}])",
                   R"([{"name":"a","type":"RANGE","rangeElementType":"DATETIME"}])"),
            "column \"a\" is NULLABLE RANGE<DATE> in the schema and NULLABLE RANGE<DATETIME> in "
            "the table");
}

TEST(SchemaFit, NamesColumnsThatOneSideLacks) {
  EXPECT_EQ(misfit(R"([{"name":"a","type":"STRING"},{"name":"b","type":"DATE"}])",
                   R"([{"name":"a","type":"STRING"}])"),
            "column \"b\" is NULLABLE DATE in the schema and is not in the table");
  EXPECT_EQ(
      misfit(R"([{"name":"b","type":"DATE"}])",
             R"([{"name":"a","type":"STRING","mode":"REQUIRED"},{"name":"b","type":"DATE"}])"),
      "column \"a\" is REQUIRED STRING in the table and is not in the schema");
}

TEST(SchemaFit, NamesAllThatContradicts) {
  EXPECT_EQ(misfit(R"([{"name":"a","type":"STRING"},{"name":"b","type":"DATE"}])",
                   R"([{"name":"a","type":"INTEGER"},
                       {"name":"c","type":"STRING","mode":"REQUIRED"}])"),
            "column \"a\" is NULLABLE STRING in the schema and NULLABLE INT64 in the table; "
            "column \"b\" is NULLABLE DATE in the schema and is not in the table; "
            "column \"c\" is REQUIRED STRING in the table and is not in the schema");
  std::string rows = "[";
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    rows += std::string(rows.size() > 1 ? "," : "") + R"({"name":")" + name + R"(","type":"DATE"})";
  }
  EXPECT_THAT(misfit(rows + "]", R"([{"name":"x","type":"DATE"}])"),
              testing::EndsWith("column \"e\" is NULLABLE DATE in the schema and is not in the "
                                "table; and 2 more"));
}

TEST(SchemaFit, AColumnWithADefaultMayBeLeftOut) {  // BQW-194
  EXPECT_EQ(misfit(R"([{"name":"b","type":"DATE"}])",
                   R"([{"name":"a","type":"STRING","mode":"REQUIRED",
                        "defaultValueExpression":"'x'"},{"name":"b","type":"DATE"}])"),
            "");
}

TEST(SchemaFit, LooksIntoStructs) {
  constexpr std::string_view kRows =
      R"([{"name":"s","type":"RECORD","mode":"REPEATED","fields":[{"name":"x","type":"BOOL"}]}])";
  EXPECT_EQ(misfit(kRows, R"([{"name":"s","type":"STRUCT","mode":"REPEATED",
                               "fields":[{"name":"x","type":"BYTES"}]}])"),
            "column \"s.x\" is NULLABLE BOOL in the schema and NULLABLE BYTES in the table");
  EXPECT_EQ(misfit(kRows, R"([{"name":"s","type":"STRUCT","mode":"REPEATED",
                               "fields":[{"name":"x","type":"BOOL"},
                                         {"name":"y","type":"BOOL","mode":"REQUIRED"}]}])"),
            "column \"s.y\" is REQUIRED BOOL in the table and is not in the schema");
}

}  // namespace
}  // namespace penstock::bigquery
