#include "penstock/bigquery/schema/describe_schema.h"

#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

TEST(DescribeSchema, AlignsNestedColumnsWithTheirParameters) {
  const TableSchema schema{{
      {.name = "id", .type = ColumnType::kInt64, .mode = ColumnMode::kRequired},
      {.name = "gr\xC3\xB6\xC3\x9F"
               "e",
       .type = ColumnType::kNumeric,
       .precision = 10,
       .scale = 2,
       .description = "in\nmetres"},
      {.name = "parts",
       .type = ColumnType::kStruct,
       .mode = ColumnMode::kRepeated,
       .fields =
           {{.name = "label", .type = ColumnType::kString, .maxLength = 20},
            {.name = "valid", .type = ColumnType::kRange, .rangeElementType = ColumnType::kDate}}},
  }};
  EXPECT_EQ(describeSchema(schema),
            "column   type            mode      description\n"
            "id       INT64           REQUIRED\n"
            "gr\xC3\xB6\xC3\x9F"
            "e    NUMERIC(10, 2)  NULLABLE  in metres\n"
            "parts    STRUCT          REPEATED\n"
            "  label  STRING(20)      NULLABLE\n"
            "  valid  RANGE<DATE>     NULLABLE\n");
}

TEST(DescribeSchema, LeavesTheDescriptionsOutWhereThereAreNone) {
  EXPECT_EQ(describeSchema({{{.name = "a", .type = ColumnType::kDouble}}}),
            "column  type     mode\n"
            "a       FLOAT64  NULLABLE\n");
}

}  // namespace
}  // namespace penstock::bigquery
