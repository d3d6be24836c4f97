#include "penstock/emulator/rest/row_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_json.h"
#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

Schema shownSchema(std::string_view fields) {
  return parseSchema(json{{"fields", json::parse(fields)}}).value();
}

/// The row's JSON text.
std::string listed(const Schema& schema, std::string_view descriptor, const std::string& row,
                   TimestampForm timestamps = TimestampForm::kSeconds,
                   std::string_view selected = {}) {
  RowDecoder decoder(RowPlan::compile(descriptorOf(descriptor), schema).value());
  const std::optional<RowProblem> problem = decoder.decode(row);
  if (problem) return problem->path + ": " + problem->message;
  const FieldSelection selection = selected.empty()
                                       ? FieldSelection::all(schema)
                                       : FieldSelection::parse(selected, schema).value();
  std::string out;
  appendRowJson(decoder, selection, timestamps, out);
  EXPECT_TRUE(json::accept(out)) << out;
  return out;
}

constexpr std::string_view kScalars = R"([
  {"name": "s", "type": "STRING"}, {"name": "i", "type": "INTEGER"}, {"name": "f", "type": "FLOAT"},
  {"name": "b", "type": "BOOLEAN"}, {"name": "y", "type": "BYTES"}, {"name": "ts", "type": "TIMESTAMP"},
  {"name": "d", "type": "DATE"}, {"name": "t", "type": "TIME"}, {"name": "dt", "type": "DATETIME"},
  {"name": "n", "type": "NUMERIC"}, {"name": "bn", "type": "BIGNUMERIC"}, {"name": "g", "type": "GEOGRAPHY"},
  {"name": "j", "type": "JSON"}, {"name": "iv", "type": "INTERVAL"}])";

// BQT-004: the row descriptor of the specification.
constexpr std::string_view kScalarDescriptor = R"(name: "root"
  field { name: "s" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "i" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "f" number: 3 label: LABEL_OPTIONAL type: TYPE_DOUBLE }
  field { name: "b" number: 4 label: LABEL_OPTIONAL type: TYPE_BOOL }
  field { name: "y" number: 5 label: LABEL_OPTIONAL type: TYPE_BYTES }
  field { name: "ts" number: 6 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "d" number: 7 label: LABEL_OPTIONAL type: TYPE_INT32 }
  field { name: "t" number: 8 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "dt" number: 9 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "n" number: 10 label: LABEL_OPTIONAL type: TYPE_BYTES }
  field { name: "bn" number: 11 label: LABEL_OPTIONAL type: TYPE_BYTES }
  field { name: "g" number: 12 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "j" number: 13 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "iv" number: 14 label: LABEL_OPTIONAL type: TYPE_STRING })";

std::string scalarRow() {
  return MessageBytes()
      .bytes(1, "a \"quoted\"\n\x01 na\xC3\xAFve \\")
      .varint(2, static_cast<uint64_t>(-5))
      .real(3, 2.5)
      .varint(4, 1)
      .bytes(5, "hi\xFF")
      .varint(6, 1785027723456789)
      .varint(7, 20660)
      .varint(8, 4432787541)
      .varint(9, 142601439875102805)
      .bytes(10, bytesOf("80 7C 81 4A"))
      .bytes(11, bytesOf("00 00 00 00 60 33 4F 0E B7 26 CA 87 FC F2 D8 70"))
      .bytes(12, "POINT(1 2)")
      .bytes(13, R"({"k":1})")
      .bytes(14, "1-2 3 4:5:6")
      .text();
}

TEST(RowJson, WritesEveryScalarType) {
  EXPECT_EQ(
      listed(shownSchema(kScalars), kScalarDescriptor, scalarRow()),
      R"json({"f":[{"v":"a \"quoted\"\n\u0001 naïve \\"},{"v":"-5"},{"v":"2.5"},{"v":"true"},)json"
      R"json({"v":"aGn/"},{"v":"1.785027723456789E9"},{"v":"2026-07-26"},{"v":"01:02:03.456789"},)json"
      R"json({"v":"2026-07-26T01:02:03.456789"},{"v":"1.25"},{"v":"1.5"},{"v":"POINT(1 2)"},)json"
      R"json({"v":"{\"k\":1}"},{"v":"1-2 3 4:5:6"}]})json");
}

TEST(RowJson, WritesAbsentColumnsAsNull) {
  const Schema schema = shownSchema(R"([{"name": "a", "type": "STRING"},
      {"name": "l", "type": "INTEGER", "mode": "REPEATED"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "FLOAT"}]},
      {"name": "r", "type": "RANGE", "rangeElementType": {"type": "DATE"}}])");
  EXPECT_EQ(listed(schema, "name: \"root\"", ""),
            R"({"f":[{"v":null},{"v":[]},{"v":null},{"v":null}]})");
}

TEST(RowJson, WritesTimestampsInTheFormThatIsAskedFor) {
  const Schema schema =
      shownSchema(R"([{"name": "ts", "type": "TIMESTAMP", "timestampPrecision": "12"}])");
  const std::string descriptor =
      R"(name: "root" field { name: "ts" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING })";
  const std::string row = MessageBytes().bytes(1, "2026-07-26T01:02:03.456789123456Z").text();
  EXPECT_EQ(listed(schema, descriptor, row), R"({"f":[{"v":"1.785027723456789E9"}]})");
  EXPECT_EQ(listed(schema, descriptor, row, TimestampForm::kMicros),
            R"({"f":[{"v":"1785027723456789"}]})");
  EXPECT_EQ(listed(schema, descriptor, row, TimestampForm::kIso8601),
            R"({"f":[{"v":"2026-07-26T01:02:03.456789123456Z"}]})");
}

constexpr std::string_view kNested = R"([
  {"name": "id", "type": "INTEGER"},
  {"name": "items", "type": "RECORD", "mode": "REPEATED", "fields": [
    {"name": "tags", "type": "STRING", "mode": "REPEATED"}, {"name": "price", "type": "NUMERIC"}]},
  {"name": "r", "type": "RANGE", "rangeElementType": {"type": "DATE"}}])";
constexpr std::string_view kNestedDescriptor = R"(name: "root"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "items" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: "root__items" }
  field { name: "r" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "root__r" }
  nested_type { name: "root__items"
    field { name: "tags" number: 1 label: LABEL_REPEATED type: TYPE_STRING }
    field { name: "price" number: 2 label: LABEL_OPTIONAL type: TYPE_BYTES } }
  nested_type { name: "root__r"
    field { name: "start" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 }
    field { name: "end" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 } })";

std::string nestedRow() {
  const std::string item =
      MessageBytes().bytes(1, "a").bytes(1, "b").bytes(2, bytesOf("80 7C 81 4A")).text();
  return MessageBytes()
      .varint(1, 7)
      .bytes(2, item)
      .bytes(2, "")
      .bytes(3, MessageBytes().varint(1, 0).text())
      .text();
}

TEST(RowJson, WritesListsOfStructsAndRanges) {
  EXPECT_EQ(
      listed(shownSchema(kNested), kNestedDescriptor, nestedRow()),
      R"json({"f":[{"v":"7"},{"v":[{"v":{"f":[{"v":[{"v":"a"},{"v":"b"}]},{"v":"1.25"}]}},)json"
      R"json({"v":{"f":[{"v":[]},{"v":null}]}}]},{"v":"[1970-01-01, UNBOUNDED)"}]})json");
}

TEST(RowJson, WritesOnlySelectedFieldsInTheSchemasOrder) {
  EXPECT_EQ(listed(shownSchema(kNested), kNestedDescriptor, nestedRow(), TimestampForm::kSeconds,
                   "items.price,ID"),
            R"({"f":[{"v":"7"},{"v":[{"v":{"f":[{"v":"1.25"}]}},{"v":{"f":[{"v":null}]}}]}]})");
}

TEST(RowJson, WritesFloatsShortestWithAFractionDigit) {
  EXPECT_EQ(floatText(0.1), "0.1");
  EXPECT_EQ(floatText(1), "1.0");
  EXPECT_EQ(floatText(-2), "-2.0");
  EXPECT_EQ(floatText(0.0), "0.0");
  EXPECT_EQ(floatText(-0.0), "-0.0");
  EXPECT_EQ(floatText(0.001), "0.001");
  EXPECT_EQ(floatText(0.0001), "1.0E-4");
  EXPECT_EQ(floatText(1234567.0), "1234567.0");
  EXPECT_EQ(floatText(10000000.0), "1.0E7");
  EXPECT_EQ(floatText(123456789.125), "1.23456789125E8");
  EXPECT_EQ(floatText(0.1f), "0.10000000149011612");
  EXPECT_EQ(floatText(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(floatText(std::numeric_limits<double>::denorm_min()), "5.0E-324");
  EXPECT_EQ(floatText(std::nan("")), "NaN");
  EXPECT_EQ(floatText(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(floatText(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(RowJson, WritesTimestampsAsExactSeconds) {
  EXPECT_EQ(timestampSecondsText(0), "0.0");
  EXPECT_EQ(timestampSecondsText(-1), "-1.0E-6");
  EXPECT_EQ(timestampSecondsText(1000), "0.001");
  EXPECT_EQ(timestampSecondsText(1500000), "1.5");
  EXPECT_EQ(timestampSecondsText(1408452095000000), "1.408452095E9");
  EXPECT_EQ(timestampSecondsText(1785027723456789), "1.785027723456789E9");
  EXPECT_EQ(timestampSecondsText(-62135596800000000), "-6.21355968E10");
  EXPECT_EQ(timestampSecondsText(253402300799999999), "2.53402300799999999E11");
}

}  // namespace
}  // namespace penstock::emulator
