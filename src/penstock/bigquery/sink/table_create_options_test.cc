#include "penstock/bigquery/sink/table_create_options.h"

#include <gmock/gmock.h>

namespace penstock::bigquery {
namespace {

using testing::HasSubstr;

std::string refusalOfOptions(std::string_view json) {
  const auto options = parseTableCreateOptions(json);
  return options.ok() ? "accepted" : std::string(base::messageOf(options.status()));
}

TEST(TableCreateOptions, AreReadAsTheyAreWritten) {
  const TableCreateOptions options = {.timePartitioningType = "HOUR",
                                      .timePartitioningField = "ts",
                                      .timePartitioningExpiration = std::chrono::hours(24),
                                      .clusteredFields = {"a", "b"}};
  const std::string json = tableCreateOptionsToJson(options);
  EXPECT_EQ(json, R"({"clustering":{"fields":["a","b"]},"timePartitioning":)"
                  R"({"expirationMs":"86400000","field":"ts","type":"HOUR"}})");
  const auto read = parseTableCreateOptions(json);
  ASSERT_TRUE(read.ok()) << base::describe(read.status());
  EXPECT_EQ(tableCreateOptionsToJson(*read), json);
}

TEST(TableCreateOptions, APlainTableIsAnEmptyDocument) {
  EXPECT_EQ(tableCreateOptionsToJson({}), "{}");
  EXPECT_TRUE(parseTableCreateOptions("").ok());
  EXPECT_TRUE(parseTableCreateOptions("{}").ok());
  EXPECT_EQ(refusalOfOptions(R"({"timePartitioning":{"type":"DAY","expirationMs":5}})"),
            "accepted");
}

TEST(TableCreateOptions, WhatIsWrongIsNamed) {
  EXPECT_THAT(refusalOfOptions("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusalOfOptions(R"({"labels":{}})"), HasSubstr("labels"));
  EXPECT_THAT(refusalOfOptions(R"({"timePartitioning":[]})"), HasSubstr("timePartitioning"));
  EXPECT_THAT(refusalOfOptions(R"({"timePartitioning":{"type":1}})"),
              HasSubstr("timePartitioning.type"));
  EXPECT_THAT(refusalOfOptions(R"({"timePartitioning":{"requirePartitionFilter":true}})"),
              HasSubstr("requirePartitionFilter"));
  for (const char* value : {"\"0\"", "-1", "1.5", "\"9223372036855\"", "true"}) {
    EXPECT_THAT(
        refusalOfOptions(fmt::format(R"({{"timePartitioning":{{"expirationMs":{}}}}})", value)),
        HasSubstr("expirationMs"))
        << value;
  }
  EXPECT_THAT(refusalOfOptions(R"({"clustering":{"fields":"a"}})"), HasSubstr("clustering"));
  EXPECT_THAT(refusalOfOptions(R"({"clustering":{"fields":[1]}})"), HasSubstr("clustering.fields"));
}

}  // namespace
}  // namespace penstock::bigquery
