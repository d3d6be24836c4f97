// `penstock run`: pipelines from YAML files.
#include <filesystem>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandPipeline : public CommandTest {
 protected:
  /// Runs a pipeline of `records` into `table`, with more lines for its sink and its executor.
  CommandResult runPipeline(const std::string& records, const std::string& table,
                            const std::string& sink = "", const std::string& executor = "",
                            const std::vector<std::string>& flags = {}) {
    const std::string file = folder_.write(
        "pipeline.yaml",
        fmt::format("source:\n  files: {}\nsink:\n  connector: bigquery\n  table: {}\n{}{}",
                    folder_.write("a.jsonl", records), table, sink, executor));
    std::vector<std::string> arguments = {"run", file, "--local", "--data-dir", data(), "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return runCommand(arguments);
  }
  std::string withSchema() { return fmt::format("  schema: {}\n", schema()); }
};

TEST_F(CommandPipeline, TheExampleOfTheDocumentationRuns) {
  const CommandResult result =
      runCommand({"run", "pipeline.yaml", "--local", "--data-dir", data(), "--json"}, "", {},
                 PENSTOCK_SOURCE_DIR "/examples");
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error,
              HasSubstr("dropped: events.jsonl line 3: no table for this record: the record has no "
                        "field 'country' (my-project.shop.events_${country})"));
  EXPECT_EQ(lastLine(result.out)["rows"], 3);
  EXPECT_EQ(lastLine(result.out)["rows_dropped"], 1);
  EXPECT_EQ(lastLine(result.out)["table"], "my-project.shop.events_${country}");
  EXPECT_THAT(rows("my-project.shop.events_at"),
              AllOf(HasSubstr("\"id\":17"), HasSubstr("\"id\":18"), Not(HasSubstr("\"id\":4"))));
  EXPECT_THAT(rows("my-project.shop.events_de"), HasSubstr("\"id\":4"));
}

TEST_F(CommandPipeline, OneTableIsCheckedLikeThatOfALoad) {
  EXPECT_EQ(runPipeline("{\"id\":1}\n", "p.d.t", withSchema()).exitCode, 0);
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n");
  const std::string other = folder_.write("other.json", R"([{"name":"id","type":"STRING"}])");
  const CommandResult result =
      runPipeline("{\"id\":1}\n", "p.d.t", fmt::format("  schema: {}\n", other));
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, HasSubstr(fmt::format("pipeline.yaml:6:11: sink.schema {} does not fit "
                                                  "the table p.d.t: column \"id\"",
                                                  other)));
  const CommandResult missing = runPipeline("{\"id\":1}\n", "p.d.other");
  EXPECT_EQ(missing.exitCode, 2);
  EXPECT_THAT(missing.error, HasSubstr("sink.autodetect: true"));
}

TEST_F(CommandPipeline, TablesThatAreThereKeepTheirOwnColumns) {  // BQW-166
  const std::string input = folder_.write("b.jsonl", "{\"id\":0}\n");
  ASSERT_EQ(load(input, {}, "p.d.t_a").exitCode, 0);
  ASSERT_EQ(runCommand({"load", folder_.write("c.jsonl", "{\"k\":\"b\",\"v\":1}\n"), "--to",
                        "p.d.t_b", "--autodetect", "--local", "--data-dir", data()})
                .exitCode,
            0);
  const CommandResult result =
      runPipeline("{\"k\":\"a\",\"id\":7}\n{\"k\":\"b\",\"v\":8}\n{\"k\":\"a\",\"id\":9}\n",
                  "p.d.t_${k}", "", "", {"--ignore-unknown-fields"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(rows("p.d.t_a"),
            "{\"id\":0,\"name\":null}\n{\"id\":7,\"name\":null}\n{\"id\":9,\"name\":null}\n");
  EXPECT_EQ(rows("p.d.t_b"), "{\"k\":\"b\",\"v\":1}\n{\"k\":\"b\",\"v\":8}\n");
}

TEST_F(CommandPipeline, ARecordWithoutATableIsTheFailureHandlersAffair) {  // BQW-012
  const std::string records =
      "{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n{\"id\":3,\"name\":\"a/b\"}\n{\"id\":4,\"name\":{}}\n"
      "{\"id\":\n{\"id\":6,\"name\":\"a\"}\n";
  const CommandResult failed = runPipeline(records, "p.d.t_${name}", withSchema());
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error, HasSubstr("a.jsonl line 2: no table for this record: the record has "
                                      "no field 'name' (p.d.t_${name})"));
  const CommandResult dropped =
      runPipeline(records, "p.d.u_${name}", withSchema(), "executor:\n  on-error: drop\n");
  EXPECT_EQ(dropped.exitCode, 0) << dropped.error;
  EXPECT_EQ(lastLine(dropped.out)["rows_dropped"], 4);
  EXPECT_THAT(dropped.error,
              AllOf(HasSubstr("line 3: no table for this record: table must not contain '/'"),
                    HasSubstr("line 4: no table for this record: the field 'name' is an object"),
                    HasSubstr("line 5: no table for this record: the record is malformed")));
  EXPECT_EQ(rows("p.d.u_a"), "{\"id\":1,\"name\":\"a\"}\n{\"id\":6,\"name\":\"a\"}\n");
}

TEST_F(CommandPipeline, AutodetectFindsOneSchemaForAllTables) {
  const CommandResult result =
      runPipeline("{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"w\":\"x\"}\n", "p.d.t_${k}",
                  "  autodetect: true\n", "executor:\n  parallelism: 2\n");
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(rows("p.d.t_a"), "{\"k\":\"a\",\"v\":1,\"w\":null}\n");
  EXPECT_EQ(rows("p.d.t_b"), "{\"k\":\"b\",\"v\":null,\"w\":\"x\"}\n");
}

/// Pipelines of a table for each record, into an emulator with faults.
class CommandRecordTables : public CommandWithFaults {
 protected:
  /// Records of `name` into p.d.t_NAME, with more lines for its sink.
  std::vector<std::string> pipeline(const std::string& records, const std::string& sink) {
    return {
        "run",
        folder_.write("pipeline.yaml",
                      fmt::format("source:\n  files: {}\nsink:\n  connector: bigquery\n"
                                  "  table: p.d.t_${{name}}\n{}executor:\n  checkpoint-dir: {}\n",
                                  folder_.write("a.jsonl", records), sink, folder_.path("state"))),
        "--json"};
  }
  void makeTable(const std::string& table) {
    const std::string input = folder_.write("first.jsonl", "{\"id\":0}\n");
    EXPECT_EQ(
        runCommand(withEmulator({"load", input, "--to", table, "--schema", schema()})).exitCode, 0);
  }
  std::string rowsOf(const std::string& table) {
    return runCommand(withEmulator({"head", table, "--json"})).out;
  }
};

// The records are not looked at, or the damaged one would be told.
TEST_F(CommandRecordTables, AServiceThatDoesNotAnswerIsToldBeforeTheFirstRecord) {
  std::vector<std::string> run = pipeline("{\"id\":}\n", "");
  for (const std::string& each :
       {std::string("--emulator-endpoint"), std::string("127.0.0.1:1"),
        std::string("--emulator-rest-endpoint"), emulator_->restEndpoint()}) {
    run.push_back(each);
  }
  const CommandResult refused = runCommand(run);
  EXPECT_EQ(refused.exitCode, 4);
  EXPECT_THAT(refused.error, HasSubstr("--emulator-endpoint 127.0.0.1:1: "));
  plant({.method = "GetWriteStream", .times = 0, .code = absl::StatusCode::kUnauthenticated});
  const CommandResult denied = runCommand(withEmulator(pipeline("{\"id\":}\n", "")));
  EXPECT_EQ(denied.exitCode, 4);
  EXPECT_THAT(denied.error, HasSubstr("--emulator-endpoint " + emulator_->grpcEndpoint()));
}

// BQW-154, BQW-166: told with the record that named the table; nothing is lost, the rest follows
// once the table is there.
TEST_F(CommandRecordTables, ATableThatIsMissingIsToldWithItsRecord) {
  makeTable("p.d.t_a");
  const std::string records =
      "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n{\"id\":3,\"name\":\"a\"}\n";
  const auto fails = [&](const std::string& sink) {
    const CommandResult result = runCommand(withEmulator(pipeline(records, sink)));
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_EQ(lastLine(result.out)["result"], "failed");
    return result.error;
  };
  EXPECT_THAT(fails(""), AllOf(HasSubstr("a.jsonl line 2: cannot read the schema of p.d.t_b"),
                               HasSubstr("give one, or create the table first")));
  const std::string never = fmt::format(
      "  schema: {}\n  options:\n    sink.create-disposition: CREATE_NEVER\n", schema());
  EXPECT_THAT(fails(never), AllOf(HasSubstr("a.jsonl line 2: append to p.d.t_b"),
                                  HasSubstr("the table may not exist or may not be writable")));
  makeTable("p.d.t_b");
  const CommandResult rest = runCommand(withEmulator(pipeline(records, "")));
  EXPECT_EQ(rest.exitCode, 0) << rest.error;
  EXPECT_THAT(rowsOf("p.d.t_a"), AllOf(HasSubstr("{\"id\":1,"), HasSubstr("{\"id\":3,")));
  EXPECT_THAT(rowsOf("p.d.t_b"), HasSubstr("{\"id\":2,"));
}

TEST_F(CommandPipeline, FlagsTakePrecedence) {
  const CommandResult result =
      runPipeline("{\"id\":1}\n{\"id\":\"x\"}\n", "p.d.t",
                  withSchema() + "  options:\n    sink.create-disposition: CREATE_NEVER\n", "",
                  {"--create-disposition", "create-if-needed", "--on-error", "drop"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(lastLine(result.out)["rows_dropped"], 1);
}

TEST_F(CommandPipeline, TheExecutorsFlagsTakePrecedence) {
  const std::string executor =
      "executor:\n  parallelism: 300\n  checkpoint-dir: " + folder_.path("of-the-file") + "\n";
  EXPECT_EQ(runPipeline("{\"id\":1}\n", "p.d.t", withSchema(), executor).exitCode, 3)
      << "300 is too many";
  const CommandResult result =
      runPipeline("{\"id\":1}\n", "p.d.t", withSchema(),
                  "executor:\n  checkpoint-dir: " + folder_.path("of-the-file") + "\n",
                  {"--parallelism", "2", "--checkpoint-dir", folder_.path("given"),
                   "--checkpoint-interval", "1 s"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_TRUE(std::filesystem::exists(folder_.path("given/chk-1")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("of-the-file")));
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{"--parallelism", "300"}, "--parallelism"},
      {{"--checkpoint-dir", ""}, "--checkpoint-dir must name a directory"},
      {{"--checkpoint-interval", "1 s"}, "--checkpoint-interval needs --checkpoint-dir"},
      {{"--checkpoint-dir", folder_.path("given"), "--checkpoint-interval", "x"},
       "--checkpoint-interval"}};
  for (const auto& [flags, message] : bad) {
    const CommandResult refused = runPipeline("{\"id\":1}\n", "p.d.t", withSchema(), "", flags);
    EXPECT_EQ(refused.exitCode, 2) << message;
    EXPECT_THAT(refused.error, HasSubstr(message));
  }
}

TEST_F(CommandPipeline, ABadFileIsToldWithFileLineAndColumn) {
  const CommandResult result = runPipeline("{\"id\":1}\n", "p.d.t", "  shema: x\n");
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, HasSubstr("pipeline.yaml:6:3: unknown key 'shema' in sink, did you "
                                      "mean 'schema'?"));
  EXPECT_EQ(runCommand({"run", folder_.path("none.yaml")}).exitCode, 3);
  EXPECT_EQ(runCommand({"run"}).exitCode, 2);
  const CommandResult creation =
      runPipeline("{\"id\":1,\"name\":\"x\"}\n", "p.d.t_${name}",
                  withSchema() + "  options:\n    sink.clustered-fields: nope\n");
  EXPECT_EQ(creation.exitCode, 3);
  EXPECT_THAT(creation.error, HasSubstr("'nope' is not a top-level column"));
}

}  // namespace
}  // namespace penstock::command
