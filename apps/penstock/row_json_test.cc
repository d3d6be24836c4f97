#include "apps/penstock/row_json.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using bigquery::Column;
using bigquery::ColumnMode;
using bigquery::ColumnType;
using nlohmann::json;

std::string asJson(const std::vector<Column>& columns, const char* row) {
  const auto result = rowAsJson(columns, json::parse(row));
  return result.ok() ? result->dump() : std::string(base::messageOf(result.status()));
}

TEST(RowJson, WritesScalarsInTheFormThatLoadsAgain) {
  EXPECT_EQ(asJson({{"i", ColumnType::kInt64}}, R"({"f":[{"v":"-9223372036854775808"}]})"),
            R"({"i":-9223372036854775808})");
  EXPECT_EQ(asJson({{"d", ColumnType::kDouble}}, R"({"f":[{"v":"1.5"}]})"), R"({"d":1.5})");
  EXPECT_EQ(asJson({{"d", ColumnType::kDouble}}, R"({"f":[{"v":"NaN"}]})"), R"({"d":"NaN"})");
  EXPECT_EQ(asJson({{"d", ColumnType::kDouble}}, R"({"f":[{"v":"-Infinity"}]})"),
            R"({"d":"-Infinity"})");
  EXPECT_EQ(asJson({{"b", ColumnType::kBool}}, R"({"f":[{"v":"true"}]})"), R"({"b":true})");
  EXPECT_EQ(asJson({{"n", ColumnType::kNumeric}}, R"({"f":[{"v":"1.10"}]})"), R"({"n":"1.10"})");
  EXPECT_EQ(asJson({{"s", ColumnType::kString}}, R"({"f":[{"v":"5"}]})"), R"({"s":"5"})");
  EXPECT_EQ(asJson({{"j", ColumnType::kJson}}, R"({"f":[{"v":"{\"a\":[1]}"}]})"),
            R"({"j":{"a":[1]}})");
  EXPECT_EQ(asJson({{"t", ColumnType::kTimestamp}}, R"({"f":[{"v":"1714558830000001"}]})"),
            R"({"t":"2024-05-01T10:20:30.000001Z"})");
  EXPECT_EQ(asJson({{"s", ColumnType::kString}}, R"({"f":[{"v":null}]})"), R"({"s":null})");
}

TEST(RowJson, KeepsJsonTextsApartThatWouldLoadAsSomethingElse) {
  const auto held = [](const json& text) {
    return asJson({{"j", ColumnType::kJson}}, json({{"f", {{{"v", text}}}}}).dump().c_str());
  };
  EXPECT_EQ(held("12"), R"({"j":12})");
  EXPECT_EQ(held(R"("12")"), R"({"j":"\"12\""})");
  EXPECT_EQ(held("null"), R"({"j":"null"})");
  EXPECT_EQ(held(nullptr), R"({"j":null})");
  EXPECT_EQ(held(R"({"n":1e400})"), R"({"j":"{\"n\":1e400}"})");
  EXPECT_EQ(held("0.10"), R"({"j":"0.10"})");
}

TEST(RowJson, WritesRangesAsLoadTakesThem) {
  const auto range = [](ColumnType element, const char* text) {
    Column column;
    column.name = "r";
    column.type = ColumnType::kRange;
    column.rangeElementType = element;
    return asJson({column}, json({{"f", {{{"v", text}}}}}).dump().c_str());
  };
  EXPECT_EQ(range(ColumnType::kDate, "[2020-01-01, UNBOUNDED)"),
            R"({"r":{"start":"2020-01-01","end":null}})");
  EXPECT_EQ(range(ColumnType::kTimestamp, "[1500000, 2000000)"),
            R"({"r":{"start":"1970-01-01T00:00:01.5Z","end":"1970-01-01T00:00:02Z"}})");
}

TEST(RowJson, WritesNestedAndRepeatedColumns) {
  const Column inner{.name = "x", .type = ColumnType::kInt64};
  const Column record{
      .name = "r", .type = ColumnType::kStruct, .mode = ColumnMode::kRepeated, .fields = {inner}};
  EXPECT_EQ(asJson({record}, R"({"f":[{"v":[{"v":{"f":[{"v":"1"}]}},{"v":{"f":[{"v":null}]}}]}]})"),
            R"({"r":[{"x":1},{"x":null}]})");
  const Column list{.name = "l", .type = ColumnType::kString, .mode = ColumnMode::kRepeated};
  EXPECT_EQ(asJson({list}, R"({"f":[{"v":[]}]})"), R"({"l":[]})");
}

TEST(RowJson, RefusesWhatDoesNotFitTheColumns) {
  const std::vector<Column> columns = {{"i", ColumnType::kInt64}};
  EXPECT_THAT(asJson(columns, R"({"f":[]})"), ::testing::HasSubstr("does not fit"));
  EXPECT_THAT(asJson(columns, R"({})"), ::testing::HasSubstr("does not fit"));
  EXPECT_THAT(asJson(columns, R"({"f":[{"v":{"f":[]}}]})"), ::testing::HasSubstr("'i'"));
}

TEST(RowJson, TimestampsReachBothEndsOfTheirRange) {
  EXPECT_EQ(timestampText(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(timestampText(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(timestampText(-62'135'596'800'000'000), "0001-01-01T00:00:00Z");
  EXPECT_EQ(timestampText(253'402'300'799'999'999), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(timestampText(1'500'000), "1970-01-01T00:00:01.5Z");
}

TEST(RowJson, CellsShowTextWithoutQuotes) {
  EXPECT_EQ(cellText(nullptr), "NULL");
  EXPECT_EQ(cellText("a\"b"), "a\"b");
  EXPECT_EQ(cellText(12), "12");
  EXPECT_EQ(cellText({{"x", 1}}), R"({"x":1})");
}

}  // namespace
}  // namespace penstock::command
