#include "penstock/emulator/catalog/schema_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_proto.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// "ok", or what is wrong with a schema of these fields.
std::string verdict(const json& fields) {
  const absl::StatusOr<Schema> schema = parseSchema({{"fields", fields}});
  if (schema.ok()) return "ok";
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(base::messageOf(schema.status()));
}

std::string verdictOf(const std::string& field) {
  return verdict(json::array({json::parse(field)}));
}

// BQT-003: legacy and standard names.
TEST(SchemaJson, TakesBothNamesOfATypeAndAnswersTheLegacyOne) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"STRING", "STRING"},       {"BYTES", "BYTES"},
      {"INT64", "INTEGER"},       {"INTEGER", "INTEGER"},
      {"FLOAT64", "FLOAT"},       {"FLOAT", "FLOAT"},
      {"BOOL", "BOOLEAN"},        {"BOOLEAN", "BOOLEAN"},
      {"TIMESTAMP", "TIMESTAMP"}, {"DATE", "DATE"},
      {"TIME", "TIME"},           {"DATETIME", "DATETIME"},
      {"NUMERIC", "NUMERIC"},     {"BIGNUMERIC", "BIGNUMERIC"},
      {"GEOGRAPHY", "GEOGRAPHY"}, {"JSON", "JSON"},
      {"INTERVAL", "INTERVAL"},   {"string", "STRING"}};
  for (const auto& [given, answered] : names) {
    const Schema schema = parseSchema({{"fields", {{{"name", "c"}, {"type", given}}}}}).value();
    EXPECT_EQ(schemaJson(schema)["fields"][0]["type"], answered);
    EXPECT_EQ(schemaJson(schema)["fields"][0]["mode"], "NULLABLE");
  }
}

TEST(SchemaJson, KeepsEveryMemberOnTheWayThrough) {
  const json fields = json::parse(R"([
    {"name": "s", "type": "STRING", "mode": "REQUIRED", "maxLength": "10", "description": "text",
     "defaultValueExpression": "'x'", "collation": "und:ci",
     "policyTags": {"names": ["projects/p/locations/us/taxonomies/1/policyTags/2"]}},
    {"name": "n", "type": "NUMERIC", "mode": "NULLABLE", "precision": "10", "scale": "2",
     "roundingMode": "ROUND_HALF_EVEN"},
    {"name": "r", "type": "RANGE", "mode": "NULLABLE", "rangeElementType": {"type": "DATETIME"}},
    {"name": "t", "type": "TIMESTAMP", "mode": "NULLABLE", "timestampPrecision": "12"},
    {"name": "l", "type": "RECORD", "mode": "REPEATED", "fields": [
      {"name": "x", "type": "INTEGER", "mode": "NULLABLE"}]}])");
  const Schema schema = parseSchema({{"fields", fields}}).value();
  EXPECT_EQ(schemaJson(schema)["fields"], fields);
  EXPECT_EQ(parseSchema(schemaJson(schema)).value(), schema);
}

TEST(SchemaJson, TakesIntegersAsNumbersToo) {
  EXPECT_EQ(verdictOf(R"({"name": "s", "type": "STRING", "maxLength": 10})"), "ok");
  EXPECT_EQ(parseSchema(json()).value().fields.size(), 0U);
  EXPECT_EQ(parseSchema({{"fields", nullptr}}).value().fields.size(), 0U);
}

TEST(SchemaJson, RefusesUnknownTypesAndModes) {
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "VARCHAR"})"),
              HasSubstr("VARCHAR is not a valid value (field c)"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "STRING", "mode": "OPTIONAL"})"),
              HasSubstr("OPTIONAL"));
  EXPECT_THAT(verdictOf(R"({"name": "c"})"), HasSubstr("Field c has no type"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": 5})"), HasSubstr("must be a string"));
  EXPECT_THAT(verdict(json::array({5})), HasSubstr("must be an object"));
  EXPECT_THAT(verdict(json("x")), HasSubstr("must be a list"));
}

TEST(SchemaJson, RefusesNamesThatColumnsCannotHave) {
  const std::string tooLong(301, 'x');
  for (const std::string& name :
       std::vector<std::string>{"", "a.b", "a,b", "a\"b", "a$b", "a\nb", "_TABLE_x", "_file_x",
                                "_PARTITIONTIME", "__ROOT__x", "_change_type", tooLong}) {
    EXPECT_THAT(verdict({{{"name", name}, {"type", "STRING"}}}), HasSubstr("Invalid field name"))
        << name;
  }
  for (const std::string name : {"a", "_a", "1st-col", "na\xC3\xAFve", "select", "a b", "a&b"}) {
    EXPECT_EQ(verdict({{{"name", name}, {"type", "STRING"}}}), "ok") << name;
  }
}

// BQT-005: two names alike but for case are one name.
TEST(SchemaJson, RefusesNamesThatDifferOnlyInCase) {
  EXPECT_EQ(
      verdict(json::parse(R"([{"name": "a", "type": "STRING"}, {"name": "A", "type": "DATE"}])")),
      "Field A already exists in schema");
  EXPECT_EQ(verdict(json::parse(
                R"([{"name": "été", "type": "STRING"}, {"name": "ÉTÉ", "type": "DATE"}])")),
            "Field ÉTÉ already exists in schema");
  EXPECT_EQ(verdict(json::parse(R"([{"name": "s", "type": "RECORD", "fields": [
                {"name": "x", "type": "DATE"}, {"name": "X", "type": "DATE"}]}])")),
            "Field s.X already exists in schema");
}

TEST(SchemaJson, AsksARecordAndOnlyARecordForFields) {
  EXPECT_EQ(verdictOf(R"({"name": "s", "type": "RECORD"})"),
            "Field s is type RECORD but has no schema");
  EXPECT_EQ(verdictOf(R"({"name": "s", "type": "STRUCT", "fields": []})"),
            "Field s is type RECORD but has no schema");
  EXPECT_THAT(
      verdictOf(R"({"name": "s", "type": "STRING", "fields": [{"name": "x", "type": "DATE"}]})"),
      HasSubstr("only RECORD has fields"));
}

json nested(int levels) {
  json field = {{"name", "leaf"}, {"type", "STRING"}};
  for (int i = 1; i < levels; ++i) field = {{"name", "s"}, {"type", "RECORD"}, {"fields", {field}}};
  return field;
}

TEST(SchemaJson, StopsAtFifteenLevels) {
  EXPECT_EQ(verdict(json::array({nested(15)})), "ok");
  EXPECT_THAT(verdict(json::array({nested(16)})), HasSubstr("more than 15 nested levels"));
}

// [M] BigQuery bounds a parameterised decimal by its integer digits.
TEST(SchemaJson, BoundsTheParametersOfDecimals) {
  const auto decimal = [](const char* type, int precision, int scale) {
    json field = {{"name", "v"}, {"type", type}};
    if (precision != 0) field["precision"] = std::to_string(precision);
    if (scale != 0) field["scale"] = std::to_string(scale);
    return verdict(json::array({field}));
  };
  for (const auto& [precision, scale] : {std::pair{38, 9}, {29, 0}, {2, 2}, {1, 0}, {31, 2}}) {
    EXPECT_EQ(decimal("NUMERIC", precision, scale), "ok") << precision << "," << scale;
  }
  EXPECT_EQ(decimal("BIGNUMERIC", 76, 38), "ok");
  EXPECT_EQ(decimal("BIGNUMERIC", 38, 0), "ok");
  EXPECT_EQ(decimal("NUMERIC", 35, 2),
            "Field v: In NUMERIC(P, 2), P must be between 2 and 31, found 35");
  EXPECT_THAT(decimal("NUMERIC", 30, 0), HasSubstr("P must be between 1 and 29"));
  EXPECT_THAT(decimal("NUMERIC", 1, 2), HasSubstr("P must be between 2 and 31"));
  EXPECT_THAT(decimal("NUMERIC", 38, 10), HasSubstr("S must be between 0 and 9"));
  EXPECT_THAT(decimal("NUMERIC", 0, 2), HasSubstr("scale is given without precision"));
  EXPECT_THAT(decimal("BIGNUMERIC", 39, 0), HasSubstr("P must be between 1 and 38"));
  EXPECT_THAT(decimal("STRING", 5, 0), HasSubstr("not allowed for type STRING"));
}

TEST(SchemaJson, ChecksLengthsRangesAndTimestampPrecision) {
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "DATE", "maxLength": "5"})"),
              HasSubstr("maxLength is not allowed"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "BYTES", "maxLength": "-5"})"),
              HasSubstr("must be positive"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "BYTES", "maxLength": "x"})"),
              HasSubstr("must be an integer"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "RANGE"})"), HasSubstr("has no rangeElementType"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "RANGE", "rangeElementType": {"type": "INT64"}})"),
              HasSubstr("INT64 is not a valid rangeElementType"));
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "DATE", "rangeElementType": {"type": "DATE"}})"),
              HasSubstr("not allowed for type DATE"));
  EXPECT_EQ(verdictOf(R"({"name": "c", "type": "TIMESTAMP", "timestampPrecision": "6"})"), "ok");
  EXPECT_THAT(verdictOf(R"({"name": "c", "type": "TIMESTAMP", "timestampPrecision": "9"})"),
              HasSubstr("6 or 12"));
}

TEST(SchemaProto, CarriesEveryMember) {
  const Schema schema = parseSchema(json::parse(R"({"fields": [
    {"name": "s", "type": "STRING", "mode": "REQUIRED", "maxLength": "10", "description": "text",
     "defaultValueExpression": "'x'"},
    {"name": "n", "type": "BIGNUMERIC", "precision": "10", "scale": "2"},
    {"name": "r", "type": "RANGE", "rangeElementType": {"type": "DATE"}},
    {"name": "t", "type": "TIMESTAMP", "timestampPrecision": "12"},
    {"name": "l", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "x", "type": "FLOAT"}]}]})"))
                            .value();
  using google::cloud::bigquery::storage::v1::TableFieldSchema;
  const auto proto = toSchemaProto(schema);
  ASSERT_EQ(proto.fields_size(), 5);
  EXPECT_EQ(proto.fields(0).type(), TableFieldSchema::STRING);
  EXPECT_EQ(proto.fields(0).mode(), TableFieldSchema::REQUIRED);
  EXPECT_EQ(proto.fields(0).max_length(), 10);
  EXPECT_EQ(proto.fields(0).description(), "text");
  EXPECT_EQ(proto.fields(0).default_value_expression(), "'x'");
  EXPECT_EQ(proto.fields(1).type(), TableFieldSchema::BIGNUMERIC);
  EXPECT_EQ(proto.fields(1).precision(), 10);
  EXPECT_EQ(proto.fields(1).scale(), 2);
  EXPECT_EQ(proto.fields(2).range_element_type().type(), TableFieldSchema::DATE);
  EXPECT_EQ(proto.fields(3).timestamp_precision().value(), 12);
  EXPECT_EQ(proto.fields(4).mode(), TableFieldSchema::REPEATED);
  EXPECT_EQ(proto.fields(4).fields(0).type(), TableFieldSchema::DOUBLE);
}

}  // namespace
}  // namespace penstock::emulator
