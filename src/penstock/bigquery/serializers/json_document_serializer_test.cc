#include "penstock/bigquery/serializers/json_document_serializer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr JsonDocumentOptions kIgnoreUnknown{.ignoreUnknownFields = true};

TableSchema people() {
  return {{column("name", ColumnType::kString), column("n", ColumnType::kInt64)}};
}

// Section 11, vectors 1 and 2: keys in any order and case, fields in the order of their numbers
// (BQT-007, BQT-053).
TEST(JsonDocumentSerializer, WritesFieldsInTheOrderOfTheirNumbers) {
  EXPECT_EQ(hexRow(people(), R"({"name":"alice","n":3})"), "0A05616C6963651003");
  EXPECT_EQ(hexRow(people(), R"({"N":-1,"NAME":"a"})"), "0A016110FFFFFFFFFFFFFFFFFF01");
  EXPECT_EQ(hexRow(people(), " \r\n\t{ \"n\" : 3 ,\t\"name\" : \"a\" } \n"), "0A01611003");
}

// Vectors 3, 4 and 9
TEST(JsonDocumentSerializer, WritesStructsAndRepeatedColumns) {
  const TableSchema family{{column("id", ColumnType::kInt64),
                            structColumn("child", {column("c_name", ColumnType::kString),
                                                   column("c_value", ColumnType::kInt64)}),
                            repeated("tags", ColumnType::kString)}};
  const std::string expected = "080712070A036B696410071A01611A0162";
  EXPECT_EQ(hexRow(family, R"({"id":7,"child":{"c_name":"kid","c_value":7},"tags":["a","b"]})"),
            expected);
  EXPECT_EQ(hexRow(family, R"({"tags":["a","b"],"child":{"c_value":7,"c_name":"kid"},"id":7})"),
            expected);
  EXPECT_EQ(hexRow({{repeated("x", ColumnType::kInt64)}}, R"({"x":[1,"2"]})"), "08010802");
  EXPECT_EQ(hexRow({{structColumn("s", {column("a", ColumnType::kString)})}}, R"({"s":{}})"),
            "0A00");
}

// Vector 8, BQT-004: a RANGE is a message; an open end is unset.
TEST(JsonDocumentSerializer, WritesRanges) {
  const TableSchema schema{{rangeColumn("r", ColumnType::kDate)}};
  EXPECT_EQ(hexRow(schema, R"({"r":{"start":"1970-01-01","end":"2026-07-26"}})"),
            "0A06080010B4A101");
  EXPECT_EQ(hexRow(schema, R"({"r":{"end":"2026-07-26","start":0}})"), "0A06080010B4A101");
  EXPECT_EQ(hexRow(schema, R"({"r":{"end":"2026-07-26","start":null}})"), "0A0410B4A101");
  EXPECT_EQ(hexRow(schema, R"({"r":{}})"), "0A00");
  EXPECT_EQ(hexRow(schema, "{\"r\":\"[1970-01-01, 2026-07-26)\"}"),
            "root.r (RANGE<DATE>): a string cannot become a value of this column; found "
            "\"[1970-01-01, 2026-07-26)\"");
  EXPECT_THAT(hexRow(schema, R"({"r":{"start":"1970-01-01","stop":0}})"),
              StartsWith("root.r.stop: the table has no such column"));
  EXPECT_THAT(hexRow(schema, R"({"r":[1,2]})"), StartsWith("root.r (RANGE<DATE>): an array"));
  EXPECT_EQ(hexRow({{rangeColumn("r", ColumnType::kTimestamp)}}, R"({"r":{"start":1,"end":2}})"),
            "0A0408011002");
  EXPECT_EQ(hexRow({{rangeColumn("r", ColumnType::kDatetime)}},
                   R"({"r":{"start":"2026-07-26T01:02:03.456789"}})"),
            "0A0A08D5F0DBC190E8A7FD01");
}

// Vector 35, BQT-050
TEST(JsonDocumentSerializer, RefusesWhatIsNotExactlyOneObject) {
  const TableSchema schema{{column("a", ColumnType::kInt64)}};
  EXPECT_EQ(hexRow(schema, "{}"), "root: the document is an empty object");
  EXPECT_EQ(hexRow(schema, " { } "), "root: the document is an empty object");
  EXPECT_EQ(hexRow(schema, "[1]"), "root: the document is an array, not an object; found [1]");
  EXPECT_EQ(hexRow(schema, "\"a\""), "root: the document is a string, not an object; found \"a\"");
  EXPECT_EQ(hexRow(schema, "12"), "root: the document is an integer, not an object; found 12");
  EXPECT_EQ(hexRow(schema, "null"), "root: the document is null, not an object; found null");
  EXPECT_EQ(hexRow(schema, "{\"a\":1}{\"a\":2}"),
            "root: malformed JSON at byte 8: more than one JSON value in the document; found "
            "{\"a\":2}");
  EXPECT_EQ(hexRow(schema, "{\"a\":1} x"),
            "root: malformed JSON at byte 9: more than one JSON value in the document; found x");
  EXPECT_EQ(hexRow(schema, "{a:1}"),
            "root: malformed JSON at byte 2: a key in double quotes is expected here; found a:1}");
  EXPECT_EQ(hexRow(schema, ""), "root: the document is empty");
  EXPECT_EQ(hexRow(schema, "x"),
            "root: malformed JSON at byte 1: a JSON object is expected here; found x");
  EXPECT_EQ(hexRow(schema, "id,name"),
            "root: malformed JSON at byte 1: a JSON object is expected here; found id,name");
}

TEST(JsonDocumentSerializer, RefusesBrokenDocuments) {
  const TableSchema schema{
      {column("a", ColumnType::kInt64), structColumn("s", {repeated("x", ColumnType::kInt64)})}};
  EXPECT_EQ(hexRow(schema, R"({"a":1,})"),
            "root: malformed JSON at byte 8: a key in double quotes is expected here; found }");
  EXPECT_EQ(hexRow(schema, R"({"a":1)"), "root: malformed JSON: it ends at byte 6, too early");
  EXPECT_EQ(hexRow(schema, R"({"a":01})"),
            "root.a: malformed JSON at byte 6: not a number as JSON writes it; found 01}");
  EXPECT_EQ(hexRow(schema, R"({"a":tru})"),
            "root.a: malformed JSON at byte 6: a value is expected here; found tru}");
  EXPECT_EQ(hexRow(schema, R"({"a":nul})"),
            "root.a: malformed JSON at byte 6: a value is expected here; found nul}");
  EXPECT_EQ(hexRow(schema, R"({"a" 1})"),
            "root.a: malformed JSON at byte 6: ':' is expected after a key; found 1}");
  EXPECT_EQ(hexRow(schema, R"({"a":1 "s":{}})"),
            "root: malformed JSON at byte 8: ',' or '}' is expected here; found \"s\":{}}");
  EXPECT_EQ(hexRow(schema, R"({"s":{"x":[1,,2]}})"),
            "root.s.x[1]: malformed JSON at byte 14: a value is expected here; found ,2]}}");
  EXPECT_EQ(hexRow(schema, R"({"s":{"x":[1}})"),
            "root.s.x: malformed JSON at byte 13: ',' or ']' is expected here; found }}");
  EXPECT_EQ(hexRow(schema, R"({"s":{"x":[1]]})"),
            "root.s: malformed JSON at byte 14: ',' or '}' is expected here; found ]}");
  EXPECT_EQ(hexRow(schema, "{\"a\":\"1"), "root: a string is not closed");
  EXPECT_EQ(hexRow(schema, "{\"a\":\"1\n\"}"),
            "root: a control character (below 0x20) inside a string, which JSON wants escaped");
  EXPECT_EQ(hexRow(schema, "{\"a\":\"1\xFF\"}"), "root: invalid UTF-8 at byte 8");
}

// BQT-050: the document may end anywhere, whatever stands behind it in memory.
TEST(JsonDocumentSerializer, RefusesEveryPrefixOfADocument) {
  const TableSchema schema{{column("a", ColumnType::kString), repeated("b", ColumnType::kBool),
                            structColumn("c", {column("d", ColumnType::kDouble)}),
                            column("e", ColumnType::kJson)}};
  const std::string document =
      R"({"a":"x\n","b":[true,false],"c":{"d":-1.5e3},"e":{"f":[1,"2",{}]}})";
  ASSERT_EQ(hexRow(schema, document).substr(0, 8), "0A02780A");
  for (size_t size = 0; size < document.size(); ++size) {
    EXPECT_THAT(hexRow(schema, document.substr(0, size)), StartsWith("root")) << size;
  }
}

// Vectors 35 and 58, BQT-053: at every level, in any case, escaped or not, known or not.
TEST(JsonDocumentSerializer, RefusesAKeyThatStandsTwice) {
  const TableSchema schema{{column("a", ColumnType::kInt64), column("name", ColumnType::kString),
                            structColumn("s", {column("x", ColumnType::kInt64)}),
                            column("j", ColumnType::kJson)}};
  constexpr auto kTwice = "the column stands twice in one object";
  EXPECT_EQ(hexRow(schema, R"({"a":1,"a":2})"), fmt::format("root.a (INT64): {}; found 2", kTwice));
  EXPECT_EQ(hexRow(schema, R"({"name":"x","NAME":"y"})"),
            fmt::format("root.name (STRING): {}; found \"y\"", kTwice));
  EXPECT_THAT(hexRow(schema, R"({"a":null,"a":null})"), HasSubstr(kTwice));
  EXPECT_THAT(hexRow(schema, R"({"a":1,"\u0061":2})"), HasSubstr(kTwice));
  EXPECT_THAT(hexRow(schema, R"({"s":{"x":1,"X":1}})"), StartsWith("root.s.x (INT64)"));
  EXPECT_EQ(hexRow(schema, R"({"a":1,"u":1,"v":2,"u":3})", kIgnoreUnknown),
            "root: the key \"u\" stands twice in one object");
  EXPECT_EQ(hexRow(schema, R"({"s":{"u":1,"\u0075":3}})", kIgnoreUnknown),
            "root.s: the key \"u\" stands twice in one object");
  EXPECT_THAT(hexRow(schema, R"({"u":{"v":1,"v":3}})", kIgnoreUnknown),
              AllOf(StartsWith("root.u: unusable JSON"), HasSubstr("a key stands twice")));
  EXPECT_THAT(hexRow(schema, R"({"j":{"v":[{"w":1,"w":3}]}})"),
              AllOf(StartsWith("root.j: unusable JSON"), HasSubstr("a key stands twice")));
  EXPECT_EQ(hexRow(schema, R"({"a":1,"u":1,"U":2,"s":{"u":3}})", kIgnoreUnknown), "08011A00");
}

TEST(JsonDocumentSerializer, NestsAsDeepAs512Levels) {  // BQT-050
  const TableSchema schema{{column("j", ColumnType::kJson)}};
  const auto document = [](size_t arrays) {
    return "{\"u\":" + std::string(arrays, '[') + std::string(arrays, ']') + "}";
  };
  EXPECT_EQ(hexRow(schema, document(511), kIgnoreUnknown), "");
  EXPECT_THAT(hexRow(schema, document(512), kIgnoreUnknown),
              HasSubstr("nested deeper than 512 levels"));
  EXPECT_THAT(hexRow(schema, document(200'000), kIgnoreUnknown),
              HasSubstr("nested deeper than 512 levels"));
}

TEST(JsonDocumentSerializer, AJsonColumnNestsAsDeepAs500Levels) {  // BQT-055: the service's limit
  const TableSchema schema{
      {column("j", ColumnType::kJson), structColumn("s", {column("j", ColumnType::kJson)})}};
  const auto value = [](size_t arrays) {
    return std::string(arrays, '[') + std::string(arrays, ']');
  };
  EXPECT_THAT(hexRow(schema, "{\"j\":" + value(500) + "}"), StartsWith("0AE807"));
  EXPECT_THAT(hexRow(schema, "{\"s\":{\"j\":" + value(500) + "}}"), StartsWith("12EB070AE807"));
  EXPECT_THAT(hexRow(schema, "{\"j\":" + value(501) + "}"),
              AllOf(StartsWith("root.j: "), HasSubstr("nested deeper than the 500 levels")));
}

// BQT-056, BQT-007
TEST(JsonDocumentSerializer, LeavesColumnsUnsetForNullAndAbsentKeys) {
  const TableSchema schema{
      {column("a", ColumnType::kInt64), repeated("r", ColumnType::kString),
       structColumn("s", {required("x", ColumnType::kInt64), column("y", ColumnType::kInt64)}),
       column("j", ColumnType::kJson)}};
  EXPECT_EQ(hexRow(schema, R"({"a":null,"r":null,"s":null,"j":null})"), "");
  EXPECT_EQ(hexRow(schema, R"({"r":[]})"), "");
  EXPECT_EQ(hexRow(schema, R"({"a":0})"), "0800");
  EXPECT_EQ(hexRow(schema, R"({"s":{"x":1,"y":null}})"), "1A020801");
}

// BQT-007, BQT-013, BQT-056: the modes are the schema's; in every object that is there, and in no
// other.
TEST(JsonDocumentSerializer, WantsAValueForRequiredColumns) {
  const TableSchema schema{
      {required("a", ColumnType::kInt64),
       structColumn("s", {required("x", ColumnType::kInt64), column("y", ColumnType::kInt64)},
                    ColumnMode::kRepeated)}};
  EXPECT_EQ(hexRow(schema, R"({"a":1,"s":[{"x":1},{"y":2}]})"),
            "root.s[1].x (INT64): the column is REQUIRED and has no value");
  EXPECT_EQ(hexRow(schema, R"({"s":[]})"),
            "root.a (INT64): the column is REQUIRED and has no value");
  EXPECT_EQ(hexRow(schema, R"({"a":null})"),
            "root.a (INT64): the column is REQUIRED and has no value; found null");
  EXPECT_EQ(hexRow(schema, R"({"a":1})"), "0801");
}

TEST(JsonDocumentSerializer, ChecksRequiredColumnsOfWideTables) {
  TableSchema schema;
  std::string document = "{";
  for (int index = 0; index < 200; ++index) {
    schema.columns.push_back(required(fmt::format("c{}", index), ColumnType::kInt64));
    if (index != 150) document += fmt::format("\"c{}\":{},", index, index);
  }
  document.back() = '}';
  EXPECT_EQ(hexRow(schema, document), "root.c150 (INT64): the column is REQUIRED and has no value");
  document.back() = ',';
  EXPECT_THAT(hexRow(schema, document + "\"c150\":1}"), StartsWith("0800100118022003"));
}

// Vector 56, BQT-056
TEST(JsonDocumentSerializer, TakesArraysForRepeatedColumnsOnly) {
  const TableSchema schema{{repeated("r", ColumnType::kString), column("a", ColumnType::kInt64)}};
  EXPECT_EQ(hexRow(schema, R"({"r":["a",1,"b",true]})"), "0A01610A01310A01620A0474727565");
  EXPECT_EQ(hexRow(schema, R"({"r":"a"})"),
            "root.r (REPEATED STRING): a string cannot become a value of this column; found \"a\"");
  EXPECT_EQ(hexRow(schema, R"({"r":[null]})"),
            "root.r[0] (REPEATED STRING): an array may not hold null; found null");
  EXPECT_EQ(hexRow(schema, R"({"r":["a",["b"]]})"),
            "root.r[1] (REPEATED STRING): an array cannot become a value of this column; found "
            "[\"b\"]]}");
  EXPECT_EQ(hexRow(schema, R"({"a":[1]})"),
            "root.a (INT64): an array cannot become a value of this column; found [1]}");
  EXPECT_THAT(hexRow({{repeated("b", ColumnType::kBytes)}}, R"({"b":[[1,2],"AwQ="]})"),
              "0A0201020A020304");
}

// BQT-058
TEST(JsonDocumentSerializer, RefusesUnknownKeysUnlessTheyAreIgnored) {
  const TableSchema schema{
      {column("a", ColumnType::kInt64), structColumn("s", {column("x", ColumnType::kInt64)})}};
  EXPECT_EQ(hexRow(schema, R"({"a":1,"b":2})"),
            "root.b: the table has no such column (ignoreUnknownFields would drop it)");
  EXPECT_THAT(hexRow(schema, R"({"s":{"b":2}})"), StartsWith("root.s.b: the table has no"));
  EXPECT_EQ(hexRow(schema, R"({"b":{"x":[1,{"y":"\n"}]},"a":1,"s":{"t":0,"x":2}})", kIgnoreUnknown),
            "080112020802");
  EXPECT_EQ(hexRow(schema, R"({"b":1,"c":[]})", kIgnoreUnknown), "");
}

// BQT-050: what is dropped is checked like everything else.
TEST(JsonDocumentSerializer, ChecksTheValuesThatItDrops) {
  const TableSchema schema{{column("a", ColumnType::kInt64)}};
  for (const std::string_view value :
       {"01", "tru", "[1,,2]", "[1}", "{\"x\":[}]", "{\"x\" 1}", "\"\\ud800\"", "\"\\x\"", "1.",
        "[1 2]", "{1:2}", "-", "{\"x\":1,\"x\":2}", "nulll", "", "[", "{", "{\"x\":}"}) {
    const std::string document = fmt::format("{{\"skipped\":{},\"a\":1}}", value);
    EXPECT_THAT(hexRow(schema, document, kIgnoreUnknown), StartsWith("root.skipped")) << document;
  }
  EXPECT_EQ(hexRow({{required("a", ColumnType::kInt64)}}, R"({"b":1})", kIgnoreUnknown),
            "root.a (INT64): the column is REQUIRED and has no value");
  EXPECT_THAT(hexRow(schema, R"({"\x":1,"a":1})", kIgnoreUnknown),
              HasSubstr("an escape that JSON does not know"));
}

// BQT-005, BQT-008, BQT-053: names of any kind, keys spelt in any way.
TEST(JsonDocumentSerializer, FindsColumnsByEveryKindOfName) {
  const TableSchema schema{{column("ID", ColumnType::kInt64), column("1st-col", ColumnType::kInt64),
                            column("naïve", ColumnType::kInt64),
                            column("a_name_of_more_than_sixteen_bytes", ColumnType::kInt64),
                            column("fifteen_bytes_x", ColumnType::kInt64),
                            column("sixteen_bytes_xy", ColumnType::kInt64)}};
  const std::string expected = "080110021803200428053006";
  EXPECT_EQ(hexRow(schema, R"({"id":1,"1ST-COL":2,"NAÏVE":3,"A_Name_Of_More_Than_Sixteen_Bytes":4,)"
                           R"("FIFTEEN_bytes_X":5,"SIXTEEN_bytes_XY":6})"),
            expected);
  EXPECT_EQ(hexRow(schema, R"({"\u0049d":1,"1st\u002Dcol":2,"na\u00EFve":3,)"
                           R"("a_name_of_more_than_sixteen_bytes":4,"fifteen_bytes\u005fx":5,)"
                           R"("sixteen_bytes_xy":6})"),
            expected);
  EXPECT_THAT(hexRow(schema, R"({"id ":1})"), StartsWith("root.id : the table has no"));
  EXPECT_THAT(hexRow(schema, R"({"i":1})"), StartsWith("root.i: "));
  EXPECT_THAT(hexRow(schema, R"({"idx":1})"), StartsWith("root.idx: "));
  EXPECT_THAT(hexRow(schema, R"({"fifteen_bytes_":1})"), StartsWith("root.fifteen_bytes_: "));
  EXPECT_THAT(hexRow(schema, R"({"1st\rcol":1})"), StartsWith("root.1st"));
  EXPECT_THAT(hexRow(schema, R"({"":1})"), StartsWith("root.: "));
}

// BQT-059
TEST(JsonDocumentSerializer, NamesPathTypeReasonAndValueOfAnError) {
  const TableSchema schema{{structColumn(
      "a", {structColumn("b", {column("x", ColumnType::kNumeric)}, ColumnMode::kRepeated)})}};
  EXPECT_EQ(hexRow(schema, R"({"a":{"b":[{},{},{"x":"1.0000000001"}]}})"),
            "root.a.b[2].x (NUMERIC): more than 9 digits after the decimal point; found "
            "\"1.0000000001\"");
  const std::string longText(100, 'y');
  EXPECT_EQ(hexRow(schema, "{\"a\":{\"b\":[{\"x\":\"" + longText + "\"}]}}"),
            "root.a.b[0].x (NUMERIC): not a decimal number like -12.5 or 1e3; found \"" +
                longText.substr(0, 47) + "...");
}

// Lengths of messages are canonical varints, whatever came before.
TEST(JsonDocumentSerializer, WritesLengthsOfAnySize) {
  const TableSchema schema{
      {structColumn("s", {column("t", ColumnType::kString), column("u", ColumnType::kInt64)},
                    ColumnMode::kRepeated)}};
  std::string document = "{\"s\":[";
  std::string expected;
  for (const size_t size : {0, 200, 1, 20'000, 120, 121, 122, 123, 124, 125, 126, 127, 128, 0}) {
    const std::string text(size, 'q');
    document += "{\"u\":1,\"t\":\"" + text + "\"},";
    std::string inner = "\x0A" + std::string();
    const auto appendLength = [](std::string* to, size_t length) {
      for (; length >= 0x80; length >>= 7) to->push_back(static_cast<char>(length | 0x80));
      to->push_back(static_cast<char>(length));
    };
    appendLength(&inner, size);
    inner += text + "\x10\x01";
    expected += "\x0A";
    appendLength(&expected, inner.size());
    expected += inner;
  }
  document.back() = ']';
  const auto row = rowOf(schema, document + "}");
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(toHex(*row), toHex(expected));
}

TEST(JsonDocumentSerializer, UnescapesStringsWhereverTheyStand) {
  const TableSchema schema{{column("s", ColumnType::kString), column("d", ColumnType::kDate),
                            column("n", ColumnType::kNumeric), column("b", ColumnType::kBytes)}};
  EXPECT_EQ(hexRow(schema, R"({"s":"\u00e9\n\"\\\ud834\udd1e"})"), "0A09C3A90A225CF09D849E");
  EXPECT_EQ(hexRow(schema, R"({"d":"2026\u002d07-26"})"), "10B4A101");
  EXPECT_EQ(hexRow(schema, R"({"n":"1\u002e25"})"), "1A04807C814A");
  EXPECT_EQ(hexRow(schema, R"({"b":"aG\u006b="})"), "22026869");
  EXPECT_THAT(hexRow(schema, R"({"s":"\ud834"})"), HasSubstr("a lone surrogate"));
  EXPECT_THAT(hexRow(schema, R"({"s":"abc\x"})"), HasSubstr("an escape that JSON does not know"));
  // Long enough that the length takes another number of bytes than the escaped text's.
  std::string escaped;
  for (int index = 0; index < 100; ++index) escaped += "\\n";
  EXPECT_EQ(hexRow(schema, "{\"s\":\"" + escaped + "\"}").substr(0, 8), "0A640A0A");
}

TEST(JsonDocumentSerializer, WritesStringsOfEveryLengthUnchanged) {
  const TableSchema schema{{column("s", ColumnType::kString)}};
  for (size_t size = 0; size < 200; ++size) {
    const std::string text(size, 's');
    for (const std::string_view space : {"", " ", " \t "}) {
      const auto row = rowOf(schema, fmt::format("{{\"s\":\"{}\"{}}}", text, space));
      ASSERT_TRUE(row.ok()) << row.status();
      EXPECT_EQ(row->substr(size < 128 ? 2 : 3), text);
    }
  }
}

TEST(JsonDocumentSerializer, PutsRowsBehindWhatTheRowHolds) {
  auto serializer = JsonDocumentSerializer::create(people());
  ASSERT_TRUE(serializer.ok());
  connector::RowBatch batch;
  connector::RowEncoder& row = batch.beginRow();
  row.append("xyz");
  ASSERT_TRUE((*serializer)->serialize(R"({"n":1,"name":"a"})", row).ok());
  batch.commitRow();
  EXPECT_EQ(toHex(batch.row(0)), "78797A0A01611001");
}

TEST(JsonDocumentSerializer, GoesOnAfterAnError) {
  auto serializer = JsonDocumentSerializer::create(people());
  ASSERT_TRUE(serializer.ok());
  connector::RowBatch batch;
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE((*serializer)->serialize(R"({"n":1,"name":{}})", batch.beginRow()).ok());
    batch.discardRow();
    EXPECT_TRUE((*serializer)->serialize(R"({"n":1,"name":"a"})", batch.beginRow()).ok());
    batch.commitRow();
    EXPECT_EQ(toHex(batch.row(batch.rowCount() - 1)), "0A01611001");
  }
}

// BQT-100: whatever a document is like, the error is the row's and has a path.
TEST(JsonDocumentSerializer, FailsDocumentsWithErrorsOfTheirOwnOnly) {
  const TableSchema schema{{column("a", ColumnType::kInt64), column("t", ColumnType::kTimestamp),
                            column("b", ColumnType::kBytes), column("j", ColumnType::kJson)}};
  for (const std::string_view document :
       {"", "{}", "[]", "{", "{\"a\":1.5}", "{\"a\":\"\xC3\"}", "{\"t\":\"2026-13-01 00:00:00\"}",
        "{\"t\":\"2026-01-01 00:00:00 Nowhere/Land\"}", "{\"b\":\"?\"}", "{\"j\":[}", "{\"x\":1}",
        "{\"a\":1,\"a\":1}", "{\"\\ud800\":1}", "{\"a\":99999999999999999999}"}) {
    const absl::Status status = rowOf(schema, document).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << document;
    EXPECT_THAT(std::string(base::messageOf(status)), StartsWith("root")) << document;
  }
}

// BQT-003 to BQT-006, BQT-051, BQT-012: before any document.
TEST(JsonDocumentSerializer, RefusesSchemasThatNoTableCanHave) {
  const auto refusal = [](const TableSchema& schema) {
    return std::string(base::messageOf(JsonDocumentSerializer::create(schema).status()));
  };
  EXPECT_NE(refusal({}), "");
  EXPECT_THAT(refusal({{column("a", ColumnType::kUnset)}}), HasSubstr("a"));
  EXPECT_THAT(refusal({{structColumn("s", {})}}), HasSubstr("s"));
  EXPECT_THAT(refusal({{column("Id", ColumnType::kInt64), column("iD", ColumnType::kInt64)}}),
              HasSubstr("iD"));
  EXPECT_THAT(refusal({{rangeColumn("r", ColumnType::kString)}}), HasSubstr("r"));
}

}  // namespace
}  // namespace penstock::bigquery
