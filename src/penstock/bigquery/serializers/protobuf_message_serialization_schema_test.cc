#include "penstock/bigquery/serializers/protobuf_message_serialization_schema.h"

#include <google/protobuf/api.pb.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

using Message = google::protobuf::Mixin;  // two strings

template <typename Schema, typename Record>
std::string rowOf(Schema& schema, const Record& record, connector::DestinationId destination) {
  connector::RowBatch rows;
  const auto serialized = schema.serialize(record, destination, rows.beginRow());
  if (!serialized.ok()) {
    rows.discardRow();
    return std::string(base::messageOf(serialized.status()));
  }
  EXPECT_EQ(*serialized, Serialized::kRow);
  rows.commitRow(connector::RowOrigin::kUnknown);
  return toHex(rows.row(0));
}

// BQT-001, BQT-012, BQT-016
TEST(ProtobufMessageSerializationSchema, TakesMessagesOfACompiledInType) {
  const auto mapping = ProtobufMapping::of<Message>();
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ((*mapping)->messageName(), "google.protobuf.Mixin");
  ProtobufMessageSerializationSchema<Message> schema(*mapping);
  const TableName table{.project = "p", .dataset = "d", .table = "t"};
  const auto columns = schema.tableSchema(table);
  ASSERT_TRUE(columns.ok() && columns->has_value());
  EXPECT_EQ((*columns)->columns.size(), 2U);
  constexpr auto kFirst = connector::DestinationId{0};
  constexpr auto kThird = connector::DestinationId{2};
  ASSERT_TRUE(schema.prepare(kFirst, table, &**columns).ok());
  // Another table has the columns the other way round.
  const TableSchema swapped{
      {column("root", ColumnType::kString), column("name", ColumnType::kString)}};
  ASSERT_TRUE(schema.prepare(kThird, table, &swapped).ok());
  Message message;
  message.set_name("n");
  EXPECT_EQ(rowOf(schema, message, kFirst), "0A016E1200");
  EXPECT_EQ(rowOf(schema, message, kThird), "0A0012016E");
  message.set_root(std::string(100, 'r'));
  message.clear_name();
  EXPECT_EQ(rowOf(schema, message, kFirst).substr(0, 10), "0A00126472");
}

// BQW-166
TEST(ProtobufMessageSerializationSchema, TakesColumnsFromElsewhere) {
  const auto mapping = *ProtobufMapping::of<Message>();
  const TableName table{.project = "p", .dataset = "d", .table = "t"};
  ProtobufMessageSerializationSchema<Message> ofTheTable(mapping, std::nullopt);
  EXPECT_FALSE(ofTheTable.tableSchema(table)->has_value());
  const TableSchema other{{column("name", ColumnType::kInt64)}};
  ProtobufBytesSerializationSchema ofOurs(mapping, other);
  EXPECT_EQ(*ofOurs.tableSchema(table), other);
  EXPECT_EQ(base::messageOf(ofOurs.prepare(connector::DestinationId{}, table, &other)),
            "message google.protobuf.Mixin does not fit the table's columns: field name (string) "
            "cannot become column name (INT64); field root (string) has no column "
            "(ignoreFieldsWithoutColumn would drop it)");
}

TEST(ProtobufBytesSerializationSchema, TakesSerializedMessages) {
  const auto mapping = *ProtobufMapping::of<Message>();
  ProtobufBytesSerializationSchema schema(mapping);
  ASSERT_TRUE(schema.prepare(connector::DestinationId{}, {}, &mapping->tableSchema()).ok());
  Message message;
  message.set_root("r");
  const std::string bytes = message.SerializeAsString();
  EXPECT_EQ(rowOf(schema, std::string_view(bytes), connector::DestinationId{}), "0A00120172");
  EXPECT_EQ(rowOf(schema, std::string_view("\x0A\x01\xFF", 3), connector::DestinationId{}),
            "name (STRING): the text is not UTF-8; found \"\\xff\"");
}

}  // namespace
}  // namespace penstock::bigquery
