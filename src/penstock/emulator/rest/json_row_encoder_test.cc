#include "penstock/emulator/rest/json_row_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_json.h"
#include "penstock/emulator/rest/row_json.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Rows for one schema.
class Encoding {
 public:
  explicit Encoding(const char* fields)
      : schema_(parseSchema({{"fields", json::parse(fields)}}).value()),
        encoder_(JsonRowEncoder::create(schema_, base::WallTime{std::chrono::seconds(1785027723)},
                                        *random_)
                     .value()) {}

  /// The row as tabledata.list shows it, or what is wrong with it: "path: message; ...".
  std::string row(const json& object, bool ignoreUnknownValues = false) {
    std::string bytes;
    std::string text;
    for (const InsertError& error : encoder_->encode(object, ignoreUnknownValues, bytes)) {
      text += (text.empty() ? "" : "; ") + error.location + ": " + error.message;
    }
    if (!text.empty()) return text;
    RowDecoder decoder(RowPlan::compile(encoder_->descriptor(), schema_).value());
    EXPECT_FALSE(decoder.decode(bytes).has_value());
    appendRowJson(decoder, FieldSelection::all(schema_), TimestampForm::kIso8601, text);
    return text;
  }

 private:
  const Schema schema_;
  const std::unique_ptr<base::Random> random_ = base::seededRandom(1);
  const std::unique_ptr<JsonRowEncoder> encoder_;
};

/// What becomes of a value of one column `c`, or what is wrong with it.
std::string cell(const std::string& type, const char* value) {
  Encoding encoding((R"([{"name": "c", )" + type + "}]").c_str());
  const std::string row = encoding.row({{"c", json::parse(value)}});
  if (!row.starts_with("{\"f\"")) return row;
  const json shown = json::parse(row)["f"][0]["v"];
  return shown.is_string() ? shown.get<std::string>() : shown.dump();
}

std::string cellOf(const std::string& type, const char* value) {
  return cell("\"type\": \"" + type + "\"", value);
}

TEST(JsonRowEncoder, TakesNumbersAndBooleansAsSuchAndAsStrings) {
  EXPECT_EQ(cellOf("INTEGER", "-5"), "-5");
  EXPECT_EQ(cellOf("INTEGER", R"("9223372036854775807")"), "9223372036854775807");
  EXPECT_EQ(cellOf("INTEGER", "3.0"), "3");
  EXPECT_EQ(cellOf("FLOAT", "2"), "2.0");
  EXPECT_EQ(cellOf("FLOAT", R"("1.5e3")"), "1500.0");
  EXPECT_EQ(cellOf("FLOAT", R"("NaN")"), "NaN");
  EXPECT_EQ(cellOf("FLOAT", R"("-Infinity")"), "-Infinity");
  EXPECT_EQ(cellOf("BOOLEAN", "true"), "true");
  EXPECT_EQ(cellOf("BOOLEAN", R"("FALSE")"), "false");
  EXPECT_EQ(cellOf("STRING", "12"), "12");
  EXPECT_EQ(cellOf("STRING", "true"), "true");
  EXPECT_EQ(cellOf("STRING", R"("na\u00efve")"), "na\xC3\xAFve");

  for (const char* bad : {"1.5", "true", R"("x")", R"("1.5")", "9223372036854775808", "1e300"}) {
    EXPECT_THAT(cellOf("INTEGER", bad),
                HasSubstr("c: Cannot convert value to integer (bad value): "))
        << bad;
  }
  EXPECT_EQ(cellOf("FLOAT", R"("x")"), "c: Cannot convert value to floating point (bad value): x");
  EXPECT_EQ(cellOf("BOOLEAN", "1"), "c: Cannot convert value to boolean (bad value): 1");
}

TEST(JsonRowEncoder, ReadsLiterals) {
  EXPECT_EQ(cellOf("DATE", R"("2026-7-26")"), "2026-07-26");
  EXPECT_EQ(cellOf("TIME", R"("1:02:03.5")"), "01:02:03.500000");
  EXPECT_EQ(cellOf("DATETIME", R"("2026-07-26 01:02:03")"), "2026-07-26T01:02:03");
  EXPECT_EQ(cellOf("TIMESTAMP", R"("2026-07-26 01:02:03.456789 UTC")"),
            "2026-07-26T01:02:03.456789Z");
  EXPECT_EQ(cellOf("TIMESTAMP", "1785027723.456789"), "2026-07-26T01:02:03.456789Z");
  EXPECT_EQ(cellOf("TIMESTAMP", R"("-1")"), "1969-12-31T23:59:59Z");
  EXPECT_EQ(cellOf("NUMERIC", R"("1.25")"), "1.25");
  EXPECT_EQ(cellOf("NUMERIC", "0.1"), "0.1");
  EXPECT_EQ(cellOf("BIGNUMERIC", "1e20"), "100000000000000000000");
  EXPECT_EQ(cellOf("GEOGRAPHY", R"x("POINT(1 2)")x"), "POINT(1 2)");
  EXPECT_EQ(cellOf("JSON", R"("{\"k\": 1}")"), R"({"k":1})");
  EXPECT_EQ(cellOf("JSON", "5"), "5");
  EXPECT_EQ(cellOf("INTERVAL", R"("1-2 3 4:5:6")"), "1-2 3 4:5:6");

  EXPECT_EQ(cellOf("DATE", R"("2026-02-30")"),
            "c: Invalid date: '2026-02-30' Field: c; Value: 2026-02-30");
  EXPECT_THAT(cellOf("DATE", "20660"), HasSubstr("Invalid date: '20660'"));
  EXPECT_THAT(cellOf("TIME", R"("25:00:00")"), HasSubstr("Invalid time string \"25:00:00\""));
  EXPECT_THAT(cellOf("DATETIME", R"("x")"), HasSubstr("Invalid datetime string \"x\""));
  EXPECT_THAT(cellOf("TIMESTAMP", R"("yesterday")"),
              HasSubstr("Invalid timestamp string \"yesterday\""));
  EXPECT_THAT(cellOf("TIMESTAMP", "1e30"), HasSubstr("Invalid timestamp string"));
  EXPECT_EQ(cellOf("NUMERIC", R"("x")"), "c: Invalid NUMERIC value: x");
  EXPECT_THAT(cellOf("JSON", R"("{")"), HasSubstr("c: the value is not a JSON document"));
  EXPECT_EQ(cellOf("JSON", R"({"k": 1})"), "c: This field: c is not a record.");
}

TEST(JsonRowEncoder, DecodesBase64) {
  EXPECT_EQ(cellOf("BYTES", R"("AAH/")"), "AAH/");
  EXPECT_EQ(cellOf("BYTES", R"("AAH_")"), "AAH/");
  EXPECT_EQ(cellOf("BYTES", R"("aGk")"), "aGk=");
  EXPECT_THAT(cellOf("BYTES", R"("?")"), HasSubstr("Could not decode base64 string to bytes."));
}

TEST(JsonRowEncoder, AsksForTheFormOfTheColumn) {
  EXPECT_EQ(cellOf("STRING", R"(["a"])"), "c: Array specified for non-repeated field: c.");
  EXPECT_EQ(cellOf("STRING", R"({"a": 1})"), "c: This field: c is not a record.");
  EXPECT_EQ(cellOf("STRING", "null"), "null");
  const std::string repeated = R"("type": "INTEGER", "mode": "REPEATED")";
  EXPECT_EQ(cell(repeated, "[1, \"2\"]"), R"([{"v":"1"},{"v":"2"}])");
  EXPECT_EQ(cell(repeated, "[]"), "[]");
  EXPECT_EQ(cell(repeated, "1"), "c: Repeated field must be imported as a JSON array. Field: c.");
  EXPECT_EQ(cell(repeated, "null"),
            "c: Only optional fields can be set to NULL. Field: c; Value: NULL");
  EXPECT_EQ(cell(repeated, "[1, null]"),
            "c: Only optional fields can be set to NULL. Field: c; Value: NULL");
  const std::string required = R"("type": "INTEGER", "mode": "REQUIRED")";
  EXPECT_EQ(cell(required, "null"),
            "c: Only optional fields can be set to NULL. Field: c; Value: NULL");
}

// The rules of appended rows hold for these too.
TEST(JsonRowEncoder, KeepsTypeParameters) {
  EXPECT_EQ(cell(R"("type": "STRING", "maxLength": "2")", R"("\u00e9\u00e9")"), "\xC3\xA9\xC3\xA9");
  EXPECT_THAT(cell(R"("type": "STRING", "maxLength": "2")", R"("abc")"),
              HasSubstr("c: the value has 3 characters, more than STRING(2) takes"));
  EXPECT_THAT(cell(R"("type": "BYTES", "maxLength": "2")", R"("AAECAw==")"),
              HasSubstr("more than BYTES(2) takes"));
  EXPECT_THAT(cell(R"("type": "NUMERIC", "precision": "3", "scale": "1")", "123.4"),
              HasSubstr("does not fit NUMERIC(3, 1)"));
}

TEST(JsonRowEncoder, WritesRecordsAndRanges) {
  Encoding encoding(R"([
      {"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
      {"name": "s", "type": "RECORD", "mode": "REPEATED", "fields": [
        {"name": "Name", "type": "STRING", "mode": "REQUIRED"},
        {"name": "inner", "type": "RECORD", "fields": [{"name": "x", "type": "DATE"}]}]},
      {"name": "r", "type": "RANGE", "rangeElementType": {"type": "DATE"}}])");
  const json shown = json::parse(encoding.row(json::parse(
      R"({"ID": 1, "s": [{"name": "a", "inner": {"x": "2026-01-02"}}, {"NAME": "b"}],
          "r": {"start": "2026-01-01", "end": null}})")));
  EXPECT_EQ(shown["f"][0]["v"], "1");
  EXPECT_EQ(shown["f"][1]["v"], json::parse(R"([
      {"v": {"f": [{"v": "a"}, {"v": {"f": [{"v": "2026-01-02"}]}}]}},
      {"v": {"f": [{"v": "b"}, {"v": null}]}}])"));
  EXPECT_EQ(shown["f"][2]["v"], "[2026-01-01, UNBOUNDED)");
  EXPECT_EQ(encoding.row(json::parse(R"({"s": [{"inner": {"x": "no", "y": 1}}, 5],
                                        "r": {"start": "x", "middle": 1}})")),
            "id: Missing required field: id.; s.Name: Missing required field: s.Name.; "
            "s.inner.y: no such field: s.inner.y.; "
            "s.inner.x: Invalid date: 'no' Field: s.inner.x; Value: no; "
            "s: The field s is a RECORD: its value must be an object, found: 5; "
            "r.middle: no such field: r.middle.; "
            "r.start: Invalid date: 'x' Field: r.start; Value: x");
}

TEST(JsonRowEncoder, RefusesOrLeavesOutWhatNoColumnHasAPlaceFor) {
  Encoding encoding(R"([{"name": "a", "type": "STRING"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "STRING"}]}])");
  const json row = json::parse(R"({"a": "1", "b": 2, "s": {"x": "3", "y": [4]}})");
  EXPECT_EQ(encoding.row(row), "b: no such field: b.; s.y: no such field: s.y.");
  EXPECT_EQ(encoding.row(row, true), R"({"f":[{"v":"1"},{"v":{"f":[{"v":"3"}]}}]})");
  EXPECT_EQ(encoding.row(json::parse(R"({"a": "1", "A": "2"})")),
            "a: Field a is given more than once.");
}

// A null is a null: only what is left out gets the default.
TEST(JsonRowEncoder, FillsInDefaultValues) {
  Encoding encoding(R"([
      {"name": "n", "type": "INTEGER", "mode": "REQUIRED", "defaultValueExpression": "7"},
      {"name": "s", "type": "STRING", "defaultValueExpression": "'text'"},
      {"name": "at", "type": "TIMESTAMP", "defaultValueExpression": "CURRENT_TIMESTAMP"},
      {"name": "price", "type": "NUMERIC", "defaultValueExpression": "1.5"},
      {"name": "l", "type": "DATE", "mode": "REPEATED", "defaultValueExpression": "[DATE '2026-01-02']"},
      {"name": "none", "type": "STRING", "defaultValueExpression": "NULL"}])");
  EXPECT_EQ(json::parse(encoding.row(json::object()))["f"], json::parse(R"([
      {"v": "7"}, {"v": "text"}, {"v": "2026-07-26T01:02:03Z"}, {"v": "1.5"},
      {"v": [{"v": "2026-01-02"}]}, {"v": null}])"));
  EXPECT_EQ(json::parse(encoding.row(json::parse(R"({"n": 1, "s": null, "l": []})")))["f"],
            json::parse(R"([{"v": "1"}, {"v": null}, {"v": "2026-07-26T01:02:03Z"}, {"v": "1.5"},
                            {"v": []}, {"v": null}])"));
}

}  // namespace
}  // namespace penstock::emulator
