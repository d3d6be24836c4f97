#include "penstock/bigquery/schema/schema_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/storage_schema.h"

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;
namespace storage = google::cloud::bigquery::storage::v1;

TableSchema everything() {
  return TableSchema{{
      {.name = "s", .type = ColumnType::kString, .mode = ColumnMode::kRequired, .maxLength = 9},
      {.name = "i", .type = ColumnType::kInt64, .mode = ColumnMode::kRepeated},
      {.name = "f", .type = ColumnType::kDouble, .description = "a number"},
      {.name = "st",
       .type = ColumnType::kStruct,
       .fields = {{.name = "b", .type = ColumnType::kBytes},
                  {.name = "inner",
                   .type = ColumnType::kStruct,
                   .fields = {{.name = "o", .type = ColumnType::kBool}}}}},
      {.name = "ts", .type = ColumnType::kTimestamp, .timestampPrecision = 12},
      {.name = "d", .type = ColumnType::kDate, .defaultValueExpression = "CURRENT_DATE()"},
      {.name = "t", .type = ColumnType::kTime},
      {.name = "dt", .type = ColumnType::kDatetime},
      {.name = "g", .type = ColumnType::kGeography},
      {.name = "n", .type = ColumnType::kNumeric, .precision = 10, .scale = 2},
      {.name = "bn", .type = ColumnType::kBignumeric, .precision = 40},
      {.name = "iv", .type = ColumnType::kInterval},
      {.name = "j", .type = ColumnType::kJson},
      {.name = "r", .type = ColumnType::kRange, .rangeElementType = ColumnType::kDate},
  }};
}

TEST(SchemaProto, ConvertsBothWaysWithoutLoss) {  // BQT-003
  const storage::TableSchema proto = schemaToProto(everything());
  const auto back = schemaFromProto(proto);
  ASSERT_TRUE(back.ok()) << base::describe(back.status());
  EXPECT_EQ(*back, everything());
  const auto fromBytes = parseStorageSchema(proto.SerializeAsString());
  ASSERT_TRUE(fromBytes.ok());
  EXPECT_EQ(*fromBytes, everything());
  EXPECT_EQ(proto.fields(0).type(), storage::TableFieldSchema::STRING);
  EXPECT_EQ(proto.fields(0).mode(), storage::TableFieldSchema::REQUIRED);
  EXPECT_EQ(proto.fields(13).range_element_type().type(), storage::TableFieldSchema::DATE);
  EXPECT_FALSE(proto.fields(0).has_timestamp_precision());
}

TEST(SchemaProto, TakesAnUnsetModeForNullable) {  // BQT-003
  storage::TableSchema proto;
  proto.add_fields()->set_name("x");
  proto.mutable_fields(0)->set_type(storage::TableFieldSchema::BOOL);
  const auto schema = schemaFromProto(proto);
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->columns[0].mode, ColumnMode::kNullable);
}

TEST(SchemaProto, NamesTheColumnOfAnUnknownType) {  // BQT-003
  storage::TableSchema proto;
  auto* outer = proto.add_fields();
  outer->set_name("outer");
  outer->set_type(storage::TableFieldSchema::STRUCT);
  auto* inner = outer->add_fields();
  inner->set_name("inner");
  inner->set_type(static_cast<storage::TableFieldSchema::Type>(99));
  EXPECT_THAT(base::describe(schemaFromProto(proto).status()),
              ::testing::AllOf(HasSubstr("\"outer.inner\""), HasSubstr("99")));
  inner->set_type(storage::TableFieldSchema::BOOL);
  inner->set_mode(static_cast<storage::TableFieldSchema::Mode>(7));
  EXPECT_THAT(base::describe(schemaFromProto(proto).status()),
              ::testing::AllOf(HasSubstr("\"outer.inner\""), HasSubstr("mode"), HasSubstr("7")));
}

TEST(SchemaProto, RefusesBytesThatAreNoSchema) {
  EXPECT_FALSE(parseStorageSchema("\x0A\xFF\xFF").ok());
}

}  // namespace
}  // namespace penstock::bigquery
