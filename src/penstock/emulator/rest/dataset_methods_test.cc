#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/rest_server_fixture.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using DatasetMethodsTest = RestServerTest;

TEST_F(DatasetMethodsTest, MakesShowsListsAndDropsADataset) {
  const Answer made = post("/bigquery/v2/projects/p/datasets",
                           {{"datasetReference", {{"datasetId", "d"}, {"projectId", "p"}}},
                            {"location", "europe-west1"},
                            {"labels", {{"team", "data"}}}});
  EXPECT_EQ(made.code, 200);
  EXPECT_EQ(made.body["kind"], "bigquery#dataset");
  EXPECT_EQ(made.body["id"], "p:d");
  EXPECT_EQ(made.body["location"], "europe-west1");
  EXPECT_FALSE(made.body["etag"].get<std::string>().empty());

  const Answer shown = get("/projects/p/datasets/d");  // the prefix may be left out
  EXPECT_EQ(shown.code, 200);
  EXPECT_EQ(shown.body, made.body);
  EXPECT_EQ(shown.headers.find("ETag")->second, made.body["etag"]);

  const Answer listed = get("/bigquery/v2/projects/p/datasets");
  ASSERT_EQ(listed.body["datasets"].size(), 1U);
  EXPECT_EQ(listed.body["datasets"][0]["labels"]["team"], "data");

  const Answer dropped = remove("/bigquery/v2/projects/p/datasets/d");
  EXPECT_EQ(dropped.code, 204);
  EXPECT_EQ(dropped.text, "");
  EXPECT_EQ(get("/bigquery/v2/projects/p/datasets/d").code, 404);
}

TEST_F(DatasetMethodsTest, PatchesADatasetUnderItsEtag) {
  makeDataset();
  const std::string path = "/bigquery/v2/projects/p/datasets/d";
  const Answer before = get(path);
  const std::string etag = before.body["etag"].get<std::string>();
  const std::string patch = R"({"labels": {"a": "b"}, "description": "text", "etag": "ignored"})";

  const Answer stale =
      answerOf(client_->Patch(path, {{"If-Match", "stale"}}, patch, "application/json"));
  EXPECT_EQ(stale.code, 412);
  EXPECT_EQ(stale.body["error"]["errors"][0]["reason"], "conditionNotMet");

  const Answer patched =
      answerOf(client_->Patch(path, {{"If-Match", etag}}, patch, "application/json"));
  EXPECT_EQ(patched.code, 200) << patched.text;
  EXPECT_EQ(patched.body["labels"]["a"], "b");
  EXPECT_NE(patched.body["etag"], etag);
  EXPECT_EQ(patched.body["creationTime"], before.body["creationTime"]);

  // Java sends PATCH like this; null takes a member away.
  const Answer overridden = answerOf(client_->Post(path, {{"X-HTTP-Method-Override", "PATCH"}},
                                                   R"({"description": null})", "application/json"));
  EXPECT_EQ(overridden.code, 200);
  EXPECT_FALSE(overridden.body.contains("description"));
  EXPECT_EQ(overridden.body["labels"]["a"], "b");

  const Answer replaced =
      answerOf(client_->Put(path, R"({"friendlyName": "n"})", "application/json"));
  EXPECT_EQ(replaced.body["friendlyName"], "n");
  EXPECT_FALSE(replaced.body.contains("labels"));
}

TEST_F(DatasetMethodsTest, ListsTheProjectsThatHoldDatasets) {
  makeDataset();
  const Answer answer = get("/bigquery/v2/projects");
  ASSERT_EQ(answer.body["projects"].size(), 1U);
  EXPECT_EQ(answer.body["projects"][0]["projectReference"]["projectId"], "p");
}

TEST_F(DatasetMethodsTest, ShowsLocationsInOneSpelling) {
  const auto locationOf = [&](const char* name, const char* location) {
    const Answer made = post("/projects/p/datasets",
                             {{"datasetReference", {{"datasetId", name}}}, {"location", location}});
    return made.code == 200 ? made.body["location"].get<std::string>() : errorOf(made, 400);
  };
  EXPECT_EQ(locationOf("a", "eu"), "EU");
  EXPECT_EQ(locationOf("b", "Us"), "US");
  EXPECT_EQ(locationOf("c", "Europe-WEST1"), "europe-west1");
  EXPECT_THAT(locationOf("d", "over there"), HasSubstr("invalid: Invalid value for location"));

  const std::string path = "/projects/p/datasets/a";
  EXPECT_EQ(patch(path, {{"location", "eu"}}).code, 200);
  EXPECT_EQ(errorOf(patch(path, {{"location", "US"}}), 400),
            "invalid: Cannot change the location of dataset p:a from EU to US");
}

TEST_F(DatasetMethodsTest, ChecksLabelsByTheServicesRules) {
  makeDataset();
  const auto verdict = [&](const json& labels) {
    const Answer answer = patch("/projects/p/datasets/d", {{"labels", labels}});
    return answer.code == 200 ? "ok" : errorOf(answer, 400);
  };
  EXPECT_EQ(verdict({{"team", "data"}, {"a-b_1", ""}, {"na\u00efve", "\u6771\u4eac"}}), "ok");
  for (const char* key : {"", "Team", "1a", "_a", "a b", "a.b", "\u00c9t\u00e9"}) {
    EXPECT_THAT(verdict({{key, "x"}}), HasSubstr("invalid: Invalid value for labels: the key"))
        << key;
  }
  for (const json& value : {json("A"), json("a b"), json(5), json(std::string(64, 'a'))}) {
    EXPECT_THAT(verdict({{"k", value}}), HasSubstr("the value of 'k'")) << value;
  }
  EXPECT_EQ(verdict({{std::string(63, 'k'), std::string(63, 'v')}}), "ok");
  EXPECT_THAT(verdict({{std::string(64, 'k'), ""}}), HasSubstr("the key"));
  EXPECT_THAT(verdict({1}), HasSubstr("must be an object"));
  json many = json::object();
  for (int i = 0; i < 65; ++i) many["k" + std::to_string(i)] = "";
  EXPECT_THAT(verdict(many), HasSubstr("at most 64"));
}

TEST_F(DatasetMethodsTest, GivesItsExpirationsToNewTables) {
  ASSERT_EQ(post("/projects/p/datasets", {{"datasetReference", {{"datasetId", "d"}}},
                                          {"defaultTableExpirationMs", 7200000},
                                          {"defaultPartitionExpirationMs", "86400000"}})
                .code,
            200);
  EXPECT_EQ(get("/projects/p/datasets/d").body["defaultTableExpirationMs"], "7200000");
  const Answer table = makeTable(json::parse(R"([{"name": "day", "type": "DATE"}])"));
  EXPECT_EQ(std::stoll(table.body["expirationTime"].get<std::string>()),
            std::stoll(table.body["creationTime"].get<std::string>()) + 7200000);
  EXPECT_EQ(std::to_string(catalog_->findTable({"p", "d", "t"})->expirationMillis),
            table.body["expirationTime"]);
  EXPECT_EQ(remove("/projects/p/datasets/d/tables/t").code, 204);
  const Answer partitioned = makeTable(json::parse(R"([{"name": "day", "type": "DATE"}])"),
                                       json::parse(R"({"timePartitioning": {"type": "DAY"}})"));
  EXPECT_FALSE(partitioned.body.contains("expirationTime"));
  EXPECT_EQ(partitioned.body["timePartitioning"]["expirationMs"], "86400000");
  EXPECT_THAT(errorOf(patch("/projects/p/datasets/d", {{"defaultTableExpirationMs", "1000"}}), 400),
              HasSubstr("less than one hour"));
}

// What bq does: it reads under the etag that it was given, then writes under the one that it read.
TEST_F(DatasetMethodsTest, ReadsUnderAConditionToo) {
  makeDataset();
  const std::string path = "/projects/p/datasets/d";
  const std::string etag = get(path).body["etag"].get<std::string>();
  EXPECT_EQ(answerOf(client_->Get(path, conditionOf(etag))).code, 200);
  EXPECT_EQ(errorOf(answerOf(client_->Get(path, conditionOf("stale"))), 412),
            "conditionNotMet: Precondition check failed.");
}

TEST_F(DatasetMethodsTest, PagesAndFiltersTheList) {
  const auto make = [&](const char* name, const json& labels) {
    ASSERT_EQ(post("/projects/p/datasets",
                   {{"datasetReference", {{"datasetId", name}}}, {"labels", labels}})
                  .code,
              200);
  };
  make("a", {{"team", "x"}, {"stage", "test"}});
  make("b", {{"team", "y"}});
  make("c", json::object());
  make("_hidden", {{"team", "x"}});
  const auto list = [&](const std::string& query) {
    const Answer answer = get("/projects/p/datasets" + query);
    if (answer.code != 200) return errorOf(answer, 400);
    std::string names;
    if (!answer.body.contains("datasets")) return names;
    for (const json& dataset : answer.body["datasets"]) {
      names += dataset["datasetReference"]["datasetId"].get<std::string>();
    }
    return names;
  };
  EXPECT_EQ(list(""), "abc");
  EXPECT_EQ(list("?all=true"), "_hiddenabc");
  EXPECT_EQ(list("?filter=labels.team"), "ab");
  EXPECT_EQ(list("?filter=labels.team:x"), "a");
  EXPECT_EQ(list("?filter=labels.team:x%20labels.stage:test"), "a");
  EXPECT_EQ(list("?filter=labels.team:x%20labels.stage:live"), "");
  EXPECT_THAT(list("?filter=name:a"), HasSubstr("invalid: Invalid value for filter: 'name:a'"));

  const Answer first = get("/projects/p/datasets?maxResults=2");
  const std::string token = first.body["nextPageToken"].get<std::string>();
  EXPECT_EQ(list("?maxResults=2"), "ab");
  EXPECT_EQ(list("?maxResults=2&pageToken=" + token), "c");
  EXPECT_EQ(list("?maxResults=x"),
            "invalid: Invalid value for maxResults: 'x' is not an unsigned integer");

  const std::string etag = first.body["etag"].get<std::string>();
  EXPECT_EQ(get("/projects/p/datasets?maxResults=2").body["etag"], etag);
  ASSERT_EQ(patch("/projects/p/datasets/b", {{"labels", {{"team", "z"}}}}).code, 200);
  EXPECT_NE(get("/projects/p/datasets?maxResults=2").body["etag"], etag);
}

TEST_F(DatasetMethodsTest, ChecksTheKindOfEveryMember) {
  makeDataset();
  const std::string path = "/projects/p/datasets/d";
  EXPECT_EQ(errorOf(patch(path, {{"access", 5}}), 400),
            "invalid: Invalid value for access: must be a list");
  EXPECT_EQ(errorOf(patch(path, {{"maxTimeTravelHours", "x"}}), 400),
            "invalid: Invalid value for maxTimeTravelHours: must be an integer");
  EXPECT_EQ(errorOf(patch(path, {{"maxTimeTravelHours", 18446744073709551615U}}), 400),
            "invalid: Invalid value for maxTimeTravelHours: must be an integer");
  EXPECT_EQ(errorOf(patch(path, {{"defaultEncryptionConfiguration", "x"}}), 400),
            "invalid: Invalid value for defaultEncryptionConfiguration: must be an object");
  EXPECT_EQ(errorOf(patch(path, {{"isCaseInsensitive", 1}}), 400),
            "invalid: Invalid value for isCaseInsensitive: must be true or false");
  EXPECT_EQ(errorOf(patch(path, {{"location", 1}}), 400),
            "invalid: Invalid value for location: must be a string");
  EXPECT_EQ(patch(path, {{"maxTimeTravelHours", 48}}).body["maxTimeTravelHours"], "48");
}

}  // namespace
}  // namespace penstock::emulator
