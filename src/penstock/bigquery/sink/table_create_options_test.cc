#include "penstock/bigquery/sink/table_create_options.h"

#include <gmock/gmock.h>

namespace penstock::bigquery {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view json) {
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
  EXPECT_EQ(refusal(R"({"timePartitioning":{"type":"DAY","expirationMs":5}})"), "accepted");
}

TEST(TableCreateOptions, WhatIsWrongIsNamed) {
  EXPECT_THAT(refusal("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal(R"({"labels":{}})"), HasSubstr("labels"));
  EXPECT_THAT(refusal(R"({"timePartitioning":[]})"), HasSubstr("timePartitioning"));
  EXPECT_THAT(refusal(R"({"timePartitioning":{"type":1}})"), HasSubstr("timePartitioning.type"));
  EXPECT_THAT(refusal(R"({"timePartitioning":{"requirePartitionFilter":true}})"),
              HasSubstr("requirePartitionFilter"));
  for (const char* value : {"\"0\"", "-1", "1.5", "\"9223372036855\"", "true"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"timePartitioning":{{"expirationMs":{}}}}})", value)),
                HasSubstr("expirationMs"))
        << value;
  }
  EXPECT_THAT(refusal(R"({"clustering":{"fields":"a"}})"), HasSubstr("clustering"));
  EXPECT_THAT(refusal(R"({"clustering":{"fields":[1]}})"), HasSubstr("clustering.fields"));
}

}  // namespace
}  // namespace penstock::bigquery
