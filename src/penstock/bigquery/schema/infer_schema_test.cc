#include "penstock/bigquery/schema/infer_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/serializers/json_document_serializer.h"
#include "penstock/connector/row_batch.h"
#include "penstock/formats/json/padded_text.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Documents in one buffer, a line each, as a reader hands them out.
class Lines {
 public:
  explicit Lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_ += line + "\n";
    const size_t size = text_.size();
    text_.append(formats::kJsonPadding, '\0');
    size_t begin = 0;
    for (const std::string& line : lines) {
      views_.emplace_back(text_.data() + begin, line.size());
      begin += line.size() + 1;
    }
    EXPECT_EQ(begin, size);
  }
  [[nodiscard]] const std::vector<std::string_view>& views() const { return views_; }

 private:
  std::string text_;
  std::vector<std::string_view> views_;
};

std::string line(size_t document) { return "f.json line " + std::to_string(document + 1); }

absl::Status addLines(SchemaInference& inference, const std::vector<std::string>& lines) {
  const Lines buffer(lines);
  return inference.add(buffer.views(), line);
}

/// "a INT64, b.c STRING REPEATED", or the error.
std::string flat(const std::vector<Column>& columns, const std::string& parent) {
  std::string text;
  for (const Column& column : columns) {
    if (!text.empty()) text += ", ";
    text += parent + column.name + " " + describeType(column);
    if (column.mode == ColumnMode::kRepeated) text += " REPEATED";
    if (!column.fields.empty()) text += ", " + flat(column.fields, parent + column.name + ".");
  }
  return text;
}

std::string outcome(const SchemaInference& inference) {
  const auto schema = inference.finish();
  return schema.ok() ? flat(schema->columns, "") : base::describe(schema.status());
}

std::string inferred(const std::vector<std::string>& lines) {
  SchemaInference inference;
  const absl::Status status = addLines(inference, lines);
  return status.ok() ? outcome(inference) : base::describe(status);
}

TEST(InferSchema, TakesColumnsInTheOrderOfTheirFirstAppearance) {
  EXPECT_EQ(inferred({R"({"b": 1, "a": "x"})", R"({"c": true, "a": "y", "b": 2})"}),
            "b INT64, a STRING, c BOOL");
}

TEST(InferSchema, WidensNumbersOfOneField) {
  EXPECT_EQ(inferred({R"({"n": 1})", R"({"n": -9223372036854775808})"}), "n INT64");
  EXPECT_EQ(inferred({R"({"n": 1})", R"({"n": 1.5})", R"({"n": 2})"}), "n FLOAT64");
  EXPECT_EQ(inferred({R"({"n": 1.0})"}), "n FLOAT64");
  EXPECT_EQ(inferred({R"({"n": 1e3})"}), "n FLOAT64");
  EXPECT_EQ(inferred({R"({"n": 9223372036854775808})", R"({"n": 1})"}), "n NUMERIC");
  EXPECT_EQ(inferred({R"({"n": 1})", R"({"n": 99999999999999999999999999999})"}), "n NUMERIC");
  EXPECT_EQ(inferred({R"({"n": 123456789012345678901234567890})", R"({"n": 9223372036854775808})"}),
            "n BIGNUMERIC");
  EXPECT_EQ(inferred({R"({"n": 9223372036854775808})", R"({"n": 0.5})"}), "n FLOAT64");
  EXPECT_EQ(inferred({R"({"n": 1)" + std::string(50, '0') + "}"}), "n FLOAT64");
}

TEST(InferSchema, KnowsDatesAndTimesWhereEveryValueIsOne) {
  EXPECT_EQ(inferred({R"({"d": "2026-07-26", "t": "01:02:03", "p": "2026-07-26T01:02:03",
                          "z": "2026-07-26T01:02:03Z"})"}),
            "d DATE, t TIME, p DATETIME, z TIMESTAMP");
  EXPECT_EQ(inferred({R"({"d": "2026-07-26"})", R"({"d": "2026-07-26 10:00"})"}), "d DATETIME");
  EXPECT_EQ(
      inferred({R"({"d": "2026-07-26 10:00"})", R"({"d": "2026-07-26 10:00 Europe/Berlin"})"}),
      "d TIMESTAMP");
  EXPECT_EQ(inferred({R"({"d": "2026\/07\/26 10:00"})"}), "d TIMESTAMP");
  // One other value makes it text, wherever it stands.
  EXPECT_EQ(inferred({R"({"d": "2026-07-26"})", R"({"d": "unknown"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": ""})", R"({"d": "2026-07-26"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "2026-07-26"})", R"({"d": "01:02:03"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "2026-07-26"})", R"({"d": "2026-07-26T01:02:03Z"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "2026-02-30"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "2026-7-26"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "16:09"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "1700000000"})"}), "d STRING");
  EXPECT_EQ(inferred({R"({"d": "2026-07-26"})", R"({"d": null})"}), "d DATE");
}

TEST(InferSchema, MakesStructsOfObjectsAndRepeatedOfArrays) {
  EXPECT_EQ(inferred({R"({"a": {"x": 1}, "l": [1, 2.5], "o": [{"p": "q"}, {"r": [true]}]})",
                      R"({"a": {"y": {"z": "w"}}, "l": []})"}),
            "a STRUCT, a.x INT64, a.y STRUCT, a.y.z STRING, l FLOAT64 REPEATED, "
            "o STRUCT REPEATED, o.p STRING, o.r BOOL REPEATED");
  EXPECT_EQ(inferred({R"({"d": ["2026-07-26", "2026-07-27"]})"}), "d DATE REPEATED");
  EXPECT_EQ(inferred({R"({"d": ["2026-07-26", "x"]})"}), "d STRING REPEATED");
}

TEST(InferSchema, GivesFieldsThatNeverHaveAValueATypeThatTakesThem) {
  EXPECT_EQ(inferred({R"({"n": null, "e": [], "o": {}, "l": [{}]})"}),
            "n STRING, e STRING REPEATED, o JSON, l JSON REPEATED");
  EXPECT_EQ(inferred({R"({"n": null, "e": [], "o": {}})", R"({"n": 1, "e": [1], "o": {"x": 1}})"}),
            "n INT64, e INT64 REPEATED, o STRUCT, o.x INT64");
}

TEST(InferSchema, NamesFieldTypesAndPlacesOfAConflict) {
  EXPECT_THAT(inferred({R"({"a": {"n": null}})", R"({"a": {"n": 1}})", R"({"a": {"n": 2}})",
                        R"({"a": {"n": "x"}})"}),
              AllOf(HasSubstr("\"a.n\""), HasSubstr("INT64 in one place (f.json line 2)"),
                    HasSubstr("STRING in another (f.json line 4)"), HasSubstr("type STRING")));
  EXPECT_THAT(inferred({R"({"a": "x"})", R"({"a": 1.5})"}),
              AllOf(HasSubstr("FLOAT64 in one place (f.json line 2)"),
                    HasSubstr("STRING in another (f.json line 1)"), Not(HasSubstr("with type"))));
  EXPECT_THAT(inferred({R"({"a": true})", R"({"a": 1})"}),
              AllOf(HasSubstr("BOOL"), HasSubstr("INT64")));
  EXPECT_THAT(
      inferred({R"({"a": {"b": 1}})", R"({"a": [1]})"}),
      AllOf(HasSubstr("STRUCT (an object) in one place (f.json line 1)"),
            HasSubstr("REPEATED (an array) in another (f.json line 2)"), HasSubstr("type JSON")));
  EXPECT_THAT(inferred({R"({"a": [1]})", R"({"a": [1, "x"]})"}),
              AllOf(HasSubstr("\"a\": an element of its array"), HasSubstr("f.json line 1"),
                    HasSubstr("f.json line 2")));
  EXPECT_THAT(inferred({R"({"a": 1})", R"({"a": [1]})"}), HasSubstr("REPEATED"));
}

TEST(InferSchema, SaysWhatNoColumnCanHold) {
  EXPECT_THAT(inferred({R"({"m": [[1, 2]]})"}),
              AllOf(HasSubstr("\"m\""), HasSubstr("f.json line 1"), HasSubstr("type JSON")));
  EXPECT_THAT(inferred({R"({"a": {"x.y": 1}})"}),
              AllOf(HasSubstr("\"a.x.y\""), HasSubstr("f.json line 1"), HasSubstr("a character"),
                    HasSubstr("type JSON for \"a\"")));
  EXPECT_THAT(inferred({R"({"_PARTITIONTIME": 1})"}),
              AllOf(HasSubstr("reserves"), HasSubstr("ignore unknown fields")));
  EXPECT_THAT(inferred({R"({"": 1})"}), HasSubstr("empty"));
  EXPECT_EQ(inferred({R"({"1st": 1, "a b": 2})"}), "1st INT64, a b INT64");
  std::string deep = "1";
  for (int i = 0; i < 16; ++i) deep = fmt::format(R"({{"s": {}}})", deep);
  EXPECT_EQ(inferred({deep}).rfind("s STRUCT, s.s STRUCT", 0), 0U);
  EXPECT_THAT(inferred({R"({"s": )" + deep + "}"}),
              AllOf(HasSubstr("more than 15 levels"), HasSubstr("f.json line 1")));
}

TEST(InferSchema, RefusesObjectsWhoseKeysAreData) {
  std::vector<std::string> lines(10'001);
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i] = fmt::format(R"({{"id": 1, "byUser": {{"u{}": 1}}}})", i);
  }
  EXPECT_THAT(inferred(lines),
              AllOf(HasSubstr("10000"), HasSubstr("\"byUser\""), HasSubstr("JSON")));
}

TEST(InferSchema, TakesKeysThatDifferByCaseForOneColumn) {  // BQT-053
  EXPECT_EQ(inferred({R"({"userId": 1})", R"({"USERID": 2.5})", R"({"userid": 3})"}),
            "userId FLOAT64");
  EXPECT_THAT(inferred({R"({"id": 1, "ID": 2})"}),
              AllOf(HasSubstr("f.json line 1"), HasSubstr("unusable JSON at byte"),
                    HasSubstr("name the same column")));
  EXPECT_THAT(inferred({R"({"a": {"x": 1, "x": 2}})"}), HasSubstr("name the same column"));
  EXPECT_EQ(inferred({R"({"id": 1, "\u0061": 2})", R"({"a": 2, "id": 1})"}), "id INT64, a INT64");
}

TEST(InferSchema, RefusesWhatIsNotExactlyOneObject) {  // BQT-050
  const std::pair<const char*, const char*> kBad[] = {
      {"{}", "empty object"},
      {"[1]", "a JSON object is expected"},
      {"5", "a JSON object is expected"},
      {R"({"a":1}{"a":2})", "more than one JSON value"},
      {R"({"a":1} x)", "more than one JSON value"},
      {"{a:1}", "a key in double quotes"},
      {R"({"a":1)", "the end of the document"},
      {R"({"a":01})", "not a number"},
      {R"({"a":tru})", "a value is expected"},
      {R"({"a":[1,,2]})", "a value is expected"},
      {R"({"a":[1,]})", "a value is expected"},
      {R"({"a":1,})", "a key in double quotes"},
      {R"({"a":[1})", "',' or ']'"},
      {R"({"a" 1})", "':' is expected"},
      {R"({"a":"\q"})", "f.json line 2"},
      {R"({"a":"\ud800"})", "f.json line 2"},
      {"{\"a\":\"\xFF\"}", "invalid UTF-8"},
      {"{\"a\":\"x}", "f.json line 2"},
      {"", "f.json line 2"},
  };
  for (const auto& [bad, reason] : kBad) {
    EXPECT_THAT(inferred({R"({"a": 1})", bad, R"({"a": 2})"}),
                AllOf(HasSubstr("f.json line 2: "), HasSubstr(reason)))
        << bad;
  }
}

TEST(InferSchema, PassesOverBadDocumentsWithoutATraceIfAsked) {
  SchemaInference inference({.skipBadDocuments = true});
  ASSERT_TRUE(addLines(inference, {R"({"b": "x", "new": {"y": 1}, "a": [1,})", R"({"a": 1})",
                                   R"({"a": "text", "b": 2} tail)", "not json", R"({"b": 3})"})
                  .ok());
  EXPECT_EQ(outcome(inference), "a INT64, b INT64");
  EXPECT_EQ(inference.documents(), 2U);
  EXPECT_EQ(inference.skippedDocuments(), 3U);
}

TEST(InferSchema, NeedsADocument) {
  SchemaInference inference({.skipBadDocuments = true});
  EXPECT_THAT(outcome(inference), HasSubstr("no document"));
  ASSERT_TRUE(addLines(inference, {"nothing"}).ok());
  EXPECT_THAT(outcome(inference), HasSubstr("no valid document"));
}

TEST(InferSchema, AsksForPlacesOnlyWhenSomethingIsNew) {
  SchemaInference inference;
  size_t asked = 0;
  const Lines lines(std::vector<std::string>(1'000, R"({"a": 1, "b": "x", "c": [{"d": null}]})"));
  ASSERT_TRUE(inference
                  .add(lines.views(),
                       [&](size_t document) {
                         ++asked;
                         return line(document);
                       })
                  .ok());
  EXPECT_EQ(asked, 1U);
}

TEST(InferSchema, MergesAsIfAllHadBeenAddedToOne) {
  const std::vector<std::string> first = {R"({"a": 1, "s": {"x": "2026-07-26"}, "l": [1]})"};
  const std::vector<std::string> second = {R"({"z": true, "A": 1.5, "s": {"y": 1, "x": "no"}})",
                                           R"({"l": [9223372036854775808]})"};
  SchemaInference one;
  SchemaInference two;
  ASSERT_TRUE(addLines(one, first).ok());
  ASSERT_TRUE(addLines(two, second).ok());
  ASSERT_TRUE(one.merge(std::move(two)).ok());
  EXPECT_EQ(outcome(one), "a FLOAT64, s STRUCT, s.x STRING, s.y INT64, l NUMERIC REPEATED, z BOOL");
  EXPECT_EQ(one.documents(), 3U);

  SchemaInference conflicting;
  ASSERT_TRUE(addLines(conflicting, {R"({"s": {"x": 5}})"}).ok());
  EXPECT_THAT(base::describe(one.merge(std::move(conflicting))),
              AllOf(HasSubstr("\"s.x\""), HasSubstr("INT64"), HasSubstr("STRING")));
}

TEST(InferSchema, FindsTheSameSchemaHoweverDocumentsAreCut) {
  std::mt19937 random(3);
  const std::vector<std::string> kMembers = {R"("a": 1)",
                                             R"("b": "x")",
                                             R"("c": {"d": [1, 2.5], "e": null})",
                                             R"("f": [])",
                                             R"("g": "2026-07-26")",
                                             R"("c": {"h": {}})",
                                             R"("f": [{"i": true}])"};
  std::vector<std::string> lines;
  for (int i = 0; i < 500; ++i) {
    const std::string& one = kMembers[random() % 5];
    const std::string& other = kMembers[random() % 7];
    const bool sameKey = one.substr(0, 3) == other.substr(0, 3);
    lines.push_back(sameKey ? fmt::format("{{{}}}", one) : fmt::format("{{{}, {}}}", one, other));
  }
  const std::string whole = inferred(lines);
  for (int round = 0; round < 20; ++round) {
    SchemaInference inference;
    for (size_t begin = 0; begin < lines.size();) {
      const size_t count = std::min<size_t>(1 + random() % 60, lines.size() - begin);
      const auto from = lines.begin() + static_cast<ptrdiff_t>(begin);
      SchemaInference part;
      ASSERT_TRUE(addLines(part, {from, from + static_cast<ptrdiff_t>(count)}).ok());
      ASSERT_TRUE(inference.merge(std::move(part)).ok());
      begin += count;
    }
    ASSERT_EQ(outcome(inference), whole);
  }
}

/// A value that its field may hold: what it is made of depends on the letter of the field.
std::string randomValue(char field, std::mt19937& random, int depth);

std::string randomObject(std::mt19937& random, int depth) {
  std::string text;
  for (const char field : std::string("bndtpzsuovwlmx")) {
    if (random() % 2 == 0 || (depth > 3 && (field == 'o' || field == 'm'))) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("\"{}\": {}", field, randomValue(field, random, depth + 1));
  }
  return text.empty() ? R"({"b": null})" : "{" + text + "}";
}

std::string randomArray(char element, std::mt19937& random, int depth) {
  std::string text;
  for (size_t count = random() % 4; count > 0; --count) {
    if (!text.empty()) text += ",";
    // No column takes a null element (BQT-056).
    text += element == 'o' ? randomObject(random, depth) : std::to_string(random() % 100);
  }
  return "[" + text + "]";
}

std::string randomValue(char field, std::mt19937& random, int depth) {
  const auto one = [&](std::initializer_list<const char*> values) {
    return std::string(values.begin()[random() % values.size()]);
  };
  switch (field) {
    case 'b':
      return one({"true", "false", "null"});
    case 'n':
      return one({"0", "-1", "9223372036854775807", "null"});
    case 'd':
      return one({"\"2026-07-26\"", "\"0001-01-01\"", "null"});
    case 't':
      return one({"\"01:02:03\"", "\"23:59:59.123456\""});
    case 'p':
      return one({"\"2026-07-26\"", "\"2026-07-26T01:02\"", "\"2026-07-26 1:2:3.5\""});
    case 'z':
      return one({"\"2026-07-26 01:02\"", "\"2026\\/07\\/26 01:02:03.123456789Z\"",
                  "\"2026-07-26 01:02:03 Asia\\/Tokyo\""});
    case 's':
      return one({"\"\"", "\"2026-07-26\"", "\"a\\u00e9\\ud83d\\ude00\"", "null"});
    case 'u':
      return one({"1", "1.5", "-0", "1e3", "18446744073709551616", "null"});
    case 'v':
      return one({"1", "18446744073709551616", "-99999999999999999999999999999"});
    case 'w':
      return one({"1", "123456789012345678901234567890"});
    case 'o':
      return random() % 8 == 0 ? "null" : randomObject(random, depth);
    case 'l':
      return randomArray('n', random, depth);
    case 'm':
      return randomArray('o', random, depth);
    default:
      return one({"null", "{}", "{}"});
  }
}

TEST(InferSchema, FindsASchemaThatTakesEveryDocument) {  // BQT-054
  std::mt19937 random(4711);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> lines;
    for (size_t count = 1 + random() % 40; count > 0; --count) {
      lines.push_back(randomObject(random, 0));
    }
    SCOPED_TRACE(lines.front());
    SchemaInference inference;
    ASSERT_EQ(base::describe(addLines(inference, lines)), "OK");
    const auto schema = inference.finish();
    ASSERT_TRUE(schema.ok()) << base::describe(schema.status());
    auto serializer = JsonDocumentSerializer::create(*schema);
    ASSERT_TRUE(serializer.ok()) << base::describe(serializer.status());
    connector::RowBatch batch;
    for (const std::string& line : lines) {
      ASSERT_EQ(base::describe((*serializer)->serialize(std::string_view(line), batch.beginRow())),
                "OK")
          << line;
      batch.commitRow();
    }
  }
}

TEST(InferSchema, SurvivesDamagedDocuments) {
  const std::string good =
      R"({"id": 12, "name": "a\u00e9\n", "tags": ["x", "y"], "at": {"lat": 1.5, "ok": true, "n": null}})";
  std::mt19937 random(11);
  std::vector<std::string> lines;
  for (int i = 0; i < 3'000; ++i) {
    std::string damaged = good.substr(0, random() % 8 == 0 ? random() % good.size() : good.size());
    for (size_t changes = random() % 4; changes > 0 && !damaged.empty(); --changes) {
      damaged[random() % damaged.size()] = "{}[]\",:0123456789truefalsn \\"[random() % 27];
    }
    lines.push_back(damaged);
  }
  SchemaInference inference({.skipBadDocuments = true});
  const absl::Status status = addLines(inference, lines);
  // Whole documents may still disagree about a type; nothing else can go wrong.
  EXPECT_TRUE(status.ok() || base::messageOf(status).starts_with("field \"")) << status.message();
  EXPECT_GT(inference.skippedDocuments(), 0U);
}

}  // namespace
}  // namespace penstock::bigquery
