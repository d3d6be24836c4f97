#include "penstock/bigquery/serializers/protobuf_message_serializer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"
#include "penstock/bigquery/serializers/testing/protobuf_fixture.h"

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// BQT-016, BQT-019: a field without presence is always written.
TEST(ProtobufMessageSerializer, WritesEveryScalar) {
  const ProtobufType type(R"(message M {
    int32 a = 1; sint32 b = 2; sfixed32 c = 3; int64 d = 4; sint64 e = 5; sfixed64 f = 6;
    uint32 g = 7; fixed32 h = 8; uint64 i = 9; fixed64 j = 10; float k = 11; double l = 12;
    bool m = 13; string n = 14; bytes o = 15; })");
  EXPECT_EQ(type.textRow(R"(a: -1 b: -2 c: -3 d: -4 e: -5 f: -6 g: 4294967295 h: 4294967294
                            i: 9223372036854775807 j: 8 k: 0.5 l: -0.25 m: true n: "ä" o: "\377")"),
            "a: -1 b: -2 c: -3 d: -4 e: -5 f: -6 g: 4294967295 h: 4294967294 "
            "i: 9223372036854775807 j: 8 k: 0.5 l: -0.25 m: true n: \"\\303\\244\" o: \"\\377\"");
  EXPECT_EQ(type.textRow(""),
            "a: 0 b: 0 c: 0 d: 0 e: 0 f: 0 g: 0 h: 0 i: 0 j: 0 k: 0 l: 0 m: false n: \"\" o: \"\"");
  EXPECT_EQ(
      type.textRow("d: 7 n: \"x\""),
      "a: 0 b: 0 c: 0 d: 7 e: 0 f: 0 g: 0 h: 0 i: 0 j: 0 k: 0 l: 0 m: false n: \"x\" o: \"\"");
}

// Section 11, vector 13
TEST(ProtobufMessageSerializer, WidensUnsignedNumbersAndRefusesThoseBeyondInt64) {
  EXPECT_EQ(ProtobufType("message M { uint32 v = 1; }").hexRow("v: 3000000000"), "0880BCC1960B");
  for (const char* kind : {"uint64", "fixed64"}) {
    EXPECT_EQ(ProtobufType(fmt::format("message M {{ {} v = 1; }}", kind))
                  .hexRow("v: 17293822569102704640"),
              "v (INT64): INT64 ends at 9223372036854775807, and the value is "
              "17293822569102704640");
  }
}

// A float is widened exactly.
TEST(ProtobufMessageSerializer, WidensFloats) {
  EXPECT_EQ(ProtobufType("message M { float v = 1; }").textRow("v: 0.1"), "v: 0.10000000149011612");
}

// Vector 14, 15
TEST(ProtobufMessageSerializer, WritesTimestampsAsMicroseconds) {
  const ProtobufType type("message M { google.protobuf.Timestamp t = 1; }");
  EXPECT_EQ(type.columns(), "t TIMESTAMP");
  EXPECT_EQ(type.textRow("t { seconds: 1767323045 nanos: 123456789 }"), "t: 1767323045123456");
  EXPECT_EQ(type.textRow("t { seconds: -1 nanos: 999999999 }"), "t: -1");
  EXPECT_EQ(type.textRow("t { }"), "t: 0");
  EXPECT_EQ(type.textRow(""), "");
  EXPECT_EQ(type.textRow("t { seconds: -62135596800 }"), "t: -62135596800000000");
  EXPECT_EQ(type.textRow("t { seconds: 253402300799 nanos: 999999999 }"), "t: 253402300799999999");
  EXPECT_EQ(type.textRow("t { seconds: 253402300800 }"),
            "t (TIMESTAMP): a Timestamp is in the years 1 to 9999 and has 0 to 999999999 nanos; "
            "found seconds 253402300800, nanos 0");
  EXPECT_THAT(type.textRow("t { seconds: -62135596801 }"), HasSubstr("found seconds -62135596801"));
  EXPECT_THAT(type.textRow("t { nanos: -1 }"), HasSubstr("nanos -1"));
  EXPECT_THAT(type.textRow("t { nanos: 1000000000 }"), HasSubstr("nanos 1000000000"));
}

// Vector 16
TEST(ProtobufMessageSerializer, WritesDurationsAsMicroseconds) {
  const ProtobufType type("message M { google.protobuf.Duration d = 1; }");
  EXPECT_EQ(type.columns(), "d INT64");
  EXPECT_EQ(type.textRow("d { nanos: 1500 }"), "d: 1");
  EXPECT_EQ(type.textRow("d { nanos: -1500 }"), "d: -1");
  EXPECT_EQ(type.textRow("d { seconds: -1 nanos: -500000000 }"), "d: -1500000");
  EXPECT_EQ(type.textRow("d { seconds: 315576000001 }"),
            "d (INT64): a Duration has at most 315576000000 seconds and 999999999 nanos, of one "
            "sign; found seconds 315576000001, nanos 0");
  EXPECT_THAT(type.textRow("d { seconds: 1 nanos: -1 }"), HasSubstr("seconds 1, nanos -1"));
  EXPECT_THAT(type.textRow("d { seconds: -1 nanos: 1 }"), HasSubstr("seconds -1, nanos 1"));
  EXPECT_THAT(type.textRow("d { nanos: -1000000000 }"), HasSubstr("nanos -1000000000"));
}

// Vector 17
TEST(ProtobufMessageSerializer, JoinsThePathsOfFieldMasks) {
  const ProtobufType type("message M { google.protobuf.FieldMask m = 1; }");
  EXPECT_EQ(type.columns(), "m STRING");
  EXPECT_EQ(type.textRow("m { paths: 'foo_bar' paths: '' paths: 'b.c' }"), "m: \"foo_bar,b.c\"");
  EXPECT_EQ(type.textRow("m { }"), "m: \"\"");
  EXPECT_EQ(type.textRow(""), "");
}

// Vector 18
TEST(ProtobufMessageSerializer, WritesTheNamesOfEnumValues) {
  const ProtobufType type(R"(
    enum Color { option allow_alias = true; RED = 0; ROT = 0; BLUE = -5; FAR = 100000; }
    message M { Color c = 1; repeated Color more = 2; })");
  EXPECT_EQ(type.columns(), "c STRING, more REPEATED STRING");
  EXPECT_EQ(type.textRow("c: BLUE more: RED more: ROT more: FAR"),
            "c: \"BLUE\" more: \"RED\" more: \"RED\" more: \"FAR\"");
  EXPECT_EQ(type.textRow(""), "c: \"RED\"");
  EXPECT_EQ(type.textRow("c: 7"), "c: \"UNKNOWN_ENUM_VALUE_Color_7\"");
}

// A closed enum's unknown number is an unknown field, as protobuf reads it.
TEST(ProtobufMessageSerializer, LeavesUnknownNumbersOfClosedEnumsUnset) {
  constexpr const char* kText = R"(
    enum Color { RED = 0; BLUE = 2; }
    message M { optional Color c = 1; repeated Color more = 2; map<string, Color> by = 3; })";
  const ProtobufType type(kText, {}, "proto2");
  EXPECT_EQ(type.textRow("c: BLUE more: RED by { key: 'a' value: BLUE }"),
            "c: \"BLUE\" more: \"RED\" by { key: \"a\" value: \"BLUE\" }");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0807")), "");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("1007100010071002")), "12035245441204424C5545");
  // The entry whole: {"a": 7}, {"b": 1}.
  EXPECT_EQ(type.hexRowOfBytes(fromHex("1A050A01611007 1A050A01621000")), "1A080A01621203524544");
  EXPECT_EQ(type.textRow("by { key: 'a' }"), "by { key: \"a\" value: \"RED\" }");
}

// Vector 19
TEST(ProtobufMessageSerializer, UnwrapsWrappers) {
  const ProtobufType type(R"(message M {
    google.protobuf.Int64Value a = 1; google.protobuf.StringValue b = 2;
    google.protobuf.DoubleValue c = 3; google.protobuf.BoolValue d = 4;
    google.protobuf.BytesValue e = 5; google.protobuf.UInt64Value f = 6;
    google.protobuf.FloatValue g = 7; google.protobuf.Int32Value h = 8;
    google.protobuf.UInt32Value i = 9; repeated google.protobuf.Int32Value j = 10; })");
  EXPECT_EQ(type.columns(),
            "a INT64, b STRING, c FLOAT64, d BOOL, e BYTES, f INT64, g FLOAT64, h INT64, i INT64, "
            "j REPEATED INT64");
  EXPECT_EQ(type.textRow(""), "");
  EXPECT_EQ(type.textRow("a { } b { } c { } d { } e { } f { } g { } h { } i { }"),
            "a: 0 b: \"\" c: 0 d: false e: \"\" f: 0 g: 0 h: 0 i: 0");
  EXPECT_EQ(type.textRow("a { value: -5 } b { value: 'x' } c { value: 0.5 } d { value: true } "
                         "e { value: 'y' } f { value: 6 } g { value: 1.5 } h { value: -1 } "
                         "i { value: 4294967295 } j { value: 1 } j { }"),
            "a: -5 b: \"x\" c: 0.5 d: true e: \"y\" f: 6 g: 1.5 h: -1 i: 4294967295 j: 1 j: 0");
  EXPECT_THAT(type.textRow("f { value: 17293822569102704640 }"),
              StartsWith("f (INT64): INT64 ends at"));
}

// Vector 20: Struct, Value and ListValue are JSON without being marked.
TEST(ProtobufMessageSerializer, WritesStructsAndValuesAsJson) {
  const ProtobufType type(R"(message M {
    google.protobuf.Value v = 1; google.protobuf.Struct s = 2; google.protobuf.ListValue l = 3; })");
  EXPECT_EQ(type.columns(), "v JSON, s JSON, l JSON");
  EXPECT_EQ(type.textRow("v { string_value: 'abc' }"), R"(v: "\"abc\"")");
  EXPECT_EQ(type.textRow("v { null_value: NULL_VALUE }"), R"(v: "null")");
  EXPECT_EQ(type.textRow("v { }"), R"(v: "null")");
  EXPECT_EQ(type.textRow(""), "");
  EXPECT_EQ(type.textRow("v { number_value: 0 }"), R"(v: "0")");
  EXPECT_EQ(type.textRow("v { bool_value: false }"), R"(v: "false")");
  EXPECT_EQ(type.textRow("s { } l { }"), R"(s: "{}" l: "[]")");
  EXPECT_EQ(type.textRow("s { fields { key: 'k\"' value { list_value { values { number_value: 1.5 }"
                         " values { struct_value { } } values { bool_value: true } } } } }"),
            R"(s: "{\"k\\\"\":[1.5,{},true]}")");
  EXPECT_THAT(type.textRow("v { number_value: nan }"),
              StartsWith("v.number_value (JSON): a google.protobuf.Value cannot be NaN"));
}

// Vector 7, BQT-016: key and value of a map are always written.
TEST(ProtobufMessageSerializer, WritesMapsAsRepeatedKeysAndValues) {
  const ProtobufType type("message M { map<string, int64> m = 1; }");
  EXPECT_EQ(type.columns(), "m REPEATED STRUCT<key STRING, value INT64>");
  EXPECT_EQ(type.hexRow("m { key: 'k1' value: 100 }"), "0A060A026B311064");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A00")), "0A040A001000");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A021064")), "0A040A001064");
  // A key twice: the last entry counts.
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A060A026B3110640A060A026B311065")), "0A060A026B311065");
  const ProtobufType nested("message In { int64 a = 1; } message M { map<int32, In> m = 1; }");
  EXPECT_EQ(nested.hexRowOfBytes(fromHex("0A020807")), "0A06080712020800");
  EXPECT_EQ(nested.hexRowOfBytes(fromHex("0A0408071200")), "0A06080712020800");
  const ProtobufType times("message M { map<int32, google.protobuf.Timestamp> m = 1; }");
  EXPECT_EQ(times.columns(), "m REPEATED STRUCT<key INT64, value TIMESTAMP>");
  EXPECT_EQ(times.hexRowOfBytes(fromHex("0A020807")), "0A0408071000");
}

TEST(ProtobufMessageSerializer, WritesNestedMessagesGroupsAndOneofs) {
  const ProtobufType type(R"(
    message In { optional int64 a = 1; optional In2 in = 2; }
    message In2 { repeated string s = 3; }
    message M { optional In in = 1; repeated In more = 2;
                optional group G = 3 { optional sint32 b = 1; }
                oneof one { int32 x = 4; string y = 5; } })",
                          {}, "proto2");
  EXPECT_EQ(type.columns(),
            "in STRUCT<a INT64, in STRUCT<s REPEATED STRING>>, more REPEATED STRUCT<a INT64, in "
            "STRUCT<s REPEATED STRING>>, g STRUCT<b INT64>, x INT64, y STRING");
  EXPECT_EQ(
      type.textRow("in { a: 1 in { s: 'p' s: 'q' } } more { } more { a: 2 } G { b: -3 } y: ''"),
      "in { a: 1 in { s: \"p\" s: \"q\" } } more { } more { a: 2 } g { b: -3 } y: \"\"");
  EXPECT_EQ(type.textRow("in { }"), "in { }");
  EXPECT_EQ(type.hexRow("in { }"), "0A00");
}

// BQT-019: presence is kept; proto2 defaults are not applied.
TEST(ProtobufMessageSerializer, KeepsPresence) {
  const ProtobufType proto2(
      "message M { optional int32 a = 1 [default = 7]; optional string b = 2; }", {}, "proto2");
  EXPECT_EQ(proto2.textRow(""), "");
  EXPECT_EQ(proto2.textRow("a: 0 b: ''"), "a: 0 b: \"\"");
  const ProtobufType proto3("message M { optional int32 a = 1; string b = 2; }");
  EXPECT_EQ(proto3.textRow(""), "b: \"\"");
  EXPECT_EQ(proto3.textRow("a: 0"), "a: 0 b: \"\"");
}

// Vectors 21, 22, BQT-018, BQT-019, BQT-020
TEST(ProtobufMessageSerializer, WritesMarkedFieldsAsJsonAndGeography) {
  const ProtobufType messages(R"(message In { string s = 1; int64 n = 2; int32 zero = 3; }
                                 message M { In m = 1; google.protobuf.Int64Value w = 2; })",
                              {.jsonFieldPaths = {"m", "w"}});
  EXPECT_EQ(messages.columns(), "m JSON, w JSON");
  EXPECT_EQ(messages.textRow("m { s: 'x' n: 9 } w { value: 5 }"),
            R"(m: "{\"s\":\"x\",\"n\":\"9\"}" w: "\"5\"")");
  EXPECT_EQ(messages.textRow("m { } w { }"), R"(m: "{}" w: "\"0\"")");
  const ProtobufType texts(R"(message M { string j = 1; optional string o = 2; string g = 3;
                                          repeated string r = 4; })",
                           {.jsonFieldPaths = {"j", "o", "r"}, .geographyFieldPaths = {"g"}});
  EXPECT_EQ(texts.columns(), "j JSON, o JSON, g GEOGRAPHY, r REPEATED JSON");
  EXPECT_EQ(texts.textRow(""), "");
  EXPECT_EQ(texts.textRow("o: '' r: ''"), "o: \"\" r: \"\"");
  EXPECT_EQ(texts.textRow("j: '{bad' g: 'POINT(1 2)'"), "j: \"{bad\" g: \"POINT(1 2)\"");
  // An empty text without presence that someone wrote nevertheless.
  EXPECT_EQ(texts.hexRowOfBytes(fromHex("0A00")), "");
}

// Vector 23, BQT-017: a well-known type needs its shape.
TEST(ProtobufMessageSerializer, TakesWellKnownTypesByTheirShape) {
  const std::string set = [] {
    google::protobuf::FileDescriptorSet files;
    google::protobuf::FileDescriptorProto* file = files.add_file();
    file->set_name("odd.proto");
    file->set_package("google.protobuf");
    file->set_syntax("proto3");
    google::protobuf::DescriptorProto* duration = file->add_message_type();
    duration->set_name("Duration");
    google::protobuf::FieldDescriptorProto* field = duration->add_field();
    field->set_name("millis");
    field->set_number(1);
    field->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    field->set_type(google::protobuf::FieldDescriptorProto::TYPE_INT64);
    google::protobuf::DescriptorProto* message = file->add_message_type();
    message->set_name("M");
    google::protobuf::FieldDescriptorProto* holder = message->add_field();
    holder->set_name("d");
    holder->set_number(1);
    holder->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    holder->set_type(google::protobuf::FieldDescriptorProto::TYPE_MESSAGE);
    holder->set_type_name(".google.protobuf.Duration");
    return files.SerializeAsString();
  }();
  const auto mapping = ProtobufMapping::fromDescriptorSet(set, "google.protobuf.M");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  ASSERT_EQ((*mapping)->tableSchema().columns.size(), 1U);
  EXPECT_EQ((*mapping)->tableSchema().columns[0].type, ColumnType::kStruct);
  EXPECT_EQ((*mapping)->tableSchema().columns[0].fields[0].name, "millis");
}

// Vector 24, BQT-008
TEST(ProtobufMessageSerializer, PairsMixedCaseNames) {
  const ProtobufType type("message M { string userName = 1; }");
  EXPECT_EQ(type.columns(), "userName STRING");
  EXPECT_EQ(type.hexRow("userName: 'x'"), "0A0178");
  EXPECT_EQ(type.textRow("userName: 'x'"), "username: \"x\"");
}

// BQT-007, BQT-016: columns follow the declared order, fields of a row their numbers.
TEST(ProtobufMessageSerializer, PutsFieldsInTheOrderOfTheColumns) {
  const ProtobufType type(R"(
    message In { string b = 9; int64 a = 4; }
    message M { int64 last = 3; In in = 2; string first = 1; repeated int32 r = 7;
                map<string, In> m = 6; })");
  EXPECT_EQ(type.hexRow("last: 1 in { a: 2 b: 'x' } first: 'y' r: 5 r: 6"),
            "080112050A017810021A017920052006");
  EXPECT_EQ(type.hexRow("in { a: 2 }"), "080012040A0010021A00");
  EXPECT_EQ(type.textRow("m { key: 'k' value { a: 3 } } m { key: 'l' }"),
            "last: 0 first: \"\" m { key: \"k\" value { b: \"\" a: 3 } } m { key: \"l\" value { b: "
            "\"\" a: 0 } }");
}

// Protobuf lets every field come in any order, more than once, packed or not.
TEST(ProtobufMessageSerializer, ReadsWhatProtobufReads) {
  const ProtobufType type(R"(message In { optional int64 a = 1; optional int64 b = 2; }
      message M { optional int64 x = 1; optional In in = 2; repeated int32 r = 3;
                  repeated int32 p = 4 [packed = true]; oneof one { int64 o = 5; In q = 6; } })",
                          {}, "proto2");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("08010802")), "0802");                  // the last counts
  EXPECT_EQ(type.hexRowOfBytes(fromHex("1202080112021002")), "120408011002");  // merged
  EXPECT_EQ(type.hexRowOfBytes(fromHex("18010803 1802")),
            "080318011802");  // out of order
  EXPECT_EQ(type.hexRowOfBytes(fromHex("1A0301027F 2001 2205010203FF01")),
            "18011802187F200120012002200320FF01");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("1A00")), "");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("280132020801")), "32020801");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("320208012801")), "2801");
  // int32 in five bytes: a writer that does not extend the sign.
  EXPECT_EQ(type.hexRowOfBytes(fromHex("18FFFFFFFF0F")), "18FFFFFFFFFFFFFFFFFF01");
}

// BQT-016: unknown fields are no columns.
TEST(ProtobufMessageSerializer, DropsOrRefusesUnknownFields) {
  ProtobufType type("message In { int64 a = 1; } message M { int64 x = 1; In in = 2; }");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("4A0178 0805 12050801 5A0179 530805 54")), "080512020801");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("080512020801 3D01020304")), "080512020801");
  type.with({.rejectUnknownFields = true});
  EXPECT_EQ(type.hexRowOfBytes(fromHex("080512020801")), "080512020801");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("080512050801 5A0179")),
            "in: message test.In has no field 11 (found at byte 7)");
  // Behind what only protobuf's own reading puts in order.
  EXPECT_EQ(type.hexRowOfBytes(fromHex("12020801 0805 5A0179")), "message test.M has no field 11");
}

TEST(ProtobufMessageSerializer, SaysWhereAMalformedMessageIsWrong) {
  const ProtobufType type(R"(message In { repeated string s = 1; }
                             message M { int64 x = 1; repeated In in = 2; fixed64 f = 3;
                                         repeated uint64 u = 4; })");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("08")),
            "x (INT64): malformed message: the value at byte 1 goes on behind the end, or is no "
            "protobuf");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0801 12040A05")),
            "in[0]: malformed message at byte 3: the message goes on behind the end; is this a "
            "test.M?");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0801 1200 12050A01610A05")),
            "in[1].s[1] (REPEATED STRING): malformed message: the value at byte 10 goes on behind "
            "the end, or is no protobuf");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("12030A01FF")),
            "in[0].s[0] (REPEATED STRING): the text is not UTF-8; found \"\\xff\"");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A0161")),
            "x (INT64): field 1 is written as a varint and was found as bytes with a length at "
            "byte 1: is this a test.M?");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("00")),
            "malformed message at byte 1: no field begins here; is this a test.M?");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("220C0105 FFFFFFFFFFFFFFFFFF01")),
            "u[2] (REPEATED INT64): INT64 ends at 9223372036854775807, and the value is "
            "18446744073709551615");
}

// BQT-007, BQT-026: a REQUIRED field is checked in every message that is there.
TEST(ProtobufMessageSerializer, FailsARowWithoutARequiredField) {
  const ProtobufType type(R"(message In { required int32 a = 1; }
                             message M { required string s = 1; optional In in = 2; })",
                          {.deriveRequiredColumns = true}, "proto2");
  EXPECT_EQ(type.columns(), "s REQUIRED STRING, in STRUCT<a REQUIRED INT64>");
  EXPECT_EQ(type.textRow("s: ''"), "s: \"\"");
  EXPECT_EQ(type.textRow("in { a: 1 }"),
            "s (STRING): the column is REQUIRED and the field is not set");
  EXPECT_EQ(type.textRow("s: 'x' in { }"),
            "in.a (INT64): the column is REQUIRED and the field is not set");
  const ProtobufType lenient("message M { required string s = 1; }", {}, "proto2");
  EXPECT_EQ(lenient.textRow(""), "");
}

// BQT-018: an Any inside JSON is an error unless it is empty; a bare one is a STRUCT.
TEST(ProtobufMessageSerializer, NeverUnpacksAny) {
  const ProtobufType bare("message M { google.protobuf.Any a = 1; }");
  EXPECT_EQ(bare.columns(), "a STRUCT<type_url STRING, value BYTES>");
  EXPECT_EQ(bare.textRow("a { type_url: 'u' value: 'v' }"), "a { type_url: \"u\" value: \"v\" }");
  const ProtobufType json("message M { google.protobuf.Any a = 1; }", {.jsonFieldPaths = {"a"}});
  EXPECT_EQ(json.textRow("a { }"), R"(a: "{}")");
  EXPECT_EQ(json.textRow("a { type_url: 'u' }"),
            "a (JSON): a google.protobuf.Any that holds something cannot be written as JSON");
}

TableSchema ofColumns(std::vector<Column> columns) { return {std::move(columns)}; }

// BQW-166: columns that are not the message's own are paired with the fields by name.
TEST(ProtobufMessageSerializer, FillsTheColumnsOfAnotherSchema) {
  ProtobufType type(R"(message In { string Label = 1; int32 count = 2; }
                       message M { int64 id = 1; In in = 2; })");
  type.into(ofColumns({column("extra", ColumnType::kString),
                       structColumn("IN", {column("COUNT", ColumnType::kInt64),
                                           column("label", ColumnType::kString)}),
                       column("Id", ColumnType::kInt64)}));
  EXPECT_EQ(type.textRow("id: 7 in { Label: 'x' count: 2 }"), "in { count: 2 label: \"x\" } id: 7");
  EXPECT_EQ(type.hexRow("id: 7 in { Label: 'x' count: 2 }"), "120508021201781807");
}

// BQT-055, BQT-090 to BQT-094: texts and integers become what the column holds.
TEST(ProtobufMessageSerializer, ReadsTextsAndIntegersAsValuesOfTheColumn) {
  ProtobufType type(R"(message M {
    string n = 1; optional string b = 2; string d = 3; string t = 4; string dt = 5; string ts = 6;
    int32 days = 7; sint64 micros = 8; string g = 9; google.protobuf.StringValue w = 10; })");
  type.into(ofColumns({column("n", ColumnType::kNumeric), column("b", ColumnType::kBignumeric),
                       column("d", ColumnType::kDate), column("t", ColumnType::kTime),
                       column("dt", ColumnType::kDatetime), column("ts", ColumnType::kTimestamp),
                       column("days", ColumnType::kDate), column("micros", ColumnType::kTimestamp),
                       column("g", ColumnType::kGeography), column("w", ColumnType::kNumeric)}));
  EXPECT_EQ(type.hexRow("n: '1.25'"), "0A04807C814A38004000");
  EXPECT_EQ(type.textRow("d: '2026-07-26' t: '01:02:03.456789' dt: '2026-07-26T01:02:03.456789' "
                         "ts: '2026-07-26T01:02:03.456789Z' days: -1 micros: -5 g: 'POINT(1 2)'"),
            "d: 20660 t: 4432787541 dt: 142601439875102805 ts: 1785027723456789 days: -1 "
            "micros: -5 g: \"POINT(1 2)\"");
  // A text without presence that is empty is no value; one with presence is a wrong one.
  EXPECT_EQ(type.textRow(""), "days: 0 micros: 0");
  EXPECT_EQ(type.textRow("b: ''"),
            "b (BIGNUMERIC): not a decimal number like -12.5 or 1e3; found \"\"");
  EXPECT_THAT(type.textRow("w { }"), StartsWith("w (NUMERIC): not a decimal number"));
  EXPECT_EQ(type.hexRow("w { value: '1' }"), "38004000520400CA9A3B");
  EXPECT_EQ(type.textRow("n: '1.0000000001'"),
            "n (NUMERIC): more than 9 digits after the decimal point; found \"1.0000000001\"");
  EXPECT_THAT(type.textRow("dt: '2026-02-30'"), StartsWith("dt (DATETIME): "));
  EXPECT_EQ(type.textRow("days: 2932897"),
            "days (DATE): days from 1970-01-01 to a day of the years 1 to 9999 are expected; found "
            "2932897");
  EXPECT_THAT(type.textRow("micros: 253402300800000000"), StartsWith("micros (TIMESTAMP): "));
}

TEST(ProtobufMessageSerializer, FillsOtherKindsOfColumns) {
  ProtobufType type(R"(enum E { A = 0; B = 5; } message In { int32 a = 1; }
                       message M { E e = 1; In in = 2; google.protobuf.Timestamp t = 3; E n = 4; })");
  type.into(ofColumns({column("e", ColumnType::kInt64), column("in", ColumnType::kJson),
                       structColumn("t", {column("nanos", ColumnType::kInt64),
                                          column("seconds", ColumnType::kInt64)}),
                       column("n", ColumnType::kInt64)}));
  EXPECT_EQ(type.textRow("e: B in { a: 1 } t { seconds: 3 }"),
            "e: 5 in: \"{\\\"a\\\":1}\" t { nanos: 0 seconds: 3 } n: 0");
}

TEST(ProtobufMessageSerializer, WritesNumbersOfEnumsIntoIntegerColumns) {
  const TableSchema columns = ofColumns({column("e", ColumnType::kInt64)});
  ProtobufType open("enum E { A = 0; B = -5; } message M { E e = 1; }");
  open.into(columns);
  EXPECT_EQ(open.textRow("e: B"), "e: -5");
  EXPECT_EQ(open.textRow("e: 7"), "e: 7");
  EXPECT_EQ(open.textRow(""), "e: 0");
  ProtobufType closed("enum E { A = 0; } message M { optional E e = 1; }", {}, "proto2");
  closed.into(columns);
  EXPECT_EQ(closed.hexRowOfBytes(fromHex("0807")), "");
}

TEST(ProtobufMessageSerializer, ListsAllThatDoesNotFit) {
  constexpr const char* kText = R"(message In { bytes a = 1; } message M {
    int64 id = 1; In in = 2; repeated int32 r = 3; map<string, int32> m = 4; string x = 5; })";
  const TableSchema columns = ofColumns(
      {column("id", ColumnType::kString), structColumn("in", {column("a", ColumnType::kString)}),
       column("r", ColumnType::kInt64), column("m", ColumnType::kJson),
       required("must", ColumnType::kInt64)});
  EXPECT_EQ(
      base::messageOf(ProtobufType(kText).mapping().check(columns)),
      "message test.M does not fit the table's columns: field id (int64) cannot become column "
      "id (STRING); field in.a (bytes) cannot become column a (STRING); field r (repeated "
      "int32) cannot become column r (INT64); field m (map<string, int32>) cannot become "
      "column m (JSON); field x (string) has no column (ignoreFieldsWithoutColumn would drop "
      "it); column must is REQUIRED and the message has no such field");
  ProtobufType lenient(
      "message M { int64 id = 1; string x = 2; oneof o { int32 p = 3; int32 q = 4; } }",
      {.ignoreFieldsWithoutColumn = true});
  lenient.into(ofColumns({column("id", ColumnType::kInt64), column("q", ColumnType::kInt64)}));
  EXPECT_EQ(lenient.textRow("id: 1 x: 'dropped' q: 4"), "id: 1 q: 4");
  // The member without a column was set last.
  EXPECT_EQ(lenient.hexRowOfBytes(fromHex("2004 1803")), "0800");
}

}  // namespace
}  // namespace penstock::bigquery
