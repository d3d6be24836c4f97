#include "penstock/bigquery/sink/table_creation_check.h"

#include <gmock/gmock.h>

#include "penstock/bigquery/schema/schema_json.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string messageOf(const absl::Status& status) { return std::string(base::messageOf(status)); }

TableSchema wantedSchema(std::string_view json) {
  absl::StatusOr<TableSchema> schema = parseSchemaJson(json);
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *schema;
}

TEST(TableCreationCheck, TakesWhatTheServiceTakesAsNames) {  // BQW-151
  for (const char* table : {"t", "T_2", "a-b c", "\xC3\xBC"}) {
    EXPECT_TRUE(checkNewTableName({"p", "d_1", table}).ok()) << table;
  }
  EXPECT_TRUE(checkNewTableName({"p", "d", std::string(1024, 'x')}).ok());
  EXPECT_TRUE(checkNewColumnNames(wantedSchema(R"([{"name":"a b","type":"STRING"}])")).ok());
}

TEST(TableCreationCheck, RefusesOtherNames) {
  for (const std::string& table :
       {std::string("a*b"), std::string("a.b"), std::string("a\nb"), std::string(1025, 'x')}) {
    EXPECT_THAT(messageOf(checkNewTableName({"p", "d", table})),
                HasSubstr("cannot be the name of a table"));
  }
  EXPECT_THAT(messageOf(checkNewTableName({"p", "a-b", "t"})),
              HasSubstr("'a-b' cannot be the name of a dataset"));
  EXPECT_TRUE(checkTableName({"p", "d", "t$2026"}).ok()) << "a partition that may be there";
  EXPECT_FALSE(checkTableName({"p", "d", "a*b$2026"}).ok());
  EXPECT_FALSE(checkTableName({"p", "d", "$2026"}).ok());
  EXPECT_THAT(messageOf(checkNewTableName({"p", "d", "t$2026"})),
              AllOf(HasSubstr("'t$2026' is a partition"), HasSubstr("no table 't'"),
                    HasSubstr("without '$2026'")));
  EXPECT_THAT(messageOf(checkNewColumnNames(wantedSchema(
                  R"([{"name":"s","type":"RECORD","fields":[{"name":"x.y","type":"STRING"}]}])"))),
              AllOf(HasSubstr("column \"s.x.y\""), HasSubstr("a character")));
}

class TableLayout : public ::testing::Test {
 protected:
  std::string problem(const TableCreateOptions& options) {
    return messageOf(checkNewTableLayout(schema_, options, base::OptionSpelling::kFlag));
  }

  const TableSchema schema_ = wantedSchema(
      R"([{"name":"id","type":"INTEGER"},{"name":"Day","type":"DATE"},{"name":"at",
          "type":"TIMESTAMP"},{"name":"x","type":"FLOAT"},{"name":"tags","type":"STRING",
          "mode":"REPEATED"}])");
};

TEST_F(TableLayout, TakesColumnsThatCanServe) {
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.timePartitioningType = "DAY"}), "");
  EXPECT_EQ(problem({.timePartitioningType = "DAY", .timePartitioningField = "day"}), "");
  EXPECT_EQ(problem({.timePartitioningType = "HOUR", .timePartitioningField = "at"}), "");
  EXPECT_EQ(problem({.clusteredFields = {"ID", "at"}}), "");
}

TEST_F(TableLayout, NamesTheOptionTheColumnAndWhatItMustBe) {
  EXPECT_EQ(problem({.timePartitioningType = "DAY", .timePartitioningField = "when"}),
            "--time-partitioning-field: 'when' is not a top-level column of the schema");
  EXPECT_EQ(problem({.timePartitioningType = "DAY", .timePartitioningField = "id"}),
            "--time-partitioning-field: column 'id' is INT64; it must be DATE, DATETIME or "
            "TIMESTAMP");
  EXPECT_THAT(problem({.timePartitioningType = "HOUR", .timePartitioningField = "day"}),
              HasSubstr("column 'Day' is DATE; it must be DATETIME or TIMESTAMP"));
  EXPECT_EQ(problem({.clusteredFields = {"id", "nope"}}),
            "--clustered-fields: 'nope' is not a top-level column of the schema");
  EXPECT_THAT(problem({.clusteredFields = {"x"}}), HasSubstr("column 'x' is FLOAT64; it must be"));
  EXPECT_THAT(problem({.clusteredFields = {"tags"}}), HasSubstr("column 'tags' is REPEATED"));
  EXPECT_THAT(messageOf(checkNewTableLayout(schema_, {.clusteredFields = {"nope"}})),
              HasSubstr("clusteredFields: "))
      << "the C++ API's name";
}

}  // namespace
}  // namespace penstock::bigquery
