#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "penstock/emulator/testing/rest_server_fixture.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using TableMethodsTest = RestServerTest;

TEST_F(TableMethodsTest, ShowsATableWholeAndInPart) {
  makeDataset();
  const Answer made = makeTable(json::parse(R"([
      {"name": "id", "type": "INT64", "mode": "REQUIRED"},
      {"name": "s", "type": "STRUCT", "fields": [{"name": "x", "type": "NUMERIC", "precision": 10, "scale": 2},
                                                 {"name": "y", "type": "STRING", "maxLength": "5"}]}])"),
                                {{"description", "text"},
                                 {"labels", {{"team", "data"}}},
                                 {"clustering", {{"fields", {"id"}}}}});
  ASSERT_EQ(made.code, 200) << made.text;
  const Answer shown = get("/bigquery/v2/projects/p/datasets/d/tables/t");
  EXPECT_EQ(shown.body, made.body);
  EXPECT_EQ(shown.body["kind"], "bigquery#table");
  EXPECT_EQ(shown.body["id"], "p:d.t");
  EXPECT_EQ(shown.body["type"], "TABLE");
  EXPECT_EQ(shown.body["location"], "US");
  EXPECT_EQ(shown.body["numRows"], "0");
  EXPECT_EQ(shown.body["numBytes"], "0");
  EXPECT_EQ(shown.body["description"], "text");
  EXPECT_EQ(shown.body["labels"]["team"], "data");
  EXPECT_EQ(shown.body["clustering"]["fields"][0], "id");
  EXPECT_EQ(shown.body["tableReference"],
            json::parse(R"({"projectId": "p", "datasetId": "d", "tableId": "t"})"));
  EXPECT_EQ(shown.body["schema"]["fields"][1]["fields"][0]["precision"], "10");
  EXPECT_THAT(shown.body["selfLink"].get<std::string>(),
              HasSubstr("/bigquery/v2/projects/p/datasets/d/tables/t"));
  EXPECT_FALSE(shown.body["etag"].get<std::string>().empty());

  const Answer part = get("/bigquery/v2/projects/p/datasets/d/tables/t?selectedFields=s.y");
  EXPECT_EQ(part.body["schema"]["fields"],
            json::parse(R"([{"name": "s", "type": "RECORD", "mode": "NULLABLE", "fields": [
                {"name": "y", "type": "STRING", "mode": "NULLABLE", "maxLength": "5"}]}])"));
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables/t?selectedFields=nope").code, 400);

  EXPECT_EQ(remove("/bigquery/v2/projects/p/datasets/d/tables/t").code, 204);
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables/t").code, 404);
}

TEST_F(TableMethodsTest, RefusesTablesThatTheServiceWouldRefuse) {
  makeDataset();
  const json fields =
      json::parse(R"([{"name": "ts", "type": "TIMESTAMP"}, {"name": "day", "type": "DATE"},
      {"name": "s", "type": "STRING"}, {"name": "f", "type": "FLOAT"}, {"name": "n", "type": "INTEGER"},
      {"name": "l", "type": "STRING", "mode": "REPEATED"}])");
  const auto refusal = [&](const char* rest) {
    const Answer answer = makeTable(fields, json::parse(rest));
    EXPECT_EQ(answer.code, 400) << answer.text;
    return answer.code == 400 ? answer.body["error"]["message"].get<std::string>() : answer.text;
  };
  EXPECT_THAT(refusal(R"({"timePartitioning": {"type": "DAY", "field": "nope"}})"),
              HasSubstr("cannot be found"));
  EXPECT_THAT(refusal(R"({"timePartitioning": {"type": "DAY", "field": "s"}})"),
              HasSubstr("TIMESTAMP, DATE or DATETIME. The type found is: STRING"));
  EXPECT_THAT(refusal(R"({"timePartitioning": {"type": "HOUR", "field": "day"}})"),
              HasSubstr("by HOUR"));
  EXPECT_THAT(refusal(R"({"timePartitioning": {"type": "WEEK"}})"), HasSubstr("'WEEK'"));
  EXPECT_THAT(refusal(R"({"timePartitioning": {"type": "DAY", "expirationMs": "0"}})"),
              HasSubstr("positive"));
  EXPECT_THAT(refusal(R"({"rangePartitioning": {"field": "s", "range": {}}})"),
              HasSubstr("INTEGER"));
  EXPECT_THAT(refusal(R"({"rangePartitioning": {"field": "n"}})"),
              HasSubstr("rangePartitioning.range"));
  EXPECT_THAT(
      refusal(
          R"({"timePartitioning": {"type": "DAY"}, "rangePartitioning": {"field": "n", "range": {}}})"),
      HasSubstr("Only one of"));
  EXPECT_THAT(refusal(R"({"clustering": {"fields": []}})"), HasSubstr("clustering.fields"));
  EXPECT_THAT(refusal(R"({"clustering": {"fields": ["s", "n", "day", "ts", "f"]}})"),
              HasSubstr("at most 4"));
  EXPECT_THAT(refusal(R"({"clustering": {"fields": ["f"]}})"),
              HasSubstr("not supported on column f of type FLOAT"));
  EXPECT_THAT(refusal(R"({"clustering": {"fields": ["l"]}})"), HasSubstr("must not be REPEATED"));
  EXPECT_THAT(refusal(R"({"clustering": {"fields": ["nope"]}})"), HasSubstr("cannot be found"));
  EXPECT_THAT(refusal(R"({"labels": {"a": 5}})"), HasSubstr("labels"));
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables/t").code, 404);

  const Answer fine =
      makeTable(fields, json::parse(R"({"timePartitioning": {"type": "HOUR", "field": "ts"},
      "clustering": {"fields": ["s", "n"]}})"));
  EXPECT_EQ(fine.code, 200) << fine.text;
  EXPECT_EQ(fine.body["timePartitioning"]["field"], "ts");

  const Answer named =
      post("/bigquery/v2/projects/p/datasets/d/tables", {{"tableReference", {{"tableId", "a.b"}}}});
  EXPECT_THAT(named.body["error"]["message"].get<std::string>(),
              HasSubstr("Invalid table ID \"a.b\""));
  const Answer elsewhere = post("/bigquery/v2/projects/p/datasets/d/tables",
                                {{"tableReference", {{"tableId", "u"}, {"datasetId", "other"}}}});
  EXPECT_THAT(elsewhere.body["error"]["message"].get<std::string>(), HasSubstr("does not agree"));
  const Answer dataset = post("/bigquery/v2/projects/p/datasets",
                              {{"datasetReference", {{"datasetId", "with-dash"}}}});
  EXPECT_THAT(dataset.body["error"]["message"].get<std::string>(),
              HasSubstr("Invalid dataset ID \"with-dash\""));
}

TEST_F(TableMethodsTest, PagesThroughListsOfTables) {
  makeDataset();
  for (const char* name : {"c", "a", "b"}) {
    ASSERT_EQ(
        post("/bigquery/v2/projects/p/datasets/d/tables", {{"tableReference", {{"tableId", name}}}})
            .code,
        200);
  }
  const Answer first = get("/bigquery/v2/projects/p/datasets/d/tables?maxResults=2");
  EXPECT_EQ(first.body["totalItems"], 3);
  ASSERT_EQ(first.body["tables"].size(), 2U);
  EXPECT_EQ(first.body["tables"][0]["id"], "p:d.a");
  const std::string token = first.body["nextPageToken"].get<std::string>();
  const Answer second =
      get("/bigquery/v2/projects/p/datasets/d/tables?maxResults=2&pageToken=" + token);
  ASSERT_EQ(second.body["tables"].size(), 1U);
  EXPECT_EQ(second.body["tables"][0]["id"], "p:d.c");
  EXPECT_FALSE(second.body.contains("nextPageToken"));
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables?pageToken=nonsense").code, 400);
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables?maxResults=-1").code, 400);
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d/tables?maxResults=0").body["tables"].size(),
            3U);
  EXPECT_FALSE(get("/bigquery/v2/projects/p/datasets/d/tables").body.contains("nextPageToken"));
}

constexpr const char* kTable = "/bigquery/v2/projects/p/datasets/d/tables/t";

/// A table p.d.t: id INTEGER REQUIRED, name STRING, with a description and labels.
class TableChangeTest : public RestServerTest {
 protected:
  TableChangeTest() {
    makeDataset();
    const Answer made = makeTable(
        json::parse(R"([{"name": "id", "type": "INTEGER", "mode": "REQUIRED", "description": "key"},
                        {"name": "name", "type": "STRING"}])"),
        {{"description", "text"}, {"labels", {{"team", "data"}, {"stage", "test"}}}});
    EXPECT_EQ(made.code, 200) << made.text;
  }

  std::string etag() { return get(kTable).body["etag"].get<std::string>(); }

  /// {"schema": {"fields": ...}}
  static json withFields(const char* fields) {
    return {{"schema", {{"fields", json::parse(fields)}}}};
  }
};

// The etag of what was read guards the change.
TEST_F(TableChangeTest, ChangesATableUnderItsEtag) {
  const std::string first = etag();
  const Answer stale = patch(kTable, {{"description", "new"}}, "stale");
  EXPECT_EQ(errorOf(stale, 412), "conditionNotMet: Precondition check failed.");
  EXPECT_EQ(stale.body["error"]["errors"][0]["location"], "If-Match");
  EXPECT_EQ(stale.body["error"]["errors"][0]["locationType"], "header");
  EXPECT_EQ(get(kTable).body["description"], "text");

  const Answer changed = patch(kTable, {{"description", "new"}}, first);
  ASSERT_EQ(changed.code, 200) << changed.text;
  EXPECT_EQ(changed.body["description"], "new");
  EXPECT_NE(changed.body["etag"], first);
  EXPECT_EQ(changed.headers.find("ETag")->second, changed.body["etag"]);
  EXPECT_EQ(get(kTable).body, changed.body);
  EXPECT_EQ(patch(kTable, {{"description", "again"}}, first).code, 412);
  EXPECT_EQ(patch(kTable, {{"description", "again"}}, "\"x\", \"" + etag() + "\"").code, 200);
  EXPECT_EQ(patch(kTable, {{"description", "anyhow"}}, "*").code, 200);

  EXPECT_EQ(answerOf(client_->Delete(kTable, conditionOf("stale"))).code, 412);
  EXPECT_EQ(answerOf(client_->Delete(kTable, conditionOf(etag()))).code, 204);
  EXPECT_EQ(errorOf(patch(kTable, {{"description", "x"}}), 404),
            "notFound: Not found: Table p:d.t");
}

TEST_F(TableChangeTest, PatchesMemberByMember) {
  const Answer before = get(kTable);
  const Answer changed =
      patch(kTable, json::parse(R"({"labels": {"stage": null, "owner": "me"}, "friendlyName": "T",
                                    "expirationTime": 32503680000000, "schema": null})"));
  ASSERT_EQ(changed.code, 200) << changed.text;
  EXPECT_EQ(changed.body["labels"], json::parse(R"({"team": "data", "owner": "me"})"));
  EXPECT_EQ(changed.body["description"], "text");
  EXPECT_EQ(changed.body["friendlyName"], "T");
  EXPECT_EQ(changed.body["expirationTime"], "32503680000000");  // an int64 is a string in answers
  EXPECT_EQ(catalog_->findTable({"p", "d", "t"})->expirationMillis, 32503680000000);
  EXPECT_EQ(changed.body["schema"], before.body["schema"]);
  EXPECT_EQ(changed.body["creationTime"], before.body["creationTime"]);

  const Answer cleared = patch(kTable, json::parse(R"({"labels": null, "description": null,
                                                       "expirationTime": null})"));
  for (const char* member : {"labels", "description", "expirationTime"}) {
    EXPECT_FALSE(cleared.body.contains(member)) << member;
  }
  EXPECT_EQ(cleared.body["friendlyName"], "T");
  EXPECT_EQ(catalog_->findTable({"p", "d", "t"})->expirationMillis, 0);
  EXPECT_THAT(errorOf(patch(kTable, {{"expirationTime", "1000"}}), 400),
              HasSubstr("invalid: Invalid value for expirationTime: 1000 is not in the future"));
  EXPECT_THAT(errorOf(patch(kTable, {{"description", 5}}), 400), HasSubstr("must be a string"));
  EXPECT_THAT(errorOf(patch(kTable, {{"requirePartitionFilter", "x"}}), 400),
              HasSubstr("must be true or false"));
  EXPECT_THAT(errorOf(patch(kTable, {{"tableReference", {{"tableId", "other"}}}}), 400),
              HasSubstr("does not agree"));
}

TEST_F(TableChangeTest, ReplacesEverythingButColumnsByPut) {
  const Answer replaced = put(kTable, {{"friendlyName", "T"}});
  ASSERT_EQ(replaced.code, 200) << replaced.text;
  EXPECT_EQ(replaced.body["friendlyName"], "T");
  EXPECT_FALSE(replaced.body.contains("description"));
  EXPECT_FALSE(replaced.body.contains("labels"));
  EXPECT_EQ(replaced.body["schema"]["fields"].size(), 2U);

  // A resource as it was read goes back as it is.
  const Answer read = get(kTable);
  Answer again = put(kTable, read.body, etag());
  ASSERT_EQ(again.code, 200) << again.text;
  for (const char* member : {"etag", "lastModifiedTime"}) again.body[member] = read.body[member];
  EXPECT_EQ(again.body, read.body);
}

// How a schema may grow.
TEST_F(TableChangeTest, AddsAndRelaxesColumns) {
  const Answer changed = patch(
      kTable, withFields(R"([{"name": "id", "type": "INTEGER"}, {"name": "name", "type": "STRING"},
                     {"name": "at", "type": "TIMESTAMP", "defaultValueExpression": "CURRENT_TIMESTAMP"},
                     {"name": "tags", "type": "STRING", "mode": "REPEATED"}])"));
  ASSERT_EQ(changed.code, 200) << changed.text;
  EXPECT_EQ(changed.body["schema"]["fields"], json::parse(R"([
      {"name": "id", "type": "INTEGER", "mode": "NULLABLE"},
      {"name": "name", "type": "STRING", "mode": "NULLABLE"},
      {"name": "at", "type": "TIMESTAMP", "mode": "NULLABLE", "defaultValueExpression": "CURRENT_TIMESTAMP"
  },
      {"name": "tags", "type": "STRING", "mode": "REPEATED"}])"));
}

TEST_F(TableChangeTest, RefusesOtherSchemasAndChangesNothing) {
  const Answer before = get(kTable);
  const auto refusal = [&](const char* fields) {
    const std::string patched = errorOf(patch(kTable, withFields(fields)), 400);
    EXPECT_EQ(errorOf(put(kTable, withFields(fields)), 400), patched);
    return patched;
  };
  const std::string mismatch = "invalid: Provided Schema does not match Table p:d.t. ";
  EXPECT_EQ(refusal(R"([{"name": "name", "type": "STRING"}])"),
            mismatch + "Field id is missing in new schema");
  EXPECT_EQ(refusal(R"([{"name": "id", "type": "STRING", "mode": "REQUIRED"},
                        {"name": "name", "type": "STRING"}])"),
            mismatch + "Field id has changed type from INTEGER to STRING");
  EXPECT_EQ(refusal(R"([{"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
                        {"name": "name", "type": "STRING", "mode": "REQUIRED"}])"),
            mismatch + "Field name has changed mode from NULLABLE to REQUIRED");
  EXPECT_EQ(refusal("[]"), mismatch + "Field id is missing in new schema");
  EXPECT_EQ(get(kTable).body, before.body);
}

TEST_F(TableChangeTest, ChangesClusteringAndKeepsPartitioning) {
  Answer changed = patch(kTable, json::parse(R"({"clustering": {"fields": ["name", "id"]}})"));
  EXPECT_EQ(changed.body["clustering"]["fields"], json::parse(R"(["name", "id"])"));
  EXPECT_THAT(errorOf(patch(kTable, json::parse(R"({"clustering": {"fields": ["nope"]}})")), 400),
              HasSubstr("cannot be found"));
  EXPECT_THAT(
      errorOf(patch(kTable, json::parse(R"({"clustering": {"fields": ["id", "ID"]}})")), 400),
      HasSubstr("more than once"));
  changed = patch(kTable, json::parse(R"({"clustering": null})"));
  EXPECT_FALSE(changed.body.contains("clustering"));
  EXPECT_EQ(errorOf(patch(kTable, json::parse(R"({"timePartitioning": {"type": "DAY"}})")), 400),
            "invalid: Cannot convert non partitioned table to partitioned table.");

  ASSERT_EQ(remove(kTable).code, 204);
  const json fields = json::parse(R"([{"name": "day", "type": "DATE"}])");
  ASSERT_EQ(makeTable(fields, json::parse(R"({"timePartitioning": {"type": "DAY", "field": "day",
                                              "expirationMs": 86400000}})"))
                .code,
            200);
  changed = patch(kTable, json::parse(R"({"timePartitioning": {"type": "DAY", "expirationMs": 5000},
                                          "requirePartitionFilter": true})"));
  EXPECT_EQ(changed.body["timePartitioning"],
            json::parse(R"({"type": "DAY", "field": "day", "expirationMs": "5000"})"));
  EXPECT_EQ(changed.body["requirePartitionFilter"], true);
  changed = patch(kTable, json::parse(R"({"timePartitioning": {"expirationMs": -1000}})"));
  EXPECT_EQ(changed.body["timePartitioning"], json::parse(R"({"type": "DAY", "field": "day"})"));
  EXPECT_EQ(errorOf(patch(kTable, json::parse(R"({"timePartitioning": {"type": "MONTH"}})")), 400),
            "invalid: Cannot change partitioning spec for a partitioned table.");
  EXPECT_EQ(errorOf(patch(kTable, json::parse(R"({"timePartitioning": null})")), 400),
            "invalid: Cannot change partitioning spec for a partitioned table.");
  // A column goes, and with it nothing: it is refused before partitioning is looked at.
  EXPECT_EQ(put(kTable, json::object()).body["timePartitioning"]["field"], "day");
}

TEST_F(TableChangeTest, LosesNoChangeOfManyAtATime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      httplib::Client client("127.0.0.1", server_->port());
      for (int round = 0; round < 10; ++round) {
        const json body = {{"labels", {{fmt::format("k{}-{}", i, round), "v"}}}};
        const auto answer = client.Patch(kTable, body.dump(), "application/json");
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 200) << answer->body;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(get(kTable).body["labels"].size(), 42U);
}

TEST_F(TableMethodsTest, BoundsTheRangesOfAPartitioning) {
  makeDataset();
  const auto refusal = [&](const char* range) {
    json rest = {{"rangePartitioning", {{"field", "n"}, {"range", json::parse(range)}}}};
    return errorOf(makeTable(json::parse(R"([{"name": "n", "type": "INTEGER"}])"), rest), 400);
  };
  EXPECT_THAT(refusal(R"({"start": 0, "end": 100})"),
              HasSubstr("rangePartitioning.range.interval"));
  EXPECT_THAT(refusal(R"({"start": 5, "end": 5, "interval": 1})"),
              HasSubstr("start must be below"));
  EXPECT_THAT(refusal(R"({"start": 0, "end": 5, "interval": 0})"), HasSubstr("interval above 0"));
  EXPECT_THAT(refusal(R"({"start": 0, "end": 10001, "interval": 1})"), HasSubstr("found 10001"));
  EXPECT_THAT(refusal(R"({"start": "-9223372036854775808", "end": "9223372036854775807",
                          "interval": 1})"),
              HasSubstr("at most 10000 partitions"));
  const Answer fine = makeTable(
      json::parse(R"([{"name": "n", "type": "INTEGER"}])"),
      json::parse(R"({"rangePartitioning": {"field": "n", "range": {"start": -5, "end": "100",
                                                                    "interval": 10}}})"));
  ASSERT_EQ(fine.code, 200) << fine.text;
  EXPECT_EQ(fine.body["rangePartitioning"]["range"],
            json::parse(R"({"start": "-5", "end": "100", "interval": "10"})"));
}

TEST_F(TableMethodsTest, ChecksTheColumnsOfAKey) {
  makeDataset();
  const json fields = json::parse(R"([{"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
                                      {"name": "l", "type": "STRING", "mode": "REPEATED"}])");
  const auto withKey = [&](const char* columns) {
    return makeTable(fields,
                     {{"tableConstraints", {{"primaryKey", {{"columns", json::parse(columns)}}}}}});
  };
  EXPECT_THAT(errorOf(withKey("[]"), 400), HasSubstr("1 to 16 columns"));
  EXPECT_THAT(errorOf(withKey(R"(["nope"])"), 400), HasSubstr("\"nope\" is not a column"));
  EXPECT_THAT(errorOf(withKey(R"(["l"])"), 400), HasSubstr("\"l\" is not a column"));
  const Answer fine = withKey(R"(["id"])");
  EXPECT_EQ(fine.body["tableConstraints"]["primaryKey"]["columns"][0], "id");
}

TEST_F(TableChangeTest, SendsNothingThatTheClientHasAlready) {
  const std::string seen = etag();
  const Answer same = answerOf(client_->Get(kTable, {{"If-None-Match", seen}}));
  EXPECT_EQ(same.code, 304);
  EXPECT_EQ(same.text, "");
  ASSERT_EQ(patch(kTable, {{"description", "new"}}).code, 200);
  EXPECT_EQ(answerOf(client_->Get(kTable, {{"If-None-Match", seen}})).body["description"], "new");
}

TEST_F(TableChangeTest, ShowsNoCountsInTheBasicView) {
  const Answer basic = get(std::string(kTable) + "?view=BASIC");
  EXPECT_FALSE(basic.body.contains("numRows"));
  EXPECT_TRUE(basic.body.contains("schema"));
  EXPECT_EQ(get(std::string(kTable) + "?view=FULL").body["numRows"], "0");
}

TEST_F(TableMethodsTest, ChecksDefaultValues) {
  makeDataset();
  const auto refusal = [&](const char* column) {
    return errorOf(makeTable(json::array({json::parse(column)})), 400);
  };
  EXPECT_THAT(refusal(R"({"name": "n", "type": "INTEGER", "defaultValueExpression": "'x'"})"),
              HasSubstr("n"));
  EXPECT_THAT(refusal(R"({"name": "n", "type": "INTEGER", "defaultValueExpression": "1 +"})"),
              HasSubstr("1 +"));
  EXPECT_THAT(refusal(R"({"name": "s", "type": "RECORD", "fields": [
                {"name": "x", "type": "INTEGER", "defaultValueExpression": "1"}]})"),
              HasSubstr("field s.x: only columns at the top"));
  EXPECT_EQ(
      makeTable(json::parse(R"([{"name": "n", "type": "INTEGER", "defaultValueExpression": "1"}])"))
          .code,
      200);
}

}  // namespace
}  // namespace penstock::emulator
