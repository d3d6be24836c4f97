#include "penstock/bigquery/schema/protobuf_schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/bigquery/serializers/testing/protobuf_fixture.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string columnsOf(std::string_view text, const ProtoSchemaOptions& options = {},
                      std::string_view syntax = "proto3") {
  return ProtobufType(text, options, syntax).columns();
}

// BQT-012, BQT-023, section 11, vector 25: what cannot become columns is an error before any
// record.
TEST(ProtobufSchema, RefusesWhatCannotBecomeColumns) {
  EXPECT_EQ(
      columnsOf("message M { optional int32 id = 1; optional int32 ID = 2; }", {}, "proto2"),
      "field \"ID\": the message has \"id\" too, and BigQuery's column names do not differ by "
      "case");
  EXPECT_EQ(
      columnsOf("message N { required int32 a = 1; required string A = 2; } "
                "message M { required N n = 1; }",
                {}, "proto2"),
      "field \"n.A\": the message has \"a\" too, and BigQuery's column names do not differ by "
      "case");
  EXPECT_EQ(columnsOf("message M { int32 a = 1; M m = 2; }"),
            "field \"m\": message test.M contains itself, and columns cannot; mark the field as "
            "JSON");
  EXPECT_EQ(columnsOf("message N { map<string, M> by = 1; } message M { repeated N n = 1; }"),
            "field \"n.by.value\": message test.M contains itself, and columns cannot; mark the "
            "field as JSON");
  EXPECT_EQ(columnsOf("message N { } message M { N n = 1; }"),
            "field \"n\": message test.N has no fields, and a STRUCT needs at least one");
  EXPECT_EQ(columnsOf("message M { google.protobuf.Empty e = 1; }"),
            "field \"e\": message google.protobuf.Empty has no fields, and a STRUCT needs at least "
            "one");
  EXPECT_EQ(columnsOf("message M { }"),
            "message test.M has no fields, and a STRUCT needs at least one");
}

// BQT-017, BQT-023: siblings may share a type; what is JSON may contain itself.
TEST(ProtobufSchema, TakesSharedAndRecursiveTypesWhereTheyFit) {
  EXPECT_EQ(columnsOf("message N { int32 a = 1; } message M { N one = 1; N two = 2; }"),
            "one STRUCT<a INT64>, two STRUCT<a INT64>");
  EXPECT_EQ(columnsOf("message M { int32 a = 1; repeated M m = 2; }", {.jsonFieldPaths = {"m"}}),
            "a INT64, m REPEATED JSON");
  EXPECT_EQ(columnsOf("message M { google.protobuf.Struct s = 1; }"), "s JSON");
}

// BQT-013, BQT-016: declared order, no REQUIRED without the option, no extensions.
TEST(ProtobufSchema, FollowsTheDeclaredOrder) {
  EXPECT_EQ(columnsOf(R"(message M { required int32 z = 9; optional string a = 2;
                         oneof one { bool y = 4; double b = 3; } extensions 100 to 200; }
                         extend M { optional int32 extra = 100; })",
                      {}, "proto2"),
            "z INT64, a STRING, y BOOL, b FLOAT64");
}

// BQT-026
TEST(ProtobufSchema, DerivesRequiredColumnsWhenAsked) {
  const ProtoSchemaOptions options{.deriveRequiredColumns = true};
  EXPECT_EQ(columnsOf(R"(enum E { Z = 0; } message N { int32 a = 1; }
      message M { int32 a = 1; optional int32 b = 2; repeated int32 c = 3; oneof o { string d = 4; }
                  E e = 5; N f = 6; google.protobuf.Timestamp g = 7; google.protobuf.Value h = 8;
                  map<string, int32> i = 9; map<string, N> j = 10; google.protobuf.Int32Value k = 11;
                  repeated google.protobuf.Value l = 12; })",
                      options),
            "a REQUIRED INT64, b INT64, c REPEATED INT64, d STRING, e REQUIRED STRING, "
            "f STRUCT<a REQUIRED INT64>, g TIMESTAMP, h JSON, "
            "i REPEATED STRUCT<key REQUIRED STRING, value REQUIRED INT64>, "
            "j REPEATED STRUCT<key REQUIRED STRING, value STRUCT<a REQUIRED INT64>>, k INT64, "
            "l REPEATED JSON");
  EXPECT_EQ(columnsOf(R"(message N { optional int32 a = 1; }
      message M { required int32 a = 1; optional int32 b = 2; required N c = 3;
                  required google.protobuf.Int32Value d = 4; required string e = 5;
                  map<string, int32> f = 6; })",
                      {.deriveRequiredColumns = true, .jsonFieldPaths = {"e"}}, "proto2"),
            "a REQUIRED INT64, b INT64, c REQUIRED STRUCT<a INT64>, d REQUIRED INT64, e JSON, "
            "f REPEATED STRUCT<key STRING, value INT64>");
}

// BQT-020, BQT-021
TEST(ProtobufSchema, ChecksMarkedPaths) {
  constexpr const char* kText = R"(
    enum E { Z = 0; } message N { string s = 1; int32 i = 2; }
    message M { N n = 1; map<string, string> m = 2; E e = 3; bytes b = 4; string s = 5;
                google.protobuf.Struct st = 6; google.protobuf.Int64Value w = 7; })";
  EXPECT_EQ(columnsOf(kText, {.jsonFieldPaths = {"n.s", "m.value"}, .geographyFieldPaths = {"s"}}),
            "n STRUCT<s JSON, i INT64>, m REPEATED STRUCT<key STRING, value JSON>, e STRING, "
            "b BYTES, s GEOGRAPHY, st JSON, w INT64");
  EXPECT_EQ(
      columnsOf(kText, {.jsonFieldPaths = {"nope", "n.s"}, .geographyFieldPaths = {"w.value"}}),
      "message test.M has no field \"nope\", \"w.value\", named in jsonFieldPaths or "
      "geographyFieldPaths (nothing below a field that becomes a single value can be marked)");
  EXPECT_THAT(columnsOf(kText, {.jsonFieldPaths = {"n", "n.s"}}), HasSubstr("\"n.s\""));
  EXPECT_EQ(columnsOf(kText, {.jsonFieldPaths = {"s"}, .geographyFieldPaths = {"s"}}),
            "field \"s\" is marked both as JSON and as GEOGRAPHY");
  EXPECT_EQ(columnsOf(kText, {.jsonFieldPaths = {"m"}}),
            "field \"m\" is marked as JSON, and only a string or a message can be; it is a map");
  EXPECT_THAT(columnsOf(kText, {.jsonFieldPaths = {"e"}}), HasSubstr("it is enum"));
  EXPECT_THAT(columnsOf(kText, {.jsonFieldPaths = {"b"}}), HasSubstr("it is bytes"));
  EXPECT_THAT(columnsOf(kText, {.jsonFieldPaths = {"n.i"}}), HasSubstr("it is int32"));
  EXPECT_THAT(columnsOf(kText, {.geographyFieldPaths = {"n"}}), HasSubstr("only a string can be"));
  EXPECT_THAT(columnsOf(kText, {.geographyFieldPaths = {"st"}}), HasSubstr("only a string can be"));
  EXPECT_THAT(columnsOf(kText, {.jsonFieldPaths = {" "}}), HasSubstr("must not be blank"));
}

constexpr const char* kOptions = R"(
  extend google.protobuf.FieldOptions { bool is_json = 50001; bool is_place = 50002;
                                        string text = 50003; repeated bool many = 50004; }
  message Scope { extend google.protobuf.FieldOptions { bool inner = 50005; } }
  message M { string j = 1 [(is_json) = true]; string n = 2 [(is_json) = false];
              string g = 3 [(is_place) = true]; string t = 4 [(text) = "x"];
              string m = 5 [(many) = true]; string i = 6 [(Scope.inner) = true]; })";

// BQT-020, BQT-022: options that the descriptor set brings as bytes.
TEST(ProtobufSchema, MarksFieldsByTheirOptions) {
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50001, "test.is_json"}},
                                 .geographyFieldOptions = {{50002, ""}}}),
            "j JSON, n STRING, g GEOGRAPHY, t STRING, m STRING, i STRING");
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50005, "test.Scope.inner"}}}),
            "j STRING, n STRING, g STRING, t STRING, m STRING, i JSON");
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50001, "other.name"}}}),
            "j STRING, n STRING, g STRING, t STRING, m STRING, i STRING");
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50003, ""}}}),
            "field \"t\": the field option 50003 on it is not a singular bool");
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50004, ""}}}),
            "field \"m\": the field option 50004 on it is not a singular bool");
  // An option that no field has is none of a message type's business.
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{536870911, ""}}}),
            "j STRING, n STRING, g STRING, t STRING, m STRING, i STRING");
}

// BQT-015, vector 26
TEST(ProtobufSchema, ChecksOptionNumbers) {
  for (const int number : {999, 19000, 19500, 19999, 536870912, 0, -1}) {
    EXPECT_THAT(columnsOf(kOptions, {.jsonFieldOptions = {{number, ""}}}),
                AllOf(HasSubstr("jsonFieldOptions"), HasSubstr(fmt::format("found {}", number))));
  }
  EXPECT_EQ(columnsOf(kOptions,
                      {.jsonFieldOptions = {{50001, ""}}, .geographyFieldOptions = {{50001, ""}}}),
            "the field option 50001 marks fields both as JSON and as GEOGRAPHY");
  // A name stays when the number is given again without one; the last of two names wins.
  EXPECT_EQ(columnsOf(kOptions, {.jsonFieldOptions = {{50001, "other.name"}, {50001, ""}}}),
            "j STRING, n STRING, g STRING, t STRING, m STRING, i STRING");
  EXPECT_EQ(
      columnsOf(kOptions, {.jsonFieldOptions = {{50001, "other.name"}, {50001, "test.is_json"}}}),
      "j JSON, n STRING, g STRING, t STRING, m STRING, i STRING");
}

// BQT-022: without a declaration only what looks like a bool is one.
TEST(ProtobufSchema, ReadsOptionsWithoutTheirDeclaration) {
  const auto columnsWithOption = [](int number, uint64_t value, int times) {
    google::protobuf::FileDescriptorSet set;
    set.ParseFromString(descriptorSetOf("message M { string s = 1; }"));
    google::protobuf::FieldDescriptorProto* field =
        set.mutable_file(0)->mutable_message_type(0)->mutable_field(0);
    google::protobuf::FieldOptions* options = field->mutable_options();
    for (int i = 0; i < times; ++i) {
      options->GetReflection()->MutableUnknownFields(options)->AddVarint(number, value);
    }
    const auto mapping = ProtobufMapping::fromDescriptorSet(
        set.SerializeAsString(), "test.M", {.jsonFieldOptions = {{50001, "a.name"}}});
    if (!mapping.ok()) return std::string(base::messageOf(mapping.status()));
    return (*mapping)->tableSchema().columns[0].type == ColumnType::kJson ? std::string("JSON")
                                                                          : std::string("STRING");
  };
  EXPECT_EQ(columnsWithOption(50001, 1, 1), "JSON");
  EXPECT_EQ(columnsWithOption(50001, 0, 1), "STRING");
  EXPECT_EQ(columnsWithOption(50002, 1, 1), "STRING");
  const std::string error =
      "field \"s\": the field option 50001 on it is not encoded as a singular bool";
  EXPECT_EQ(columnsWithOption(50001, 2, 1), error);
  EXPECT_EQ(columnsWithOption(50001, 1, 2), error);
}

TEST(ProtobufDescriptorSet, SaysWhatIsWrongWithASet) {
  const auto errorOf = [](std::string_view set, std::string_view name) {
    return std::string(base::messageOf(ProtobufMapping::fromDescriptorSet(set, name).status()));
  };
  EXPECT_THAT(errorOf("no set", "test.M"),
              HasSubstr("not a descriptor set: write one with protoc"));
  EXPECT_THAT(errorOf("", "test.M"), HasSubstr("not a descriptor set"));
  EXPECT_EQ(errorOf(descriptorSetOf("message A { int32 a = 1; message B { int32 b = 1; } }"), "A"),
            "the descriptor set has no message \"A\"; it has test.A, test.A.B");
  google::protobuf::FileDescriptorSet lonely;
  google::protobuf::FileDescriptorProto* file = lonely.add_file();
  file->set_name("lonely.proto");
  file->add_dependency("other.proto");
  EXPECT_EQ(errorOf(lonely.SerializeAsString(), "M"),
            "the descriptor set has no file other.proto, which lonely.proto imports; write the set "
            "with protoc --include_imports --descriptor_set_out=FILE");
  file->set_dependency(0, "lonely.proto");
  EXPECT_EQ(errorOf(lonely.SerializeAsString(), "M"),
            "the descriptor set is malformed: lonely.proto imports itself");
}

// A descriptor from outside may call any message the entry of a map.
TEST(ProtobufDescriptorSet, RefusesEntriesOfMapsWithoutKeyAndValue) {
  google::protobuf::FileDescriptorSet set;
  set.ParseFromString(descriptorSetOf("message M { int32 a = 1; }"));
  set.mutable_file(0)->mutable_message_type(0)->mutable_options()->set_map_entry(true);
  EXPECT_EQ(
      base::messageOf(
          ProtobufMapping::fromDescriptorSet(set.SerializeAsString(), "test.M").status()),
      "the descriptor set is malformed: test.M is called a map's entry and has not its key and "
      "value");
}

// Google's own files are linked in.
TEST(ProtobufDescriptorSet, DoesWithoutGooglesFiles) {
  google::protobuf::FileDescriptorSet set;
  set.ParseFromString(descriptorSetOf(R"(message M { google.protobuf.Timestamp t = 1;
                                         google.protobuf.Struct s = 2; })"));
  google::protobuf::FileDescriptorSet alone;
  *alone.add_file() = set.file(set.file_size() - 1);
  const auto mapping = ProtobufMapping::fromDescriptorSet(alone.SerializeAsString(), "test.M");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ((*mapping)->tableSchema().columns[0].type, ColumnType::kTimestamp);
}

}  // namespace
}  // namespace penstock::bigquery
