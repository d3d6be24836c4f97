#include "penstock/bigquery/schema/validate_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string verdict(std::vector<Column> columns) {
  return base::describe(validateSchema(TableSchema{std::move(columns)}));
}

TEST(ValidateSchema, RefusesColumnsWithoutNameOrType) {  // BQT-003, BQT-051
  EXPECT_THAT(verdict({}), HasSubstr("no columns"));
  EXPECT_THAT(verdict({{.name = "a"}}), HasSubstr("\"a\" has no type"));
  EXPECT_THAT(verdict({{.type = ColumnType::kBool}}), HasSubstr("column 1 has no name"));
  EXPECT_THAT(verdict({{.name = "s", .type = ColumnType::kStruct, .fields = {{.name = "x"}}}}),
              HasSubstr("\"s.x\" has no type"));
}

TEST(ValidateSchema, RefusesNamesThatDifferByCaseOnly) {  // BQT-005
  EXPECT_THAT(verdict({{.name = "id", .type = ColumnType::kBool},
                       {.name = "ID", .type = ColumnType::kBool}}),
              AllOf(HasSubstr("\"ID\""), HasSubstr("\"id\" already")));
  EXPECT_THAT(verdict({{.name = "s",
                        .type = ColumnType::kStruct,
                        .fields = {{.name = "na\xC3\xAFve", .type = ColumnType::kBool},
                                   {.name = "NA\xC3\x8FVE", .type = ColumnType::kBool}}}}),
              HasSubstr("\"s.NA\xC3\x8FVE\""));
  EXPECT_EQ(verdict({{.name = "s",
                      .type = ColumnType::kStruct,
                      .fields = {{.name = "s", .type = ColumnType::kBool}}},
                     {.name = "t", .type = ColumnType::kBool}}),
            "OK");
}

TEST(ValidateSchema, RefusesFlexibleNamesThatCollideInRows) {  // BQT-005
  EXPECT_THAT(verdict({{.name = "\xC3\xBB", .type = ColumnType::kBool},
                       {.name = "col_w7s", .type = ColumnType::kBool}}),
              AllOf(HasSubstr("col_w7s"), HasSubstr("rename")));
}

TEST(ValidateSchema, RefusesStructsWithoutFieldsAndFieldsWithoutStruct) {  // BQT-006
  EXPECT_THAT(verdict({{.name = "s", .type = ColumnType::kStruct}}), HasSubstr("without fields"));
  EXPECT_THAT(verdict({{.name = "s",
                        .type = ColumnType::kString,
                        .fields = {{.name = "x", .type = ColumnType::kBool}}}}),
              HasSubstr("cannot have fields"));
}

TEST(ValidateSchema, AsksRangesForTheirElementType) {  // BQT-004
  EXPECT_THAT(verdict({{.name = "r", .type = ColumnType::kRange}}), HasSubstr("rangeElementType"));
  EXPECT_THAT(
      verdict({{.name = "r", .type = ColumnType::kRange, .rangeElementType = ColumnType::kTime}}),
      HasSubstr("it is TIME"));
  EXPECT_THAT(
      verdict({{.name = "r", .type = ColumnType::kDate, .rangeElementType = ColumnType::kDate}}),
      HasSubstr("only RANGE"));
  for (const ColumnType element :
       {ColumnType::kDate, ColumnType::kDatetime, ColumnType::kTimestamp}) {
    EXPECT_EQ(verdict({{.name = "r", .type = ColumnType::kRange, .rangeElementType = element}}),
              "OK");
  }
}

TEST(ValidateSchema, ChecksParametersAgainstTheType) {  // BQT-003
  const auto decimal = [](ColumnType type, int64_t precision, int64_t scale) {
    return verdict({{.name = "n", .type = type, .precision = precision, .scale = scale}});
  };
  EXPECT_EQ(decimal(ColumnType::kNumeric, 38, 9), "OK");
  EXPECT_EQ(decimal(ColumnType::kNumeric, 29, 0), "OK");
  EXPECT_EQ(decimal(ColumnType::kNumeric, 2, 2), "OK");
  EXPECT_EQ(decimal(ColumnType::kBignumeric, 76, 38), "OK");
  EXPECT_THAT(decimal(ColumnType::kNumeric, 30, 0), HasSubstr("NUMERIC(30) does not exist"));
  EXPECT_THAT(decimal(ColumnType::kNumeric, 20, 10), HasSubstr("NUMERIC(20, 10)"));
  EXPECT_THAT(decimal(ColumnType::kNumeric, 2, 3), HasSubstr("does not exist"));
  EXPECT_THAT(decimal(ColumnType::kBignumeric, 77, 38), HasSubstr("does not exist"));
  EXPECT_THAT(decimal(ColumnType::kNumeric, 0, 3), HasSubstr("needs a precision"));
  EXPECT_THAT(decimal(ColumnType::kInt64, 5, 0), HasSubstr("INT64 has no precision"));
  EXPECT_THAT(verdict({{.name = "x", .type = ColumnType::kJson, .maxLength = 4}}),
              HasSubstr("JSON has no maxLength"));
  EXPECT_THAT(verdict({{.name = "x", .type = ColumnType::kString, .maxLength = -4}}),
              HasSubstr("above 0"));
  EXPECT_THAT(verdict({{.name = "x", .type = ColumnType::kDate, .timestampPrecision = 12}}),
              HasSubstr("DATE has no timestampPrecision"));
}

TEST(ValidateSchema, BoundsNestingAndWidth) {
  Column leaf{.name = "x", .type = ColumnType::kBool};
  Column nested = leaf;
  for (int level = 0; level < kMaxSchemaDepth; ++level) {
    nested = Column{.name = "s", .type = ColumnType::kStruct, .fields = {nested}};
  }
  EXPECT_EQ(verdict({nested}), "OK");
  EXPECT_THAT(verdict({{.name = "s", .type = ColumnType::kStruct, .fields = {nested}}}),
              HasSubstr("more than 15 levels"));
  std::vector<Column> wide;
  for (int i = 0; i <= 10'000; ++i) {
    wide.push_back({.name = "c" + std::to_string(i), .type = ColumnType::kBool});
  }
  EXPECT_THAT(verdict(wide), HasSubstr("10000"));
  wide.pop_back();
  EXPECT_EQ(verdict(wide), "OK");
}

}  // namespace
}  // namespace penstock::bigquery
