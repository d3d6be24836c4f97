#include "penstock/bigquery/serializers/protobuf_json_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/bigquery/serializers/protobuf_wire_reader.h"
#include "penstock/bigquery/serializers/testing/protobuf_fixture.h"

namespace penstock::bigquery {
namespace {

using ::testing::StartsWith;

/// Message `In` in field `j`, which is marked: the JSON in the row, or what is wrong.
std::string jsonOf(std::string_view text, std::string_view message,
                   std::string_view syntax = "proto3") {
  const std::string_view label = syntax == "proto2" ? "optional " : "";
  const ProtobufType type(fmt::format("{} message M {{ {}In j = 1; }}", text, label),
                          {.jsonFieldPaths = {"j"}}, syntax);
  const absl::StatusOr<std::string> row =
      type.rowOfBytes(type.bytesOf(fmt::format("j {{ {} }}", message)));
  if (!row.ok()) return std::string(base::messageOf(row.status()));
  size_t size = 0;
  const char* const json = readLength(row->data() + 1, row->data() + row->size(), &size);
  return std::string(json, size);
}

// BQT-018
TEST(ProtobufJsonWriter, WritesNumbersTextsAndNames) {
  constexpr const char* kText = R"(
    enum E { ZERO = 0; ONE = 1; }
    message In { int32 small_one = 1; int64 big = 2; uint64 unsigned = 3; sint64 zig = 4;
                 fixed32 fix = 5; double real = 6; float half = 7; bool flag = 8; string text = 9;
                 bytes raw = 10; E e = 11; optional int32 maybe = 12; string named = 13
                 [json_name = "other name"]; })";
  EXPECT_EQ(jsonOf(kText, ""), "{}");
  EXPECT_EQ(jsonOf(kText,
                   "small_one: -1 big: -2 unsigned: 18446744073709551615 zig: -3 fix: 4 "
                   "real: 1.5 half: 0.25 flag: true text: 'a\"\\\\\\n\\001ä' raw: '\\377\\000a' "
                   "e: ONE maybe: 0 named: 'x'"),
            R"({"smallOne":-1,"big":"-2","unsigned":"18446744073709551615","zig":"-3","fix":4,)"
            R"("real":1.5,"half":0.25,"flag":true,"text":"a\"\\\n\u0001ä","raw":"/wBh","e":"ONE",)"
            R"("maybe":0,"other name":"x"})");
  EXPECT_EQ(jsonOf(kText, "real: inf half: -inf"), R"({"real":"Infinity","half":"-Infinity"})");
  EXPECT_EQ(jsonOf(kText, "real: nan e: 7"), R"({"real":"NaN","e":7})");
  EXPECT_EQ(jsonOf(kText, "raw: 'a'"), R"({"raw":"YQ=="})");
}

TEST(ProtobufJsonWriter, WritesArraysMapsAndMessages) {
  constexpr const char* kText = R"(
    message In { repeated int32 n = 1; repeated In in = 2; map<string, In> s = 3;
                 map<int64, string> i = 4; map<bool, double> b = 5; In one = 6; })";
  EXPECT_EQ(jsonOf(kText, "n: 1 n: 2 in { } in { n: 0 } one { }"),
            R"({"n":[1,2],"in":[{},{"n":[0]}],"one":{}})");
  EXPECT_EQ(jsonOf(kText,
                   "s { key: 'a\"' value { n: 3 } } i { key: -5 value: 'x' } "
                   "b { key: true value: 0.5 }"),
            R"({"s":{"a\"":{"n":[3]}},"i":{"-5":"x"},"b":{"true":0.5}})");
  EXPECT_EQ(jsonOf(kText, "s { key: 'k' }"), R"({"s":{"k":{}}})");
}

TEST(ProtobufJsonWriter, WritesWellKnownTypes) {
  constexpr const char* kText = R"(
    message In { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2;
                 google.protobuf.FieldMask m = 3; google.protobuf.Int64Value i = 4;
                 google.protobuf.StringValue s = 5; google.protobuf.Struct st = 6;
                 google.protobuf.ListValue l = 7; google.protobuf.Value v = 8;
                 google.protobuf.Any a = 9; })";
  EXPECT_EQ(jsonOf(kText,
                   "t { seconds: -1 nanos: 500000000 } d { seconds: -1 nanos: -1000 } "
                   "m { paths: 'foo_bar.b' paths: 'c' } i { } s { value: 'x' } st { } l { } "
                   "v { } a { }"),
            R"({"t":"1969-12-31T23:59:59.500Z","d":"-1.000001s","m":"fooBar.b,c","i":"0",)"
            R"("s":"x","st":{},"l":[],"v":null,"a":{}})");
  EXPECT_EQ(jsonOf(kText, "t { seconds: 253402300799 nanos: 999999999 } d { nanos: -1 }"),
            R"({"t":"9999-12-31T23:59:59.999999999Z","d":"-0.000000001s"})");
  EXPECT_EQ(jsonOf(kText, "v { struct_value { fields { key: 'k' value { number_value: 3 } } } }"),
            R"({"v":{"k":3}})");
}

TEST(ProtobufJsonWriter, RefusesWhatHasNoJson) {
  constexpr const char* kText = R"(
    message In { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2;
                 google.protobuf.FieldMask m = 3; repeated google.protobuf.Value v = 4;
                 google.protobuf.Any a = 5; repeated In in = 6; })";
  EXPECT_THAT(jsonOf(kText, "t { seconds: 253402300800 }"),
              StartsWith("j.t (JSON): a Timestamp is in the years 1 to 9999"));
  EXPECT_THAT(jsonOf(kText, "d { seconds: 1 nanos: -1 }"), StartsWith("j.d (JSON): a Duration"));
  EXPECT_EQ(jsonOf(kText, "m { paths: 'fooBar' }"),
            "j.m (JSON): the path \"fooBar\" of a FieldMask has no form in JSON");
  EXPECT_EQ(
      jsonOf(kText, "in { } in { v { } v { number_value: inf } }"),
      "j.in[1].v[1].number_value (JSON): a google.protobuf.Value cannot be NaN or infinite in "
      "JSON");
  EXPECT_EQ(jsonOf(kText, "a { value: 'x' }"),
            "j.a (JSON): a google.protobuf.Any that holds something cannot be written as JSON");
  std::string deep;
  for (int i = 0; i < 101; ++i) deep = "in { " + deep + " }";
  EXPECT_THAT(jsonOf(kText, deep), ::testing::HasSubstr("more than 100 levels deep"));
}

TEST(ProtobufJsonWriter, LeavesUnknownNumbersOfClosedEnumsOut) {
  constexpr const char* kText = R"(
    enum E { ZERO = 0; ONE = 1; } message In { optional E e = 1; repeated E more = 2; })";
  EXPECT_EQ(jsonOf(kText, "e: ONE more: ONE", "proto2"), R"({"e":"ONE","more":["ONE"]})");
  const ProtobufType type(std::string(kText) + " message M { optional In j = 1; }",
                          {.jsonFieldPaths = {"j"}}, "proto2");
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A06 0807 1007 1001")), type.hexRow("j { more: ONE }"));
}

// Fields out of order and twice: as protobuf reads them.
TEST(ProtobufJsonWriter, ReadsWhatProtobufReads) {
  const ProtobufType type(R"(message In { int32 a = 1; In in = 2; map<string, int32> m = 3; }
                             message M { In j = 1; })",
                          {.jsonFieldPaths = {"j"}});
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A08 12020801 0805 0807")),
            type.hexRow("j { a: 7 in { a: 1 } }"));
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A08 12020801 12020802")),
            type.hexRow("j { in { a: 2 } }"));
  EXPECT_EQ(type.hexRowOfBytes(fromHex("0A0E 1A050A01611001 1A050A01611002")),
            type.hexRow("j { m { key: 'a' value: 2 } }"));
}

}  // namespace
}  // namespace penstock::bigquery
