#include "penstock/bigquery/schema/row_descriptor.h"

#include <gmock/gmock.h>
#include <google/cloud/bigquery/storage/v1/annotations.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/log.h"
#include "penstock/base/status.h"

namespace penstock::bigquery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptor;
using ::testing::HasSubstr;

/// The schema's rows as protobuf itself understands the derived descriptor, alone in a file.
class RowsOfOneSchema {
 public:
  explicit RowsOfOneSchema(std::vector<Column> columns, const std::string& package = "") {
    const auto serialized = rowDescriptor(TableSchema{std::move(columns)});
    EXPECT_TRUE(serialized.ok()) << base::describe(serialized.status());
    if (!serialized.ok()) return;
    google::protobuf::FileDescriptorProto file;
    file.set_name("row.proto");
    file.set_package(package);
    EXPECT_TRUE(file.add_message_type()->ParseFromString(*serialized));
    proto_ = file.message_type(0);
    const auto* built = pool_.BuildFile(file);
    EXPECT_NE(built, nullptr) << file.DebugString();
    if (built != nullptr) root_ = built->message_type(0);
  }

  [[nodiscard]] const DescriptorProto& proto() const { return proto_; }
  [[nodiscard]] const Descriptor& root() const { return *root_; }
  [[nodiscard]] const FieldDescriptor& field(int number) const {
    return *root_->FindFieldByNumber(number);
  }

  /// The row as protobuf's text, or "unreadable".
  std::string read(std::string_view bytes) {
    const std::unique_ptr<google::protobuf::Message> row(factory_.GetPrototype(root_)->New());
    if (!row->ParseFromString(std::string(bytes))) return "unreadable";
    // Protobuf and the row agree on the bytes, and no field was unknown.
    EXPECT_EQ(row->SerializeAsString(), bytes);
    EXPECT_TRUE(row->GetReflection()->GetUnknownFields(*row).empty());
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    printer.PrintToString(*row, &text);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

 private:
  DescriptorProto proto_;
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
  const Descriptor* root_ = nullptr;
};

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

TEST(RowDescriptor, GivesEveryTypeItsRowField) {  // BQT-004
  const RowsOfOneSchema rows({
      {.name = "c1", .type = ColumnType::kBool},
      {.name = "c2", .type = ColumnType::kInt64},
      {.name = "c3", .type = ColumnType::kDouble},
      {.name = "c4", .type = ColumnType::kTimestamp},
      {.name = "c5", .type = ColumnType::kString},
      {.name = "c6", .type = ColumnType::kJson},
      {.name = "c7", .type = ColumnType::kGeography},
      {.name = "c8", .type = ColumnType::kInterval},
      {.name = "c9", .type = ColumnType::kBytes},
      {.name = "c10", .type = ColumnType::kNumeric},
      {.name = "c11", .type = ColumnType::kBignumeric},
      {.name = "c12", .type = ColumnType::kDate},
      {.name = "c13", .type = ColumnType::kTime},
      {.name = "c14", .type = ColumnType::kDatetime},
      {.name = "c15", .type = ColumnType::kTimestamp, .timestampPrecision = 6},
      {.name = "c16", .type = ColumnType::kTimestamp, .timestampPrecision = 12},
  });
  constexpr FieldDescriptor::Type kExpected[] = {
      FieldDescriptor::TYPE_BOOL,   FieldDescriptor::TYPE_INT64,  FieldDescriptor::TYPE_DOUBLE,
      FieldDescriptor::TYPE_INT64,  FieldDescriptor::TYPE_STRING, FieldDescriptor::TYPE_STRING,
      FieldDescriptor::TYPE_STRING, FieldDescriptor::TYPE_STRING, FieldDescriptor::TYPE_BYTES,
      FieldDescriptor::TYPE_BYTES,  FieldDescriptor::TYPE_BYTES,  FieldDescriptor::TYPE_INT32,
      FieldDescriptor::TYPE_INT64,  FieldDescriptor::TYPE_INT64,  FieldDescriptor::TYPE_INT64,
      FieldDescriptor::TYPE_STRING};
  ASSERT_EQ(rows.root().field_count(), 16);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(rows.root().field(i)->type(), kExpected[i]) << i;
    EXPECT_EQ(rows.root().field(i)->number(), i + 1);  // BQT-005
    EXPECT_EQ(rows.root().field(i)->name(), "c" + std::to_string(i + 1));
  }
  EXPECT_EQ(rows.root().name(), "root");  // BQT-006
}

TEST(RowDescriptor, GivesEveryModeItsLabel) {  // BQT-004, BQT-007
  const RowsOfOneSchema rows(
      {{.name = "o", .type = ColumnType::kInt64},
       {.name = "q", .type = ColumnType::kInt64, .mode = ColumnMode::kRequired},
       {.name = "p", .type = ColumnType::kInt64, .mode = ColumnMode::kRepeated}});
  EXPECT_TRUE(rows.field(1).is_optional());
  EXPECT_TRUE(rows.field(1).has_presence());
  EXPECT_TRUE(rows.field(2).is_required());
  EXPECT_TRUE(rows.field(3).is_repeated());
  EXPECT_FALSE(rows.field(3).is_packed());
}

TEST(RowDescriptor, ReadsTheVectorsOfTheSpecification) {  // vectors 1 to 9
  const Column name{.name = "name", .type = ColumnType::kString};
  const Column n{.name = "n", .type = ColumnType::kInt64};
  EXPECT_EQ(RowsOfOneSchema({name, n}).read(bytes({0x0A, 5, 'a', 'l', 'i', 'c', 'e', 0x10, 3})),
            "name: \"alice\" n: 3");
  EXPECT_EQ(RowsOfOneSchema({name, n}).read(bytes(
                {0x0A, 1, 'a', 0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1})),
            "name: \"a\" n: -1");
  EXPECT_EQ(RowsOfOneSchema(
                {{.name = "id", .type = ColumnType::kInt64},
                 {.name = "child",
                  .type = ColumnType::kStruct,
                  .fields = {{.name = "c_name", .type = ColumnType::kString},
                             {.name = "c_value", .type = ColumnType::kInt64}}},
                 {.name = "tags", .type = ColumnType::kString, .mode = ColumnMode::kRepeated}})
                .read(bytes({0x08, 7, 0x12, 7, 0x0A, 3, 'k', 'i', 'd', 0x10, 7, 0x1A, 1, 'a', 0x1A,
                             1, 'b'})),
            "id: 7 child { c_name: \"kid\" c_value: 7 } tags: \"a\" tags: \"b\"");
  EXPECT_EQ(
      RowsOfOneSchema({{.name = "x", .type = ColumnType::kInt64, .mode = ColumnMode::kRepeated}})
          .read(bytes({0x08, 1, 0x08, 2})),
      "x: 1 x: 2");
  EXPECT_EQ(RowsOfOneSchema({{.name = "d", .type = ColumnType::kDate}})
                .read(bytes({0x08, 0xB4, 0xA1, 1})),
            "d: 20660");
  EXPECT_EQ(RowsOfOneSchema({{.name = "v", .type = ColumnType::kNumeric}})
                .read(bytes({0x0A, 4, 0x80, 0x7C, 0x81, 0x4A})),
            "v: \"\\200|\\201J\"");
  EXPECT_EQ(RowsOfOneSchema({{.name = "m",
                              .type = ColumnType::kStruct,
                              .mode = ColumnMode::kRepeated,
                              .fields = {{.name = "key", .type = ColumnType::kString},
                                         {.name = "value", .type = ColumnType::kInt64}}}})
                .read(bytes({0x0A, 6, 0x0A, 2, 'k', '1', 0x10, 0x64})),
            "m { key: \"k1\" value: 100 }");
  EXPECT_EQ(RowsOfOneSchema(
                {{.name = "r", .type = ColumnType::kRange, .rangeElementType = ColumnType::kDate}})
                .read(bytes({0x0A, 6, 0x08, 0, 0x10, 0xB4, 0xA1, 1})),
            "r { start: 0 end: 20660 }");
  EXPECT_EQ(RowsOfOneSchema({{.name = "s",
                              .type = ColumnType::kStruct,
                              .fields = {{.name = "a", .type = ColumnType::kString}}}})
                .read(bytes({0x0A, 0})),
            "s { }");
}

TEST(RowDescriptor, TypesTheBoundsOfRangesAsTheirElements) {  // BQT-004
  const auto boundType = [](ColumnType element) {
    const RowsOfOneSchema rows(
        {{.name = "r", .type = ColumnType::kRange, .rangeElementType = element}});
    const Descriptor* range = rows.field(1).message_type();
    EXPECT_EQ(range->field_count(), 2);
    EXPECT_EQ(range->FindFieldByNumber(1)->name(), "start");
    EXPECT_EQ(range->FindFieldByNumber(2)->name(), "end");
    EXPECT_TRUE(range->FindFieldByNumber(1)->is_optional());
    EXPECT_EQ(range->FindFieldByNumber(1)->type(), range->FindFieldByNumber(2)->type());
    return range->FindFieldByNumber(1)->type();
  };
  EXPECT_EQ(boundType(ColumnType::kDate), FieldDescriptor::TYPE_INT32);
  EXPECT_EQ(boundType(ColumnType::kDatetime), FieldDescriptor::TYPE_INT64);
  EXPECT_EQ(boundType(ColumnType::kTimestamp), FieldDescriptor::TYPE_INT64);
}

TEST(RowDescriptor, CarriesTheNameOfFlexibleColumns) {  // BQT-005, vectors 24 and 74
  const RowsOfOneSchema rows({{.name = "userName", .type = ColumnType::kString},
                              {.name = "1st-Col", .type = ColumnType::kString},
                              {.name = "na\xC3\xAFve", .type = ColumnType::kString}});
  const auto columnName = [&](int number) {
    return rows.field(number).options().GetExtension(
        google::cloud::bigquery::storage::v1::column_name);
  };
  EXPECT_EQ(rows.field(1).name(), "username");
  EXPECT_EQ(columnName(1), "");
  EXPECT_EQ(rows.field(2).name(), "col_MXN0LWNvbA");
  EXPECT_EQ(columnName(2), "1st-col");
  EXPECT_EQ(rows.field(3).name(), "col_bmHDr3Zl");
  EXPECT_EQ(columnName(3), "na\xC3\xAFve");
}

TEST(RowDescriptor, IsSelfContainedInAnyPackage) {  // BQT-006
  const RowsOfOneSchema rows(
      {{.name = "a",
        .type = ColumnType::kStruct,
        .fields = {{.name = "b",
                    .type = ColumnType::kStruct,
                    .mode = ColumnMode::kRepeated,
                    .fields = {{.name = "leaf", .type = ColumnType::kBool}}}}}},
      "some.package");
  const Descriptor* a = rows.field(1).message_type();
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->name(), "root__a");
  EXPECT_EQ(a->containing_type(), &rows.root());
  EXPECT_EQ(a->field(0)->message_type()->name(), "root__a__b");
  EXPECT_EQ(a->field(0)->message_type()->containing_type(), &rows.root());
}

TEST(RowDescriptor, KeepsMessageNamesClearOfColumns) {  // BQT-006
  const Column leaf{.name = "x", .type = ColumnType::kBool};
  const RowsOfOneSchema rows({
      {.name = "root__a", .type = ColumnType::kString},
      {.name = "a", .type = ColumnType::kStruct, .fields = {leaf}},
      {.name = "b__c", .type = ColumnType::kStruct, .fields = {leaf}},
      {.name = "b",
       .type = ColumnType::kStruct,
       .fields = {{.name = "c", .type = ColumnType::kStruct, .fields = {leaf}}}},
      {.name = "root", .type = ColumnType::kStruct, .fields = {leaf}},
  });
  EXPECT_EQ(rows.field(2).message_type()->name(), "root__a_2");
  EXPECT_EQ(rows.field(3).message_type()->name(), "root__b__c");
  EXPECT_EQ(rows.field(4).message_type()->field(0)->message_type()->name(), "root__b__c_2");
}

TEST(RowDescriptor, WarnsOfTimestampPrecisionsItDoesNotKnow) {  // BQT-004
  std::vector<std::string> warnings;
  base::setLogHook([&](base::LogLevel, std::string_view text) { warnings.emplace_back(text); });
  const RowsOfOneSchema rows(
      {{.name = "t", .type = ColumnType::kTimestamp, .timestampPrecision = 9}});
  base::setLogHook({});
  EXPECT_EQ(rows.field(1).type(), FieldDescriptor::TYPE_INT64);
  EXPECT_THAT(warnings, ::testing::ElementsAre(HasSubstr("\"t\" has timestampPrecision 9")));
}

TEST(RowDescriptor, RefusesSchemasThatAreNone) {  // BQT-003, BQT-005, BQT-006
  const auto refused = [](std::vector<Column> columns) {
    return base::describe(rowDescriptor(TableSchema{std::move(columns)}).status());
  };
  EXPECT_THAT(refused({}), HasSubstr("no columns"));
  EXPECT_THAT(refused({{.name = "s", .type = ColumnType::kStruct}}), HasSubstr("\"s\""));
  EXPECT_THAT(refused({{.name = "id", .type = ColumnType::kBool},
                       {.name = "ID", .type = ColumnType::kBool}}),
              HasSubstr("\"ID\""));
}

}  // namespace
}  // namespace penstock::bigquery
