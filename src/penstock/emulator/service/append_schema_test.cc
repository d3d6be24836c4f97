// What an append makes of the table's schema: changes of it, and default values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/row_decoder.h"
#include "penstock/emulator/testing/grpc_server_fixture.h"
#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AppendSchemaTest : public GrpcServerTest {
 protected:
  static Field column(const std::string& name, FieldType type, const std::string& defaultValue = "",
                      FieldMode mode = FieldMode::kNullable) {
    Field field;
    field.name = name;
    field.type = type;
    field.mode = mode;
    field.defaultValueExpression = defaultValue;
    return field;
  }

  void addColumn(const Field& field) {
    const auto seen = catalog_->findTable(table_->reference);
    Schema schema = seen->schema;
    schema.fields.push_back(field);
    const auto changed = catalog_->updateTable(*seen, {seen->reference, schema, seen->properties});
    ASSERT_TRUE(changed.ok()) << changed.status();
    table_ = *changed;
  }

  /// The table's rows as "name|n|...", NULL as "-", with all columns of its schema.
  std::vector<std::string> decoded() {
    std::vector<std::string> found;
    const auto read = rows_->read(
        table_->id, 0, 1000, [&](std::string_view bytes, const RowDescriptorPtr& descriptor) {
          google::protobuf::DescriptorProto proto;
          EXPECT_TRUE(proto.ParsePartialFromString(descriptor->bytes));
          const auto plan = RowPlan::compile(proto, catalog_->findTable(table_->reference)->schema);
          EXPECT_TRUE(plan.ok()) << plan.status();
          RowDecoder decoder(*plan);
          EXPECT_FALSE(decoder.decode(bytes).has_value());
          std::string text;
          for (uint32_t index = decoder.root().firstChild; index != RowNode::kNone;
               index = decoder.node(index).nextSibling) {
            text += (text.empty() ? "" : "|") + textOf(decoder, decoder.node(index));
          }
          found.push_back(text);
          return absl::OkStatus();
        });
    EXPECT_TRUE(read.ok()) << read.status();
    return found;
  }
  static std::string textOf(const RowDecoder& decoder, const RowNode& node) {
    if (node.kind == RowNode::Kind::kNull) return "-";
    if (node.kind == RowNode::Kind::kList) {
      std::string text;
      for (uint32_t index = node.firstChild; index != RowNode::kNone;
           index = decoder.node(index).nextSibling) {
        text += (text.empty() ? "" : ",") + textOf(decoder, decoder.node(index));
      }
      return "[" + text + "]";
    }
    return node.type == FieldType::kString ? std::string(node.text) : std::to_string(node.integer);
  }

  static api::AppendRowsRequest withDefaults(api::AppendRowsRequest request) {
    request.set_default_missing_value_interpretation(api::AppendRowsRequest::DEFAULT_VALUE);
    return request;
  }
};

// BQW-166
TEST_F(AppendSchemaTest, TellsAWriterOnceThatTheSchemaHasChanged) {
  AppendCall call(*stub_);
  EXPECT_FALSE(call.append(request({row("a", 1)})).has_updated_schema());
  addColumn(column("more", FieldType::kString));
  auto response = call.append(request({row("b", 2)}, "", false));
  EXPECT_TRUE(response.has_append_result());
  ASSERT_EQ(response.updated_schema().fields_size(), 3);
  EXPECT_EQ(response.updated_schema().fields(2).name(), "more");
  EXPECT_FALSE(call.append(request({row("c", 3)}, "", false)).has_updated_schema());

  addColumn(column("evenMore", FieldType::kInt64));
  response = call.append(request({"\x0A\x01x"}, "", false));  // also when the rows are refused
  EXPECT_THAT(response.row_errors(), SizeIs(1));
  EXPECT_EQ(response.updated_schema().fields_size(), 4);

  // A connection that is opened after the change has nothing to be told.
  AppendCall later(*stub_);
  EXPECT_FALSE(later.append(request({row("d", 4)})).has_updated_schema());
}

TEST_F(AppendSchemaTest, TellsOfTheChangedTableOnlyOnASharedConnection) {
  createTable("other");
  const std::string other = "projects/p/datasets/d/tables/other/streams/_default";
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  call.append(request({row("a", 1)}, other));
  addColumn(column("more", FieldType::kString));
  EXPECT_FALSE(call.append(request({row("b", 2)}, other)).has_updated_schema());
  EXPECT_TRUE(call.append(request({row("b", 2)})).has_updated_schema());
}

TEST_F(AppendSchemaTest, TakesAColumnThatWasAddedUnderAnOpenConnection) {
  auto wide = request({row("a", 1) + "\x1A\x01x"});
  addField(*wide.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor(), "more",
           3, FieldDescriptorProto::TYPE_STRING);
  AppendCall call(*stub_);
  EXPECT_THAT(call.append(wide).error().message(), HasSubstr("more"));
  addColumn(column("more", FieldType::kString));
  EXPECT_TRUE(call.append(wide).has_append_result());
  EXPECT_THAT(decoded(), ElementsAre("a|1|x"));
}

// BQW-194
TEST_F(AppendSchemaTest, FillsMissingValuesWithDefaultsWhereTheRequestAsksForIt) {
  addColumn(column("state", FieldType::kString, "'new'"));
  addColumn(column("tags", FieldType::kInt64, "[1, 2]", FieldMode::kRepeated));
  AppendCall call(*stub_);
  call.append(request({row("plain", 1)}));
  call.append(withDefaults(request({row("all", 2)}, "", false)));
  call.append(request({row("still", 3)}, "", false));  // holds for what follows
  auto single = request({row("single", 4)}, "", false);
  (*single.mutable_missing_value_interpretations())["tags"] = api::AppendRowsRequest::NULL_VALUE;
  call.append(single);
  call.append(request({row("again", 5)}, "", false));  // which does not
  EXPECT_THAT(decoded(), ElementsAre("plain|1|-|[]", "all|2|new|[1,2]", "still|3|new|[1,2]",
                                     "single|4|new|[]", "again|5|new|[1,2]"));
}

TEST_F(AppendSchemaTest, FillsOnlyRowsThatLackTheValue) {
  addColumn(column("state", FieldType::kString, "'new'"));
  auto wide = withDefaults(
      request({row("a", 1) + "\x1A\x01x", row("b", 2), row("c", 3) + "\x1A" + std::string(1, 0)}));
  addField(*wide.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor(), "STATE",
           3, FieldDescriptorProto::TYPE_STRING);
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(wide).has_append_result());
  EXPECT_THAT(decoded(), ElementsAre("a|1|x", "b|2|new", "c|3|"));
}

// The default's field gets the number behind the writer's last one.
TEST_F(AppendSchemaTest, TakesNoUnknownFieldForADefault) {
  addColumn(column("state", FieldType::kString, "'new'"));
  AppendCall call(*stub_);
  call.append(withDefaults(request({row("a", 1) + "\x1A\x01?", "\x1A\x01?" + row("b", 2)})));
  EXPECT_THAT(decoded(), ElementsAre("a|1|new", "b|2|new"));
}

TEST_F(AppendSchemaTest, FillsARequiredColumnThatHasADefault) {
  // Made with the table: a REQUIRED column cannot be added.
  const auto made =
      catalog_->createTable({{"p", "d", "required"},
                             Schema{{column("name", FieldType::kString),
                                     column("n", FieldType::kInt64, "7", FieldMode::kRequired)}}});
  ASSERT_TRUE(made.ok());
  table_ = *made;
  const std::string stream = "projects/p/datasets/d/tables/required/streams/_default";
  const std::string bare = "\x0A\x01x";
  AppendCall call(*stub_);
  EXPECT_THAT(call.append(request({bare}, stream)).row_errors(), SizeIs(1));
  EXPECT_TRUE(call.append(withDefaults(request({bare, row("y", 9)}, stream))).has_append_result());
  EXPECT_THAT(decoded(), ElementsAre("x|7", "y|9"));
}

TEST_F(AppendSchemaTest, CallsFunctionsForDefaults) {
  addColumn(column("at", FieldType::kTimestamp, "CURRENT_TIMESTAMP()"));
  addColumn(column("id", FieldType::kString, "GENERATE_UUID()"));
  AppendCall call(*stub_);
  const auto before = std::chrono::system_clock::now();
  call.append(withDefaults(request({row("a", 1), row("b", 2)})));
  const std::vector<std::string> found = decoded();
  ASSERT_THAT(found, SizeIs(2));
  std::vector<std::string> ids;
  std::vector<int64_t> times;
  for (const std::string& text : found) {
    const size_t bar = text.rfind('|');
    ids.push_back(text.substr(bar + 1));
    times.push_back(std::stoll(text.substr(text.rfind('|', bar - 1) + 1)));
  }
  EXPECT_EQ(ids[0].size(), 36u);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(times[0], times[1]);
  EXPECT_GE(
      times[0],
      std::chrono::duration_cast<std::chrono::microseconds>(before.time_since_epoch()).count());
}

TEST_F(AppendSchemaTest, RefusesInterpretationsThatMeanNothing) {
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  auto unknown = request({row("b", 2)}, "", false);
  (*unknown.mutable_missing_value_interpretations())["absent"] =
      api::AppendRowsRequest::DEFAULT_VALUE;
  EXPECT_THAT(call.append(unknown).error().message(), HasSubstr("absent"));
  auto unspecified = request({row("b", 2)}, "", false);
  (*unspecified.mutable_missing_value_interpretations())["name"] =
      api::AppendRowsRequest::MISSING_VALUE_INTERPRETATION_UNSPECIFIED;
  EXPECT_EQ(call.append(unspecified).error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(stored(), SizeIs(1));
}

TEST_F(AppendSchemaTest, ListsEveryBadRowOfOnesThatAreFilled) {
  addColumn(column("state", FieldType::kString, "'new'"));
  AppendCall call(*stub_);
  const auto response = call.append(
      withDefaults(request({row("a", 1), "\x0A\x01x", "\x0A\x09", row("b", 2), "\x0A\x01y"})));
  ASSERT_THAT(response.row_errors(), SizeIs(3));
  EXPECT_EQ(response.row_errors(0).index(), 1);
  EXPECT_EQ(response.row_errors(1).index(), 2);
  EXPECT_EQ(response.row_errors(2).index(), 4);
  EXPECT_THAT(stored(), IsEmpty());
}

}  // namespace
}  // namespace penstock::emulator
