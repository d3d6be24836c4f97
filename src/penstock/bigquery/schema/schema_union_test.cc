#include "penstock/bigquery/schema/schema_union.h"

#include <gmock/gmock.h>

#include "penstock/base/random.h"
#include "penstock/base/status.h"
#include "penstock/base/text.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/extend_schema_json.h"
#include "penstock/bigquery/schema/schema_fit.h"
#include "penstock/bigquery/schema/schema_json.h"

namespace penstock::bigquery {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr SchemaUpdateOptions kBoth{.allowNewFields = true, .allowFieldRelaxation = true};
constexpr SchemaUpdateOptions kNewFields{.allowNewFields = true};
constexpr SchemaUpdateOptions kRelaxation{.allowFieldRelaxation = true};

Column columnOf(std::string name, ColumnType type = ColumnType::kString,
                ColumnMode mode = ColumnMode::kNullable) {
  return {.name = std::move(name), .type = type, .mode = mode};
}

Column structOf(std::string name, std::vector<Column> fields,
                ColumnMode mode = ColumnMode::kNullable) {
  Column result = columnOf(std::move(name), ColumnType::kStruct, mode);
  result.fields = std::move(fields);
  return result;
}

TableSchema united(const TableSchema& live, const TableSchema& desired,
                   const SchemaUpdateOptions& allowed = kBoth) {
  const absl::StatusOr<TableSchema> result = uniteSchemas(live, desired, allowed);
  EXPECT_TRUE(result.ok()) << base::describe(result.status());
  return result.ok() ? *result : TableSchema{};
}

std::string violation(const TableSchema& live, const TableSchema& desired,
                      const SchemaUpdateOptions& allowed = kBoth) {
  const absl::StatusOr<TableSchema> result = uniteSchemas(live, desired, allowed);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(base::messageOf(result.status()));
}

TEST(SchemaUnion, NamesMatchIgnoringCaseAndTheTablesSpellingAndOrderStay) {  // BQW-161
  const TableSchema live{{columnOf("B"), columnOf("userName"), columnOf("É")}};
  EXPECT_EQ(united(live, {{columnOf("USERNAME"), columnOf("b"), columnOf("é")}}), live);
}

TEST(SchemaUnion, NewColumnsFollowBehindThoseOfTheirLevel) {  // BQW-161
  const TableSchema live{{structOf("s", {columnOf("x")}), columnOf("a")}};
  const TableSchema desired{
      {columnOf("n"), columnOf("A"), structOf("S", {columnOf("y"), columnOf("X")})}};
  EXPECT_EQ(
      united(live, desired),
      (TableSchema{{structOf("s", {columnOf("x"), columnOf("y")}), columnOf("a"), columnOf("n")}}));
}

TEST(SchemaUnion, RequiredFieldsAreAddedAsNullableAtEveryDepth) {  // BQW-161
  const auto required = ColumnMode::kRequired;
  const TableSchema live{
      {structOf("old", {columnOf("x", ColumnType::kInt64, required)}, required)}};
  const TableSchema desired{
      {structOf("old",
                {columnOf("x", ColumnType::kInt64, required),
                 columnOf("in", ColumnType::kDate, required)},
                required),
       structOf(
           "s",
           {structOf("t", {columnOf("u", ColumnType::kBool, required)}, required),
            structOf("r", {columnOf("v", ColumnType::kBytes, required)}, ColumnMode::kRepeated)},
           required)}};
  EXPECT_EQ(united(live, desired, kNewFields),
            (TableSchema{{structOf("old",
                                   {columnOf("x", ColumnType::kInt64, required),
                                    columnOf("in", ColumnType::kDate)},
                                   required),
                          structOf("s", {structOf("t", {columnOf("u", ColumnType::kBool)}),
                                         structOf("r", {columnOf("v", ColumnType::kBytes)},
                                                  ColumnMode::kRepeated)})}}));
}

TEST(SchemaUnion, RelaxesWhatTheRowsMayLeaveOutAndNeverTightens) {  // BQW-161
  const auto required = ColumnMode::kRequired;
  const TableSchema live{{columnOf("a", ColumnType::kString, required),
                          columnOf("b", ColumnType::kString, required), columnOf("c"),
                          columnOf("absent", ColumnType::kString, required),
                          structOf("s", {columnOf("x", ColumnType::kString, required)}, required)}};
  const TableSchema desired{{columnOf("a"), columnOf("b", ColumnType::kString, required),
                             columnOf("c", ColumnType::kString, required),
                             structOf("s", {columnOf("x")}, required)}};
  TableSchema expected = live;
  expected.columns[0].mode = ColumnMode::kNullable;
  expected.columns[4].fields[0].mode = ColumnMode::kNullable;
  EXPECT_EQ(united(live, desired, kRelaxation), expected);
  EXPECT_EQ(united(live, desired, kNewFields), live) << "rows that fill them are still taken";
}

TEST(SchemaUnion, LiveAttributesAndParametersStay) {  // BQW-161
  TableSchema live{{columnOf("n", ColumnType::kNumeric), columnOf("t")}};
  live.columns[0].precision = 10;
  live.columns[0].description = "the table's";
  live.columns[1].defaultValueExpression = "'x'";
  TableSchema desired{{columnOf("n", ColumnType::kNumeric), columnOf("t")}};
  desired.columns[0].precision = 12;
  desired.columns[1].maxLength = 3;
  EXPECT_EQ(united(live, desired), live);
}

TEST(SchemaUnion, ViolationsNameTheDottedPathAndWhatToDo) {  // BQW-161
  const TableSchema live{{columnOf("id", ColumnType::kInt64, ColumnMode::kRequired),
                          structOf("s", {structOf("t", {columnOf("x", ColumnType::kInt64)})}),
                          columnOf("tags", ColumnType::kString, ColumnMode::kRepeated)}};
  EXPECT_THAT(violation(live, {{structOf("s", {structOf("t", {columnOf("X")})})}}),
              AllOf(HasSubstr("column \"s.t.X\" is NULLABLE STRING in the rows and NULLABLE INT64 "
                              "in the table"),
                    HasSubstr("another table")));
  EXPECT_THAT(violation(live, {{columnOf("tags")}}),
              HasSubstr("column \"tags\" is NULLABLE STRING in the rows and REPEATED STRING"));
  EXPECT_THAT(violation(live, {{columnOf("id", ColumnType::kInt64, ColumnMode::kRepeated)}}),
              HasSubstr("column \"id\" is REPEATED INT64 in the rows and REQUIRED INT64"));
  const TableSchema nested{{structOf("s", {structOf("t", {columnOf("new", ColumnType::kDate)})})}};
  EXPECT_THAT(violation(live, nested, kRelaxation),
              AllOf(HasSubstr("column \"s.t.new\" is NULLABLE DATE in the rows and is not in the "
                              "table, and allowNewFields is off"),
                    HasSubstr("set it")));
  EXPECT_THAT(violation(live, {{columnOf("s")}}), HasSubstr("NULLABLE STRUCT in the table"));
}

TEST(SchemaUnion, NewColumnsOfAnotherSchemaLeaveTheKnownOnesAlone) {
  const TableSchema live{{columnOf("day", ColumnType::kDate), structOf("s", {columnOf("x")}),
                          structOf("whole", {columnOf("x")})}};
  const TableSchema other{
      {columnOf("Day"), structOf("S", {columnOf("X", ColumnType::kInt64), columnOf("y")}),
       columnOf("whole"), columnOf("z", ColumnType::kInt64, ColumnMode::kRequired)}};
  EXPECT_EQ(withNewColumns(live, other),
            (TableSchema{{columnOf("day", ColumnType::kDate),
                          structOf("s", {columnOf("x"), columnOf("y")}),
                          structOf("whole", {columnOf("x")}), columnOf("z", ColumnType::kInt64)}}));
}

TEST(SchemaUnion, SaysWhatItAddsByDottedPaths) {
  const TableSchema live{{structOf("s", {structOf("t", {columnOf("x")})}), columnOf("a")}};
  const TableSchema desired{{columnOf("n"), structOf("S", {structOf("T", {columnOf("new")}),
                                                           structOf("u", {columnOf("v")})})}};
  EXPECT_THAT(addedColumns(live, united(live, desired)),
              testing::ElementsAre("s.t.new", "s.u", "n"));
  EXPECT_THAT(addedColumns(live, live), testing::IsEmpty());
}

/// Random schemas over few names, so that levels meet, differ and contradict.
class RandomSchemas {
 public:
  explicit RandomSchemas(uint64_t seed) : random_(base::seededRandom(seed)) {}

  TableSchema draw() { return {level(0)}; }
  SchemaUpdateOptions permissions() { return {random_->chance(0.8), random_->chance(0.5)}; }

 private:
  std::vector<Column> level(int depth) {
    std::vector<Column> columns;
    for (const char* name : {"a", "b", "Cc", "d", "é"}) {
      if (!random_->chance(0.6)) continue;
      columns.push_back(one(random_->chance(0.5) ? name : base::toUpper(name), depth));
    }
    if (columns.empty()) columns.push_back(one("only", depth));
    if (columns.size() > 1 && random_->chance(0.5)) std::swap(columns.front(), columns.back());
    return columns;
  }
  Column one(std::string name, int depth) {
    // Alike mostly: two draws have to agree for a union to exist.
    const ColumnMode modes[] = {ColumnMode::kNullable, ColumnMode::kRequired,
                                ColumnMode::kNullable};
    Column result = columnOf(std::move(name), ColumnType::kInt64, modes[random_->below(3)]);
    if (random_->chance(0.02)) result.type = ColumnType::kString;
    if (random_->chance(0.02)) result.mode = ColumnMode::kRepeated;
    const bool isStruct = lowerCase(result.name) == "b" || lowerCase(result.name) == "cc";
    if (!isStruct || depth == 3) return result;
    result.type = ColumnType::kStruct;
    result.fields = level(depth + 1);
    return result;
  }

  std::unique_ptr<base::Random> random_;
};

/// `live` with an attribute on every column that no TableSchema holds.
std::string tagged(const TableSchema& live) {
  std::string json = schemaToJson(live);
  constexpr std::string_view kName = "\"name\":";
  int tag = 0;
  for (size_t at = json.find(kName); at != std::string::npos; at = json.find(kName, at)) {
    const std::string attribute = fmt::format("\"policyTags\":{{\"names\":[\"tag{}\"]}},", tag++);
    json.insert(at, attribute);
    at += attribute.size() + kName.size();
  }
  return json;
}

size_t tagsIn(const std::string& json) {
  size_t count = 0;
  for (size_t at = json.find("tag"); at != std::string::npos; at = json.find("tag", at + 1))
    ++count;
  return count;
}

/// Every column of `live` is where it was in `united`, relaxed at the most.
bool keepsAll(const std::vector<Column>& live, const std::vector<Column>& united) {
  for (size_t i = 0; i < live.size(); ++i) {
    if (i >= united.size() || united[i].name != live[i].name || united[i].type != live[i].type) {
      return false;
    }
    const bool relaxed =
        live[i].mode == ColumnMode::kRequired && united[i].mode == ColumnMode::kNullable;
    if (united[i].mode != live[i].mode && !relaxed) return false;
    if (!keepsAll(live[i].fields, united[i].fields)) return false;
  }
  return true;
}

// BQW-161, BQW-162: what holds for any two schemas.
TEST(SchemaUnion, KeepsTheTableTakesTheRowsAndIsDoneAfterOnce) {
  int unions = 0;
  int violations = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    RandomSchemas schemas(seed);
    const TableSchema live = schemas.draw();
    const TableSchema desired = schemas.draw();
    const SchemaUpdateOptions allowed = schemas.permissions();
    const absl::StatusOr<TableSchema> once = uniteSchemas(live, desired, allowed);
    if (!once.ok()) {
      ++violations;
      continue;
    }
    ++unions;
    EXPECT_TRUE(keepsAll(live.columns, once->columns)) << "seed " << seed;
    EXPECT_EQ(united(*once, desired, allowed), *once) << "seed " << seed;
    if (allowed.allowFieldRelaxation) {
      const std::string misfit(base::messageOf(checkSchemaFits(desired, *once)));
      EXPECT_EQ(misfit.find(" in the schema and "), std::string::npos)
          << "nothing but columns that the schema lacks: " << misfit;
    }
    const std::string document = tagged(live);
    const absl::StatusOr<std::string> extended = extendSchemaJson(document, *once);
    ASSERT_TRUE(extended.ok()) << base::describe(extended.status());
    EXPECT_EQ(*parseSchemaJson(*extended), *once) << "seed " << seed;
    EXPECT_EQ(tagsIn(*extended), tagsIn(document)) << "seed " << seed;
  }
  EXPECT_GT(unions, 300);
  EXPECT_GT(violations, 300);
}

std::string withoutLineBreaks(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == ' '; });
  return text;
}

TEST(ExtendSchemaJson, EverythingThatStoodThereStays) {  // BQW-162
  constexpr const char* kLive = R"({"fields":[
      {"name":"id","type":"INTEGER","mode":"required","policyTags":{"names":["p/1"]},
       "collation":"und:ci","roundingMode":"X","fromTheFuture":{"a":[1,2.5,null]}},
      {"name":"s","type":"RECORD","fields":[{"name":"x","type":"STRING","maxLength":"7",
       "description":"d","dataPolicies":[{"name":"q"}]}]}],
      "foreignTypeInfo":{"typeSystem":"HIVE"}})";
  const TableSchema live = *parseSchemaJson(kLive);
  const TableSchema desired{{columnOf("ID", ColumnType::kInt64), structOf("s", {columnOf("y")}),
                             columnOf("n", ColumnType::kInt64, ColumnMode::kRequired)}};
  const absl::StatusOr<std::string> extended = extendSchemaJson(kLive, united(live, desired));
  ASSERT_TRUE(extended.ok()) << extended.status();
  EXPECT_EQ(*extended, withoutLineBreaks(R"({"fields":[
      {"collation":"und:ci","fromTheFuture":{"a":[1,2.5,null]},"mode":"NULLABLE","name":"id",
       "policyTags":{"names":["p/1"]},"roundingMode":"X","type":"INTEGER"},
      {"fields":[{"dataPolicies":[{"name":"q"}],"description":"d","maxLength":"7","name":"x",
       "type":"STRING"},{"mode":"NULLABLE","name":"y","type":"STRING"}],"name":"s","type":"RECORD"},
      {"mode":"NULLABLE","name":"n","type":"INTEGER"}],
      "foreignTypeInfo":{"typeSystem":"HIVE"}})"));
}

TEST(ExtendSchemaJson, ATableWithoutColumnsGetsThem) {
  const TableSchema schema{{columnOf("a")}};
  for (const char* live : {"", "{}", R"({"fields":[]})"}) {
    EXPECT_EQ(*extendSchemaJson(live, schema),
              R"({"fields":[{"mode":"NULLABLE","name":"a","type":"STRING"}]})");
  }
}

TEST(ExtendSchemaJson, ColumnsThatWereNotUnitedAreAnError) {
  const TableSchema schema{{columnOf("a")}};
  for (const char* live : {"[", "[]", R"({"fields":7})", R"({"fields":[{"name":"b"}]})",
                           R"({"fields":[3]})", R"({"fields":[{"name":"a"},{"name":"b"}]})"}) {
    EXPECT_EQ(extendSchemaJson(live, schema).status().code(), absl::StatusCode::kInternal) << live;
  }
}

}  // namespace
}  // namespace penstock::bigquery
