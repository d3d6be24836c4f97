// What the command says about schemas and tables that do not fit, before the first record.
#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CommandSchema : public CommandTest {
 protected:
  /// Loads into a table with `schema`.
  CommandResult loadWith(const std::string& schemaText, const std::vector<std::string>& more = {},
                         const std::string& table = "p.d.t",
                         const std::string& records = "{\"id\":1}\n") {
    std::vector<std::string> arguments = {
        "load",     folder_.write("a.jsonl", records),       "--to",    table,
        "--schema", folder_.write("given.json", schemaText), "--local", "--data-dir",
        data()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runCommand(arguments);
  }
  /// A table with a REQUIRED column, an array and one row.
  void makeTable() {
    const CommandResult made = loadWith(
        R"([{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"name","type":"STRING"},
            {"name":"tags","type":"STRING","mode":"REPEATED"}])");
    ASSERT_EQ(made.exitCode, 0) << made.error;
  }
  std::string given() { return folder_.path("given.json"); }
};

TEST_F(CommandSchema, ASchemaThatContradictsTheTableIsFoundBeforeTheFirstRecord) {
  makeTable();
  const std::pair<const char*, const char*> bad[] = {
      {R"([{"name":"id","type":"STRING","mode":"REQUIRED"}])",
       R"(column "id" is REQUIRED STRING in the schema and REQUIRED INT64 in the table)"},
      {R"([{"name":"id","type":"INTEGER"}])",
       R"(column "id" is NULLABLE INT64 in the schema and REQUIRED INT64 in the table)"},
      {R"([{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"tags","type":"STRING"}])",
       R"(column "tags" is NULLABLE STRING in the schema and REPEATED STRING in the table)"},
      {R"([{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"new","type":"DATE"}])",
       R"(column "new" is NULLABLE DATE in the schema and is not in the table)"},
      {R"([{"name":"name","type":"STRING"}])",
       R"(column "id" is REQUIRED INT64 in the table and is not in the schema)"}};
  for (const auto& [schema, message] : bad) {
    const CommandResult result = loadWith(schema, {"--json"});
    EXPECT_EQ(result.exitCode, 3) << message;
    EXPECT_THAT(result.error, AllOf(HasSubstr("--schema " + given()), HasSubstr("p.d.t"),
                                    HasSubstr(message), HasSubstr("leave the flag out")));
    EXPECT_EQ(lastLine(result.out)["rows"], 0);
  }
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null,\"tags\":[]}\n") << "nothing was written";
}

TEST_F(CommandSchema, AutodetectGivesWayToTheTable) {
  makeTable();
  const std::string input = folder_.write("b.jsonl", "{\"id\":2}\n{\"id\":\"x\"}\n");
  const CommandResult result =
      runCommand({"load", input, "--to", "p.d.t", "--autodetect", "--local", "--data-dir", data()});
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, AllOf(HasSubstr("its own schema is used, not --autodetect"),
                                  HasSubstr("b.jsonl line 2: root.id (INT64)")));
}

TEST_F(CommandSchema, ATableThatCannotBeCreatedIsToldNamingTheFlag) {  // BQW-151
  const std::pair<std::string, std::string> tables[] = {
      {"p.d.t$2026", "--to: 't$2026' is a partition, and there is no table 't'"},
      {"p.d.a*b", "--to: 'a*b' cannot be the name of a table"},
      {"p.d-e.t", "--to: 'd-e' cannot be the name of a dataset"}};
  for (const auto& [table, message] : tables) {
    const CommandResult result = load(folder_.write("a.jsonl", "{\"id\":1}\n"), {}, table);
    EXPECT_EQ(result.exitCode, 3) << table;
    EXPECT_THAT(result.error, HasSubstr(message));
  }
  const CommandResult column = loadWith(R"([{"name":"a.b","type":"STRING"}])");
  EXPECT_EQ(column.exitCode, 3);
  EXPECT_THAT(column.error,
              AllOf(HasSubstr("--schema " + given() + ": column \"a.b\""), HasSubstr("name")));
  const std::pair<std::vector<std::string>, std::string> layouts[] = {
      {{"--clustered-fields", "nope"}, "--clustered-fields: 'nope' is not a top-level column"},
      {{"--clustered-fields", "x"}, "--clustered-fields: column 'x' is FLOAT64"},
      {{"--time-partitioning-type", "day", "--time-partitioning-field", "x"},
       "--time-partitioning-field: column 'x' is FLOAT64; it must be DATE"}};
  for (const auto& [flags, message] : layouts) {
    const CommandResult result =
        loadWith(R"([{"name":"id","type":"INTEGER"},{"name":"x","type":"FLOAT"}])", flags);
    EXPECT_EQ(result.exitCode, 3) << message;
    EXPECT_THAT(result.error, HasSubstr(message));
  }
  EXPECT_EQ(runCommand({"show", "p.d.t", "--local", "--data-dir", data()}).exitCode, 4)
      << "nothing was created";
}

TEST_F(CommandSchema, ASchemaFileThatIsNoneGetsOneClearMessage) {
  const std::pair<std::string, std::string> bad[] = {
      {"", "there is no schema, only blank space"},
      {" \n", "there is no schema, only blank space"},
      {std::string("\xff\xfe[\0]\0", 6), "it is encoded in UTF-16, little endian; only UTF-8"},
      {std::string("\0\0\0[\0\0\0]", 8), "it is encoded in UTF-32, big endian; only UTF-8"},
      {"id:INTEGER", "not valid JSON"},
      {std::string("\x0a\0\x08\1", 4), "not valid JSON"},
      {"{\"a\":1}", "this JSON holds no schema"}};
  for (const auto& [contents, message] : bad) {
    const CommandResult result = loadWith(contents);
    EXPECT_EQ(result.exitCode, 3) << message;
    EXPECT_THAT(result.error, HasSubstr("--schema " + given() + ": " + message));
  }
  const CommandResult directory =
      runCommand({"load", folder_.path("a.jsonl"), "--to", "p.d.t", "--schema", folder_.path("."),
                  "--local", "--data-dir", data()});
  EXPECT_EQ(directory.exitCode, 3);
  EXPECT_THAT(directory.error, HasSubstr("this is a directory; name a file"));
}

TEST_F(CommandSchema, ASchemaFileMayBeATableResourceAndHaveAByteOrderMark) {  // BQT-003
  EXPECT_EQ(loadWith(R"({"kind":"bigquery#table","id":"p:d.x","schema":{"fields":[
                         {"name":"id","type":"INTEGER","mode":"NULLABLE"}]},"numRows":"7"})")
                .exitCode,
            0);
  EXPECT_EQ(loadWith("\xef\xbb\xbf[{\"name\":\"id\",\"type\":\"INTEGER\"}]").exitCode, 0);
  EXPECT_EQ(rows(), "{\"id\":1}\n{\"id\":1}\n");
}

TEST_F(CommandSchema, MessagesNameFlagsNotOptionsOfTheLibrary) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1,\"ignoreUnknownFields\":2}\n");
  const CommandResult failed = load(input);
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error, AllOf(HasSubstr("root.ignoreUnknownFields: "),
                                  HasSubstr("(--ignore-unknown-fields would drop it)")));
  const CommandResult dropped = load(input, {"--on-error", "drop"});
  EXPECT_THAT(dropped.error, HasSubstr("(--ignore-unknown-fields would drop it)"));
}

}  // namespace
}  // namespace penstock::command
