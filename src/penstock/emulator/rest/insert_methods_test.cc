#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/rest_server_fixture.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kInsert = "/bigquery/v2/projects/p/datasets/d/tables/t/insertAll";
constexpr const char* kData = "/bigquery/v2/projects/p/datasets/d/tables/t/data";

/// A table p.d.t: id INTEGER REQUIRED, name STRING(5).
class InsertAllTest : public RestServerTest {
 protected:
  InsertAllTest() {
    makeDataset();
    const Answer made =
        makeTable(json::parse(R"([{"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
                        {"name": "name", "type": "STRING", "maxLength": "5"}])"));
    EXPECT_EQ(made.code, 200) << made.text;
  }

  Answer insert(const char* rows, json rest = json::object()) {
    rest["rows"] = json::parse(rows);
    return post(kInsert, rest);
  }

  /// "1:a,2:null": what is in the table.
  std::string rows() {
    std::string text;
    const Answer answer = get(kData);
    if (!answer.body.contains("rows")) return text;
    for (const json& row : answer.body["rows"]) {
      const json& name = row["f"][1]["v"];
      text += (text.empty() ? "" : ",") + row["f"][0]["v"].get<std::string>() + ":" +
              (name.is_null() ? "null" : name.get<std::string>());
    }
    return text;
  }
};

TEST_F(InsertAllTest, StoresRowsWhereEveryReaderFindsThem) {
  const Answer answer = insert(R"([{"json": {"id": 1, "name": "a"}}, {"json": {"ID": "2"}}])");
  EXPECT_EQ(answer.code, 200) << answer.text;
  EXPECT_EQ(answer.body, json::parse(R"({"kind": "bigquery#tableDataInsertAllResponse"})"));
  EXPECT_EQ(rows(), "1:a,2:null");
  const Answer table = get("/projects/p/datasets/d/tables/t");
  EXPECT_EQ(table.body["numRows"], "2");

  // A column that is added later is NULL in them.
  ASSERT_EQ(patch("/projects/p/datasets/d/tables/t", json::parse(R"({"schema": {"fields": [
                {"name": "id", "type": "INTEGER"}, {"name": "name", "type": "STRING"},
                {"name": "added", "type": "DATE"}]}})"))
                .code,
            200);
  EXPECT_EQ(insert(R"([{"json": {"name": "longer now", "added": "2026-01-02"}}])").code, 200);
  EXPECT_EQ(get(kData).body["rows"], json::parse(R"([
      {"f": [{"v": "1"}, {"v": "a"}, {"v": null}]}, {"f": [{"v": "2"}, {"v": null}, {"v": null}]},
      {"f": [{"v": null}, {"v": "longer now"}, {"v": "2026-01-02"}]}])"));
}

TEST_F(InsertAllTest, StoresNothingWhenARowIsBadAndListsEveryOne) {
  const Answer answer = insert(R"([{"json": {"id": 1}}, {"json": {"name": "x"}},
      {"json": {"id": 3, "name": "longer"}}, {"json": {"id": "x", "nope": 1}}])");
  EXPECT_EQ(answer.code, 200) << answer.text;
  EXPECT_EQ(answer.body["insertErrors"], json::parse(R"([
      {"index": 0, "errors": [{"reason": "stopped", "location": "", "debugInfo": "", "message": ""}]},
      {"index": 1, "errors": [{"reason": "invalid", "location": "id", "debugInfo": "",
                               "message": "Missing required field: id."}]},
      {"index": 2, "errors": [{"reason": "invalid", "location": "name", "debugInfo": "",
                               "message": "the value has 6 characters, more than STRING(5) takes"}]},
      {"index": 3, "errors": [{"reason": "invalid", "location": "nope", "debugInfo": "",
                               "message": "no such field: nope."},
                              {"reason": "invalid", "location": "id", "debugInfo": "",
                               "message": "Cannot convert value to integer (bad value): x"}]}])"));
  EXPECT_EQ(rows(), "");
}

TEST_F(InsertAllTest, SkipsBadRowsAndIgnoresUnknownValuesWhenAsked) {
  const char* mixed = R"([{"json": {"id": 1, "nope": 1}}, {"json": {"id": 2}}, {"json": {}}])";
  const Answer skipped = insert(mixed, {{"skipInvalidRows", true}});
  EXPECT_EQ(skipped.body["insertErrors"].size(), 2U);
  EXPECT_EQ(skipped.body["insertErrors"][0]["index"], 0);
  EXPECT_EQ(skipped.body["insertErrors"][1]["index"], 2);
  EXPECT_EQ(rows(), "2:null");
  const Answer both = insert(mixed, {{"skipInvalidRows", true}, {"ignoreUnknownValues", true}});
  EXPECT_EQ(both.body["insertErrors"].size(), 1U);
  EXPECT_EQ(rows(), "2:null,1:null,2:null");
}

TEST_F(InsertAllTest, AddsNothingWhenARequestIsSentAgain) {
  const char* named =
      R"([{"insertId": "a", "json": {"id": 1}}, {"insertId": "b", "json": {"id": 2}},
                          {"insertId": "a", "json": {"id": 3}}, {"json": {"id": 4}}])";
  EXPECT_EQ(insert(named).code, 200);
  EXPECT_EQ(rows(), "1:null,2:null,4:null");
  EXPECT_EQ(insert(named).code, 200);
  EXPECT_EQ(rows(), "1:null,2:null,4:null,4:null");  // a row without an id cannot be told
  // The id of a row that was refused is not taken.
  EXPECT_EQ(insert(R"([{"insertId": "c", "json": {"id": 5}}, {"json": {}}])").code, 200);
  EXPECT_EQ(insert(R"([{"insertId": "c", "json": {"id": 6}}])").code, 200);
  EXPECT_EQ(rows(), "1:null,2:null,4:null,4:null,6:null");
}

TEST_F(InsertAllTest, RefusesRequestsThatItCannotServe) {
  EXPECT_EQ(errorOf(post(kInsert, json::object()), 400),
            "invalid: No rows present in the request.");
  EXPECT_EQ(errorOf(insert("[]"), 400), "invalid: No rows present in the request.");
  EXPECT_THAT(errorOf(insert("[5]"), 400), HasSubstr("rows[0]: must be an object"));
  EXPECT_THAT(errorOf(insert(R"([{"json": 5}])"), 400), HasSubstr("rows[0].json"));
  EXPECT_THAT(errorOf(insert(R"([{"insertId": 5}])"), 400), HasSubstr("rows[0].insertId"));
  EXPECT_THAT(errorOf(insert("{}"), 400), HasSubstr("No rows"));
  EXPECT_THAT(errorOf(insert(R"({"a": 1})"), 400), HasSubstr("rows: must be a list"));
  EXPECT_THAT(errorOf(insert(R"([{"json": {"id": 1}}])", {{"skipInvalidRows", "yes"}}), 400),
              HasSubstr("skipInvalidRows"));
  EXPECT_EQ(errorOf(insert(R"([{"json": {"id": 1}}])", {{"templateSuffix", "_x"}}), 501),
            "notImplemented: templateSuffix is not supported yet by the Penstock emulator");
  EXPECT_EQ(errorOf(post("/projects/p/datasets/d/tables/absent/insertAll",
                         json::parse(R"({"rows": [{"json": {}}]})")),
                    404),
            "notFound: Not found: Table p:d.absent");
  json many = {{"rows", json::array()}};
  for (int i = 0; i < 50001; ++i) many["rows"].push_back(json::object());
  EXPECT_EQ(errorOf(post(kInsert, many), 400),
            "invalid: too many rows present in the request, limit: 50000 row count: 50001.");
  EXPECT_THAT(errorOf(post(kInsert, {{"x", std::string(10 << 20, 'x')}}), 413),
              HasSubstr("exceeds the limit: 10485760 bytes"));
  EXPECT_EQ(rows(), "");
}

}  // namespace
}  // namespace penstock::emulator
