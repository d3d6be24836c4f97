// Loads that change the columns of their table.
#include <httplib.h>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandSchemaUpdate : public CommandWithFaults {
 protected:
  /// A table with a REQUIRED column whose attributes only REST knows, a STRUCT, and one row.
  void makeTable() const {
    httplib::Client client("127.0.0.1", emulator_->ports().rest);
    const auto dataset = client.Post("/bigquery/v2/projects/p/datasets",
                                     R"({"datasetReference":{"projectId":"p","datasetId":"d"}})",
                                     "application/json");
    ASSERT_TRUE(dataset);
    const auto table = client.Post("/bigquery/v2/projects/p/datasets/d/tables",
                                   R"({"tableReference":{"projectId":"p","datasetId":"d",
            "tableId":"t"},"description":"kept","schema":{"fields":[
            {"name":"Id","type":"INTEGER","mode":"REQUIRED","description":"the key",
             "policyTags":{"names":["projects/p/locations/us/taxonomies/1/policyTags/2"]}},
            {"name":"place","type":"RECORD","fields":[{"name":"city","type":"STRING"}]}]}})",
                                   "application/json");
    ASSERT_TRUE(table);
    ASSERT_EQ(table->status, 200) << table->body;
  }
  nlohmann::json resource() const {
    httplib::Client client("127.0.0.1", emulator_->ports().rest);
    const auto answer = client.Get("/bigquery/v2/projects/p/datasets/d/tables/t");
    return nlohmann::json::parse(answer ? answer->body : "", nullptr, false);
  }
  CommandResult loadRecords(const std::string& records, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"load", folder_.write("a.jsonl", records), "--to",
                                          "p.d.t"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return runCommand(withEmulator(arguments));
  }
  std::string given(const std::string& fields) { return folder_.write("given.json", fields); }
  std::string rowsOf(const std::string& table = "p.d.t") const {
    return runCommand(withEmulator({"head", table, "--json", "-n", "1000000"})).out;
  }

  static constexpr const char* kWider =
      R"([{"name":"new","type":"STRING","mode":"REQUIRED"},
          {"name":"id","type":"INTEGER","mode":"REQUIRED"},
          {"name":"place","type":"RECORD","fields":[{"name":"zip","type":"INTEGER"},
                                                    {"name":"city","type":"STRING"}]}])";
  static constexpr const char* kRecord = R"({"id":1,"new":"x","place":{"city":"Graz","zip":8010}})";
};

// BQW-160..BQW-162, scenario 22
TEST_F(CommandSchemaUpdate, ColumnsThatTheSchemaHasAndTheTableLacksAreAddedAndAllRowsArrive) {
  makeTable();
  std::string records;
  for (int i = 0; i < 5000; ++i) {
    records += fmt::format("{{\"id\":{},\"new\":\"n{}\",\"place\":{{\"zip\":{}}}}}\n", i, i, i);
  }
  const CommandResult result =
      loadRecords(records, {"--schema", given(kWider), "--allow-new-fields",
                            "--max-append-request-bytes", "16KiB", "--parallelism", "1"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error,
              HasSubstr("columns that the table p.d.t lacks are added to it: place.zip, new"));
  const nlohmann::json table = resource();
  EXPECT_EQ(table["schema"]["fields"], nlohmann::json::parse(R"([
      {"name":"Id","type":"INTEGER","mode":"REQUIRED","description":"the key",
       "policyTags":{"names":["projects/p/locations/us/taxonomies/1/policyTags/2"]}},
      {"name":"place","type":"RECORD","mode":"NULLABLE","fields":[
          {"name":"city","type":"STRING","mode":"NULLABLE"},
          {"name":"zip","type":"INTEGER","mode":"NULLABLE"}]},
      {"name":"new","type":"STRING","mode":"NULLABLE"}])"));
  EXPECT_EQ(table["description"], "kept");
  EXPECT_EQ(table["numRows"], "5000");
  EXPECT_THAT(rowsOf(),
              HasSubstr("{\"Id\":4999,\"place\":{\"city\":null,\"zip\":4999},\"new\":\"n4999\"}"));
}

// BQW-165
TEST_F(CommandSchemaUpdate, WithoutTheFlagItIsFoundBeforeTheFirstRecordAndTheFlagIsNamed) {
  makeTable();
  const CommandResult result = loadRecords(kRecord, {"--schema", given(kWider)});
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, AllOf(HasSubstr("column \"new\""),
                                  HasSubstr("give --allow-new-fields to have the table changed")));
  const CommandResult relaxed = loadRecords(
      "{}", {"--schema", given(R"([{"name":"id","type":"INTEGER"}])"), "--allow-new-fields"});
  EXPECT_EQ(relaxed.exitCode, 3);
  EXPECT_THAT(relaxed.error, AllOf(HasSubstr("column \"id\" is NULLABLE INT64 in the schema"),
                                   HasSubstr("give --allow-field-relaxation to have")));
  const CommandResult both = loadRecords(
      "{}", {"--schema", given(R"([{"name":"id","type":"INTEGER"},{"name":"x","type":"DATE"}])")});
  EXPECT_THAT(both.error, HasSubstr("give --allow-new-fields and --allow-field-relaxation to"));
  const CommandResult other =
      loadRecords(kRecord, {"--schema", given(kWider), "--allow-field-relaxation"});
  EXPECT_EQ(other.exitCode, 3);
  EXPECT_THAT(other.error, HasSubstr("is not in the table, and --allow-new-fields is off: set it"));
  EXPECT_EQ(resource()["schema"]["fields"].size(), 2U);
}

// BQW-161
TEST_F(CommandSchemaUpdate, WhatNoFlagAllowsStaysAnErrorBeforeTheFirstRecord) {
  makeTable();
  const std::pair<const char*, const char*> bad[] = {
      {R"([{"name":"id","type":"STRING"}])",
       "column \"id\" is NULLABLE STRING in the rows and REQUIRED INT64 in the table; no update"},
      {R"([{"name":"id","type":"INTEGER"},{"name":"place","type":"STRING"}])", "column \"place\""},
      {R"([{"name":"x","type":"DATE"}])",
       "column \"Id\" is REQUIRED INT64 in the table and is not"},
      {R"([{"name":"id","type":"INTEGER"},{"name":"a.b","type":"DATE"}])", "column \"a.b\""}};
  for (const auto& [schema, message] : bad) {
    const CommandResult result = loadRecords(
        "{}", {"--schema", given(schema), "--allow-new-fields", "--allow-field-relaxation"});
    EXPECT_EQ(result.exitCode, 3) << message;
    EXPECT_THAT(result.error, AllOf(HasSubstr(message), Not(HasSubstr("give --allow"))));
  }
  EXPECT_EQ(resource()["schema"]["fields"].size(), 2U);
}

// BQW-161
TEST_F(CommandSchemaUpdate, RecordsMayLeaveOutWhatTheTableRequired) {
  makeTable();
  const CommandResult result = loadRecords("{\"place\":{}}\n{\"id\":2}\n",
                                           {"--schema", given(R"([{"name":"id","type":"INTEGER"},
                      {"name":"place","type":"RECORD","fields":[{"name":"city","type":"STRING"}]}])"),
                                            "--allow-field-relaxation"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("REQUIRED columns of the table p.d.t become NULLABLE: Id\n"));
  EXPECT_EQ(rowsOf(), "{\"Id\":null,\"place\":{\"city\":null}}\n{\"Id\":2,\"place\":null}\n");
  EXPECT_EQ(resource()["schema"]["fields"][0]["mode"], "NULLABLE");
}

TEST_F(CommandSchemaUpdate, RelaxationWithoutASchemaIsToldToDoNothing) {
  makeTable();
  const CommandResult result = loadRecords("{\"Id\":2}\n", {"--allow-field-relaxation"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error,
              HasSubstr("warning: --allow-field-relaxation changes nothing without --schema"));
}

// BQW-160: what the records have and the table lacks is found in them.
TEST_F(CommandSchemaUpdate, AutodetectAddsTheFieldsThatAreNew) {
  makeTable();
  const CommandResult result =
      loadRecords("{\"Id\":1,\"at\":\"2026-11-30\",\"place\":{\"zip\":8010}}\n{\"Id\":2}\n",
                  {"--autodetect", "--allow-new-fields"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("are added to it: place.zip, at"));
  EXPECT_EQ(rowsOf(),
            "{\"Id\":1,\"place\":{\"city\":null,\"zip\":8010},\"at\":\"2026-11-30\"}\n"
            "{\"Id\":2,\"place\":null,\"at\":null}\n");
  const CommandResult again = loadRecords("{\"Id\":3}\n", {"--autodetect", "--allow-new-fields"});
  EXPECT_EQ(again.exitCode, 0) << again.error;
  EXPECT_THAT(again.error, Not(HasSubstr("are added")));
}

// BQW-160: and what their type says they may have.
TEST_F(CommandSchemaUpdate, FieldsOfMessagesThatTheTableLacksAreAdded) {
  makeTable();
  const std::string message = {4, 8, 7, 40, 5};  // its length, id 7, token 5
  const std::vector<std::string> flags = {"--format",         "protobuf",  "--descriptor-set",
                                          PENSTOCK_ORDER_SET, "--message", "shop.Order"};
  std::vector<std::string> allowed = flags;
  allowed.emplace_back("--allow-new-fields");
  const CommandResult result = loadRecords(message, allowed);
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("are added to it: placed, status, items, token"));
  EXPECT_THAT(rowsOf(), AllOf(HasSubstr("{\"Id\":7,\"place\":null,"), HasSubstr("\"token\":5")));
  EXPECT_EQ(loadRecords(message, flags).exitCode, 0) << "with the columns that it has now";
}

// BQW-160: tables of a template cannot be looked at before; the sink finds out.
TEST_F(CommandSchemaUpdate, PipelinesAddColumnsToTheTablesOfTheirRecords) {
  makeTable();
  const auto pipeline = [&](const std::string& options) {
    return folder_.write(
        "pipeline.yaml",
        fmt::format("source:\n  files: {}\nsink:\n  connector: bigquery\n  table: p.d.${{new}}\n"
                    "  schema: {}\n  options:\n    sink.flush-interval: 1h\n{}",
                    folder_.write("a.jsonl", R"({"id":1,"new":"t","place":{"zip":8010}})"
                                             "\n"
                                             R"({"id":2,"new":"other"})"),
                    given(kWider), options));
  };
  const CommandResult refused = runCommand(withEmulator({"run", pipeline("")}));
  EXPECT_EQ(refused.exitCode, 1) << refused.error;
  EXPECT_THAT(refused.error, AllOf(HasSubstr("p.d.t"), HasSubstr("set --allow-new-fields")));
  const CommandResult result =
      runCommand(withEmulator({"run", pipeline("    sink.allow-new-fields: true\n")}));
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(rowsOf(), "{\"Id\":1,\"place\":{\"city\":null,\"zip\":8010},\"new\":\"t\"}\n");
  EXPECT_THAT(rowsOf("p.d.other"), HasSubstr("\"id\":2"));
}

}  // namespace
}  // namespace penstock::command
