#include "penstock/emulator/rows/row_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Field structColumn(std::string name, std::vector<Field> fields,
                   FieldMode mode = FieldMode::kNullable) {
  Field field = column(std::move(name), FieldType::kStruct, mode);
  field.fields = std::move(fields);
  return field;
}

/// A decoder for one schema and descriptor.
class Decoding {
 public:
  Decoding(const Schema& schema, std::string_view descriptor)
      : decoder_(RowPlan::compile(descriptorOf(descriptor), schema).value()) {}

  const RowNode& decode(std::string_view row) {
    row_ = row;
    const std::optional<RowProblem> problem = decoder_.decode(row_);
    EXPECT_FALSE(problem.has_value()) << problem->path << ": " << problem->message;
    return decoder_.root();
  }

  std::string problemOf(std::string_view row) {
    row_ = row;
    const std::optional<RowProblem> problem = decoder_.decode(row_);
    return problem ? problem->path + ": " + problem->message : "fine";
  }

  const RowNode& cell(uint32_t index) { return decoder_.node(decoder_.root().firstChild + index); }
  const RowNode& child(const RowNode& node, uint32_t index) {
    return decoder_.node(node.firstChild + index);
  }
  const RowDecoder& decoder() { return decoder_; }

  std::vector<int64_t> integers(const RowNode& list) {
    std::vector<int64_t> values;
    for (uint32_t i = list.firstChild; i != RowNode::kNone; i = decoder_.node(i).nextSibling) {
      values.push_back(decoder_.node(i).integer);
    }
    return values;
  }

 private:
  RowDecoder decoder_;
  std::string row_;
};

// Test vectors 1 and 2 of the serializers' specification.
TEST(RowDecoder, ReadsScalarsByFieldNumber) {
  Decoding decoding(
      {{column("name", FieldType::kString), column("n", FieldType::kInt64)}},
      R"(name: "root" field { name: "name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
                       field { name: "n" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 })");
  decoding.decode(bytesOf("0A 05 61 6C 69 63 65 10 03"));
  EXPECT_EQ(decoding.cell(0).text, "alice");
  EXPECT_EQ(decoding.cell(1).integer, 3);
  decoding.decode(bytesOf("0A 01 61 10 FF FF FF FF FF FF FF FF FF 01"));
  EXPECT_EQ(decoding.cell(1).integer, -1);
  decoding.decode("");  // BQT-007: absent = NULL
  EXPECT_EQ(decoding.cell(0).kind, RowNode::Kind::kNull);
  decoding.decode(bytesOf("0A 00 10 00"));  // BQT-007: a present default is a value
  EXPECT_EQ(decoding.cell(0).kind, RowNode::Kind::kScalar);
  EXPECT_EQ(decoding.cell(1).kind, RowNode::Kind::kScalar);
}

// Vectors 3, 4 and 9.
TEST(RowDecoder, ReadsStructsAndLists) {
  Decoding decoding(
      {{column("id", FieldType::kInt64),
        structColumn("child",
                     {column("c_name", FieldType::kString), column("c_value", FieldType::kInt64)}),
        column("tags", FieldType::kString, FieldMode::kRepeated)}},
      R"(name: "root" field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
                       field { name: "child" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "root__child" }
                       field { name: "tags" number: 3 label: LABEL_REPEATED type: TYPE_STRING }
                       nested_type { name: "root__child"
                         field { name: "c_name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
                         field { name: "c_value" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 } })");
  decoding.decode(bytesOf("08 07 12 07 0A 03 6B 69 64 10 07 1A 01 61 1A 01 62"));
  EXPECT_EQ(decoding.cell(0).integer, 7);
  const RowNode& child = decoding.cell(1);
  ASSERT_EQ(child.kind, RowNode::Kind::kStruct);
  EXPECT_EQ(decoding.child(child, 0).text, "kid");
  EXPECT_EQ(decoding.child(child, 1).integer, 7);
  const RowNode& tags = decoding.cell(2);
  ASSERT_EQ(tags.kind, RowNode::Kind::kList);
  EXPECT_EQ(decoding.decoder().node(tags.firstChild).text, "a");
  EXPECT_EQ(decoding.decoder().node(tags.lastChild).text, "b");

  decoding.decode(bytesOf("12 00"));  // an empty STRUCT is not NULL
  EXPECT_EQ(decoding.cell(1).kind, RowNode::Kind::kStruct);
  EXPECT_EQ(decoding.child(decoding.cell(1), 0).kind, RowNode::Kind::kNull);
  decoding.decode("");
  EXPECT_EQ(decoding.cell(1).kind, RowNode::Kind::kNull);
  EXPECT_EQ(decoding.cell(2).kind, RowNode::Kind::kList);
  EXPECT_EQ(decoding.cell(2).firstChild, RowNode::kNone);

  // A message in two pieces is one message, as for any reader of protobuf.
  decoding.decode(bytesOf("12 05 0A 03 6B 69 64 12 02 10 07"));
  EXPECT_EQ(decoding.child(decoding.cell(1), 0).text, "kid");
  EXPECT_EQ(decoding.child(decoding.cell(1), 1).integer, 7);
}

TEST(RowDecoder, ReadsListsPackedAndUnpacked) {
  Decoding decoding(
      {{column("x", FieldType::kInt64, FieldMode::kRepeated)}},
      R"(name: "root" field { name: "x" number: 1 label: LABEL_REPEATED type: TYPE_INT64 })");
  decoding.decode(bytesOf("08 01 08 02"));
  EXPECT_THAT(decoding.integers(decoding.cell(0)), ElementsAre(1, 2));
  decoding.decode(bytesOf("0A 03 01 02 7F 08 05"));
  EXPECT_THAT(decoding.integers(decoding.cell(0)), ElementsAre(1, 2, 127, 5));
}

// Vector 8: BQT-004.
TEST(RowDecoder, ReadsRangesWithOpenEnds) {
  Field range = column("r", FieldType::kRange);
  range.rangeElementType = FieldType::kDate;
  Decoding decoding(
      {{range}},
      R"(name: "root" field { name: "r" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "R" }
                       nested_type { name: "R"
                         field { name: "start" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 }
                         field { name: "end" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 } })");
  decoding.decode(bytesOf("0A 06 08 00 10 B4 A1 01"));
  ASSERT_EQ(decoding.cell(0).kind, RowNode::Kind::kRange);
  EXPECT_EQ(decoding.child(decoding.cell(0), 0).integer, 0);
  EXPECT_EQ(decoding.child(decoding.cell(0), 1).integer, 20660);
  decoding.decode(bytesOf("0A 02 08 00"));
  EXPECT_EQ(decoding.child(decoding.cell(0), 1).kind, RowNode::Kind::kNull);
  EXPECT_THAT(decoding.problemOf(bytesOf("0A 07 08 00 10 80 80 80 02")),
              HasSubstr("r.end: DATE value 4194304"));
}

// BQT-005: flexible names travel in an option, other names are compared ignoring case.
TEST(RowDecoder, PairsFieldsWithColumnsByName) {
  Decoding decoding(
      {{column("na\xC3\xAFve", FieldType::kString), column("UserName", FieldType::kString)}},
      R"(name: "root"
                       field { name: "username" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
                       field { name: "col_bmHDr3Zl" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING
                         options { [google.cloud.bigquery.storage.v1.column_name]: "NA\303\217VE" } })");
  decoding.decode(MessageBytes().bytes(1, "u").bytes(2, "n").text());
  EXPECT_EQ(decoding.cell(0).text, "n");
  EXPECT_EQ(decoding.cell(1).text, "u");
}

TEST(RowDecoder, LeavesOutFieldsWithoutAColumnAndNamesThem) {
  const Schema schema{
      {column("a", FieldType::kInt64), structColumn("s", {column("b", FieldType::kInt64)})}};
  const auto plan = RowPlan::compile(
      descriptorOf(
          R"(name: "root" field { name: "a" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
                      field { name: "more" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 }
                      field { name: "s" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".pkg.root.S" }
                      nested_type { name: "S" field { name: "extra" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING } })"),
      schema);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT((*plan)->extraFields(), ElementsAre("more", "s.extra"));
  RowDecoder decoder(*plan);
  const std::string row = MessageBytes().varint(2, 9).varint(1, 4).text();
  EXPECT_FALSE(decoder.decode(row).has_value());
  EXPECT_EQ(decoder.node(decoder.root().firstChild).integer, 4);
}

TEST(RowDecoder, NamesRequiredColumnsThatNoFieldFills) {
  const Schema schema{{column("a", FieldType::kInt64, FieldMode::kRequired),
                       structColumn("s", {column("b", FieldType::kInt64, FieldMode::kRequired)})}};
  const auto plan = RowPlan::compile(
      descriptorOf(
          R"(name: "root" field { name: "s" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "S" }
                      nested_type { name: "S" })"),
      schema);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT((*plan)->missingRequiredColumns(), ElementsAre("s.b", "a"));
  EXPECT_THAT((*plan)->extraFields(), IsEmpty());
}

/// What one column makes of one field that holds `row`.
std::string verdict(FieldType type, std::string_view protoType, const std::string& row) {
  Field field = column("c", type);
  if (type == FieldType::kRange) field.rangeElementType = FieldType::kDate;
  const auto plan = RowPlan::compile(
      descriptorOf(
          "name: \"root\" field { name: \"c\" number: 1 label: LABEL_OPTIONAL type: TYPE_" +
          std::string(protoType) + " }"),
      {{field}});
  if (!plan.ok()) return "mismatch";
  RowDecoder decoder(*plan);
  const std::optional<RowProblem> problem = decoder.decode(row);
  if (problem) return problem->message;
  const RowNode& node = decoder.node(decoder.root().firstChild);
  switch (type) {
    case FieldType::kFloat64:
      return std::to_string(node.real);
    case FieldType::kNumeric:
      return decimalText(node.decimal, kNumericType);
    case FieldType::kBignumeric:
      return decimalText(node.decimal, kBignumericType);
    case FieldType::kString:
    case FieldType::kBytes:
    case FieldType::kJson:
      return std::string(node.text);
    default:
      return std::to_string(node.integer);
  }
}

TEST(RowDecoder, TakesEveryProtoTypeThatTheServiceDocumentsForAColumn) {
  const std::string one = MessageBytes().varint(1, 1).text();
  const std::string zigzagMinusOne = one;
  const std::string seven = MessageBytes().fixed64(1, 7).text();
  const std::string seven32 = MessageBytes().fixed32(1, 7).text();
  for (const std::string_view type : {"INT32", "INT64", "UINT32", "UINT64", "BOOL"}) {
    EXPECT_EQ(verdict(FieldType::kBool, type, one), "1") << type;
  }
  EXPECT_EQ(verdict(FieldType::kInt64, "SINT32", zigzagMinusOne), "-1");
  EXPECT_EQ(verdict(FieldType::kInt64, "SINT64", zigzagMinusOne), "-1");
  EXPECT_EQ(verdict(FieldType::kInt64, "SFIXED64", seven), "7");
  EXPECT_EQ(verdict(FieldType::kInt64, "FIXED32", seven32), "7");
  EXPECT_EQ(verdict(FieldType::kInt64, "UINT32", MessageBytes().varint(1, 3000000000).text()),
            "3000000000");
  EXPECT_EQ(verdict(FieldType::kInt64, "INT32", MessageBytes().varint(1, UINT64_MAX).text()), "-1");
  EXPECT_EQ(verdict(FieldType::kFloat64, "DOUBLE", MessageBytes().real(1, 0.5).text()), "0.500000");
  EXPECT_EQ(verdict(FieldType::kFloat64, "FLOAT", MessageBytes().fixed32(1, 0x3FC00000).text()),
            "1.500000");
  EXPECT_EQ(verdict(FieldType::kBytes, "STRING", MessageBytes().bytes(1, "ab").text()), "ab");
  EXPECT_EQ(verdict(FieldType::kDate, "STRING", MessageBytes().bytes(1, "2026-07-26").text()),
            "20660");
  EXPECT_EQ(verdict(FieldType::kDate, "INT64", MessageBytes().varint(1, 20660).text()), "20660");
  EXPECT_EQ(verdict(FieldType::kTime, "STRING", MessageBytes().bytes(1, "01:02:03.456789").text()),
            "3723456789");
  EXPECT_EQ(verdict(FieldType::kTime, "INT64", MessageBytes().varint(1, 4432787541).text()),
            "3723456789");
  EXPECT_EQ(verdict(FieldType::kDatetime, "STRING",
                    MessageBytes().bytes(1, "2026-07-26 01:02:03").text()),
            "1785027723000000");
  EXPECT_EQ(
      verdict(FieldType::kTimestamp, "INT64", MessageBytes().varint(1, 1785027723456789).text()),
      "1785027723456789");
  EXPECT_EQ(verdict(FieldType::kTimestamp, "STRING",
                    MessageBytes().bytes(1, "2026-07-26T01:02:03Z").text()),
            "1785027723000000");
  EXPECT_EQ(verdict(FieldType::kNumeric, "INT64", MessageBytes().varint(1, UINT64_MAX).text()),
            "-1");
  EXPECT_EQ(verdict(FieldType::kNumeric, "UINT64", MessageBytes().varint(1, UINT64_MAX).text()),
            "18446744073709551615");
  EXPECT_EQ(verdict(FieldType::kNumeric, "STRING", MessageBytes().bytes(1, "1.25").text()), "1.25");
  EXPECT_EQ(
      verdict(FieldType::kNumeric, "BYTES", MessageBytes().bytes(1, bytesOf("80 7C 81 4A")).text()),
      "1.25");
  EXPECT_EQ(verdict(FieldType::kNumeric, "DOUBLE", MessageBytes().real(1, 0.1 + 0.2).text()),
            "0.3");
  EXPECT_EQ(verdict(FieldType::kBignumeric, "STRING", MessageBytes().bytes(1, "1e-38").text()),
            "0.00000000000000000000000000000000000001");
}

TEST(RowDecoder, RefusesProtoTypesThatAColumnDoesNotTake) {
  EXPECT_EQ(verdict(FieldType::kInt64, "STRING", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kInt64, "UINT64", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kInt64, "DOUBLE", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kString, "BYTES", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kString, "INT64", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kFloat64, "INT64", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kJson, "BYTES", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kDate, "DOUBLE", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kBool, "STRING", ""), "mismatch");
  EXPECT_EQ(verdict(FieldType::kRange, "INT64", ""), "mismatch");

  const auto mismatch = RowPlan::compile(
      descriptorOf(
          R"(name: "root" field { name: "day" number: 1 label: LABEL_OPTIONAL type: TYPE_DOUBLE })"),
      {{column("day", FieldType::kDate)}});
  EXPECT_EQ(mismatch.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::messageOf(mismatch.status()),
            "The proto field mismatched with BigQuery field at day, the proto field type double, "
            "BigQuery field type "
            "DATE");
  const auto repeated = RowPlan::compile(
      descriptorOf(
          R"(name: "root" field { name: "day" number: 1 label: LABEL_REPEATED type: TYPE_INT32 })"),
      {{column("day", FieldType::kDate)}});
  EXPECT_THAT(std::string(base::messageOf(repeated.status())),
              HasSubstr("proto field mode repeated"));
}

// BQT-090 to BQT-095: out of range, not in the calendar, not UTF-8.
TEST(RowDecoder, RefusesValuesThatTheirTypeDoesNotHave) {
  EXPECT_THAT(verdict(FieldType::kDate, "INT32", MessageBytes().varint(1, 2932897).text()),
              HasSubstr("out of range"));
  EXPECT_THAT(verdict(FieldType::kDate, "STRING", MessageBytes().bytes(1, "2026-02-30").text()),
              HasSubstr("'2026-02-30' is not a valid DATE"));
  EXPECT_THAT(
      verdict(FieldType::kTimestamp, "INT64", MessageBytes().varint(1, 253402300800000000).text()),
      HasSubstr("out of range"));
  EXPECT_THAT(
      verdict(FieldType::kTime, "INT64", MessageBytes().varint(1, uint64_t{1} << 37).text()),
      HasSubstr("not a valid packed TIME"));
  EXPECT_THAT(verdict(FieldType::kDatetime, "INT64", MessageBytes().varint(1, 1).text()),
              HasSubstr("not a valid packed DATETIME"));
  EXPECT_THAT(verdict(FieldType::kString, "STRING", MessageBytes().bytes(1, "\xFF").text()),
              HasSubstr("not valid UTF-8"));
  EXPECT_THAT(verdict(FieldType::kNumeric, "BYTES", MessageBytes().bytes(1, "").text()),
              HasSubstr("no valid NUMERIC"));
  EXPECT_THAT(verdict(FieldType::kNumeric, "STRING", MessageBytes().bytes(1, "abc").text()),
              HasSubstr("'abc' is not a valid NUMERIC"));
  EXPECT_THAT(verdict(FieldType::kNumeric, "DOUBLE", MessageBytes().real(1, 1e300).text()),
              HasSubstr("out of range"));
}

TEST(RowDecoder, ReadsWellKnownTypesAndEnums) {
  Decoding decoding({{column("i", FieldType::kInt64), column("s", FieldType::kString),
                      column("t", FieldType::kTimestamp), column("d", FieldType::kInterval),
                      column("e", FieldType::kString), column("n", FieldType::kInt64)}},
                    R"(name: "root"
         field { name: "i" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.Int64Value" }
         field { name: "s" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "google_protobuf_StringValue" }
         field { name: "t" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" }
         field { name: "d" number: 4 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" }
         field { name: "e" number: 5 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: "Color_E.Color" }
         field { name: "n" number: 6 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: "Color_E.Color" }
         nested_type { name: "Color_E" enum_type { name: "Color" value { name: "RED" number: 0 } value { name: "BLUE" number: 5 } } })");
  const std::string timestamp = MessageBytes().varint(1, 1767323045).varint(2, 123456789).text();
  const std::string duration = MessageBytes().varint(1, 3661).varint(2, 500000000).text();
  decoding.decode(MessageBytes()
                      .bytes(1, MessageBytes().varint(1, 5).text())
                      .bytes(2, "")
                      .bytes(3, timestamp)
                      .bytes(4, duration)
                      .varint(5, 5)
                      .varint(6, 5)
                      .text());
  EXPECT_EQ(decoding.cell(0).integer, 5);
  EXPECT_EQ(decoding.cell(1).kind, RowNode::Kind::kScalar);  // an empty wrapper holds the default
  EXPECT_EQ(decoding.cell(1).text, "");
  EXPECT_EQ(decoding.cell(2).integer, 1767323045123456);
  EXPECT_EQ(decoding.cell(3).text, "0-0 0 1:1:1.500000");
  EXPECT_EQ(decoding.cell(4).text, "BLUE");
  EXPECT_EQ(decoding.cell(5).integer, 5);
  decoding.decode(MessageBytes().varint(5, 77).text());  // an undeclared value is as if absent
  EXPECT_EQ(decoding.cell(4).kind, RowNode::Kind::kNull);
}

TEST(RowDecoder, RefusesBytesThatAreNoMessage) {
  Decoding decoding(
      {{column("name", FieldType::kString), column("n", FieldType::kInt64)}},
      R"(name: "root" field { name: "name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
                       field { name: "n" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 })");
  for (const std::string_view hex : {"0A 05 61", "10", "10 FF FF FF FF FF FF FF FF FF FF 01", "00",
                                     "0F", "1C", "0B 14", "7D 00 00", "79 00 00 00"}) {
    EXPECT_THAT(decoding.problemOf(bytesOf(hex)), HasSubstr("cannot be parsed")) << hex;
  }
}

TEST(RowDecoder, SkipsUnknownFieldsOfEveryWireType) {
  Decoding decoding(
      {{column("n", FieldType::kInt64)}},
      R"(name: "root" field { name: "n" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 })");
  // Unknown varint, fixed64, length-delimited, a group with a field inside, fixed32; n in a wire
  // type that it does not have; then n itself.
  decoding.decode(bytesOf(
      "18 01 21 00 00 00 00 00 00 00 00 2A 02 61 62 33 08 01 34 3D 00 00 00 00 12 01 61 10 09"));
  EXPECT_EQ(decoding.cell(0).integer, 9);
}

TEST(RowDecoder, ReadsGroupsAsStructs) {
  Decoding decoding(
      {{structColumn("g", {column("a", FieldType::kInt64)})}},
      R"(name: "root" field { name: "g" number: 1 label: LABEL_OPTIONAL type: TYPE_GROUP type_name: "G" }
                       nested_type { name: "G" field { name: "a" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 } })");
  decoding.decode(bytesOf("0B 08 05 0C"));
  EXPECT_EQ(decoding.child(decoding.cell(0), 0).integer, 5);
}

}  // namespace
}  // namespace penstock::emulator
