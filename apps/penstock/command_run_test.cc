// What the command does when all is well.
#include <csignal>
#include <fstream>

#include "apps/penstock/testing/command_fixtures.h"
#include "penstock/base/sanitizers.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandRun : public CommandTest {};

TEST_F(CommandRun, LoadsAndShowsWhatWasLoaded) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1,\"name\":\"x\"}\n{\"id\":2}\n");
  const CommandResult loaded = load(input, {"--json"});
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_THAT(loaded.error, HasSubstr("target: the embedded emulator, data in " + data()));
  EXPECT_THAT(loaded.error, HasSubstr("created dataset p.d (location US)"));
  const nlohmann::json summary = lastLine(loaded.out);
  EXPECT_EQ(summary["result"], "loaded");
  EXPECT_EQ(summary["rows"], 2);
  EXPECT_EQ(summary["table"], "p.d.t");
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":null}\n");
  const CommandResult shown =
      runCommand({"show", "p.d.t", "--json", "--local", "--data-dir", data()});
  EXPECT_EQ(lastLine(shown.out)["rows"], 2);
  EXPECT_EQ(lastLine(shown.out)["schema"]["fields"][1]["name"], "name");
  const CommandResult text = runCommand({"show", "p.d.t", "--local", "--data-dir", data()});
  EXPECT_THAT(text.out, AllOf(HasSubstr("id      INT64"), HasSubstr("2 rows"), HasSubstr("in US")));
}

TEST_F(CommandRun, InfersTheSchemaAndReadsStandardInput) {
  const CommandResult loaded =
      runCommand({"load", "-", "--to", "p.d.t", "--autodetect", "--local", "--data-dir", data()},
                 "{\"a\":1}\n{\"a\":1.5,\"b\":{\"c\":[\"x\"]}}\n");
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_EQ(rows(), "{\"a\":1.0,\"b\":null}\n{\"a\":1.5,\"b\":{\"c\":[\"x\"]}}\n");
}

TEST_F(CommandRun, UsesTheTablesOwnSchema) {  // BQW-166
  ASSERT_EQ(load(folder_.write("a.jsonl", "{\"id\":1}\n")).exitCode, 0);
  const CommandResult again = runCommand({"load", folder_.write("b.jsonl", "{\"id\":2}\n"), "--to",
                                          "p.d.t", "--local", "--data-dir", data()});
  EXPECT_EQ(again.exitCode, 0) << again.error;
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n{\"id\":2,\"name\":null}\n");
  const CommandResult missing = runCommand(
      {"load", folder_.path("b.jsonl"), "--to", "p.d.other", "--local", "--data-dir", data()});
  EXPECT_EQ(missing.exitCode, 2);
  EXPECT_THAT(missing.error,
              AllOf(HasSubstr("p.d.other"), HasSubstr("--schema FILE or --autodetect")));
}

TEST_F(CommandRun, AByteOrderMarkIsSkippedAndAnEmptyFileIsZeroRows) {
  EXPECT_EQ(load(folder_.write("bom.jsonl", "\xef\xbb\xbf{\"id\":7}\n")).exitCode, 0);
  EXPECT_EQ(rows(), "{\"id\":7,\"name\":null}\n");
  const CommandResult empty = load(folder_.write("empty.jsonl", ""), {"--json"});
  EXPECT_EQ(empty.exitCode, 0);
  EXPECT_THAT(empty.error, HasSubstr("empty.jsonl is empty"));
  EXPECT_EQ(lastLine(empty.out)["result"], "nothing-to-load");
}

TEST_F(CommandRun, AFinishedLoadRunAgainLoadsNothing) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::vector<std::string> checkpoints = {"--checkpoint-dir", folder_.path("state"),
                                                "--json"};
  EXPECT_EQ(lastLine(load(input, checkpoints).out)["checkpoints"], 1);
  const CommandResult again = load(input, checkpoints);
  EXPECT_EQ(again.exitCode, 0);
  EXPECT_EQ(lastLine(again.out)["result"], "already-loaded");
  EXPECT_EQ(lastLine(again.out)["rows"], 0);
  EXPECT_EQ(lastLine(again.out)["rows_of_earlier_runs"], 1);
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n");
}

TEST_F(CommandRun, HeadPrintsATable) {
  ASSERT_EQ(load(folder_.write("a.jsonl", "{\"id\":1,\"name\":\"x\"}\n{\"id\":22}\n{\"id\":3}\n"))
                .exitCode,
            0);
  const CommandResult head =
      runCommand({"head", "p.d.t", "-n", "2", "--local", "--data-dir", data()});
  EXPECT_EQ(head.out,
            "id  name\n"
            "--  ----\n"
            "1   x\n"
            "22  NULL\n");
  EXPECT_THAT(head.error, HasSubstr("2 of 3 rows"));
  const CommandResult missing = runCommand({"head", "p.d.no", "--local", "--data-dir", data()});
  EXPECT_EQ(missing.exitCode, 4);
  EXPECT_THAT(missing.error, HasSubstr("there is no table p.d.no"));
}

TEST_F(CommandRun, AnsweresVersionHelpAndNothing) {
  EXPECT_THAT(runCommand({"--version"}).out, StartsWith("penstock "));
  const CommandResult help = runCommand({"load", "--help"});
  EXPECT_EQ(help.exitCode, 0);
  for (const char* flag :
       {"--to", "--schema", "--autodetect", "--on-error", "--checkpoint-dir", "--local",
        "--create-disposition", "--service-account-key-file", "--location", "--max-retry-duration",
        "--recovery-max-attempts", "Examples:"}) {
    EXPECT_THAT(help.out, HasSubstr(flag));
  }
  EXPECT_EQ(runCommand({}).exitCode, 2);
  EXPECT_EQ(runCommand({"laod"}).exitCode, 2);
  EXPECT_THAT(runCommand({"options"}).out, HasSubstr("sink.max-append-request-bytes"));
  EXPECT_EQ(runCommand({"options", "kafka"}).exitCode, 2);
}

TEST_F(CommandRun, MemoryDoesNotGrowWithTheInput) {
#if PENSTOCK_ADDRESS_SANITIZER || PENSTOCK_THREAD_SANITIZER
  GTEST_SKIP() << "a sanitizer's own memory would be measured";
#endif
  std::string block;
  for (int row = 0; row < 1'000; ++row) {
    block += fmt::format("{{\"id\":{},\"name\":\"{}\"}}\n", row, std::string(1'000, 'a'));
  }
  constexpr size_t kInputBytes = 350'000'000;
  const std::string input = folder_.path("big.jsonl");
  std::ofstream file(input, std::ios::binary);
  for (size_t written = 0; written < kInputBytes; written += block.size()) file << block;
  file.close();
  const CommandResult loaded = load(input, {"--json"});
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_GE(lastLine(loaded.out)["input_bytes"].get<size_t>(), kInputBytes);
  EXPECT_LT(loaded.peakMemoryBytes, 200'000'000) << "embedded emulator included";
}

TEST_F(CommandRun, UnknownFieldsMayBeIgnored) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1,\"more\":{\"x\":[1]}}\n");
  EXPECT_EQ(load(input, {"--ignore-unknown-fields"}).exitCode, 0);
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n");
}

TEST_F(CommandWithEmulator, LoadsOverRealConnectionsAndStopsOnSigterm) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const CommandResult loaded =
      runCommand(withEmulator({"load", input, "--to", "p.d.t", "--schema", schema(), "--json"}));
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_THAT(loaded.error,
              HasSubstr(fmt::format("the emulator at {} (gRPC) and {} (REST)", grpc_, rest_)));
  EXPECT_EQ(runCommand(withEmulator({"head", "p.d.t", "--json"})).out,
            "{\"id\":1,\"name\":null}\n");
  emulator_.signal(SIGTERM);
  EXPECT_EQ(emulator_.wait().exitCode, 0);
}

}  // namespace
}  // namespace penstock::command
