// What the command says about bad input, bad flags and directories that do not fit.
#include <filesystem>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CommandInput : public CommandTest {};

TEST_F(CommandInput, ABadRecordEndsTheLoadOrIsDropped) {
  const std::pair<std::string, std::string> bad[] = {
      {R"({"id":2)", "malformed"},
      {R"({"id":2,"nope":5})", "nope"},
      {R"({"id":"x"})", "id"},
      {R"({"id":9223372036854775808})", "out of range"},
      {"{\"id\":2,\"name\":\"\xff\xfe\"}", "invalid UTF-8"},
      {"{\"id\":2,\"name\":\"" + std::string(20'000'000, 'a') + "\"}", "20000018 bytes long"}};
  int number = 0;
  for (const auto& [record, message] : bad) {
    const std::string table = fmt::format("p.d.t{}", ++number);
    const std::string input =
        folder_.write("bad.jsonl", fmt::format("{{\"id\":1}}\n{}\n{{\"id\":3}}\n", record));
    const CommandResult failed = load(input, {"--json"}, table);
    EXPECT_EQ(failed.exitCode, 3) << message;
    EXPECT_THAT(failed.error, AllOf(HasSubstr("bad.jsonl line 2: "), HasSubstr(message)));
    EXPECT_EQ(lastLine(failed.out)["result"], "failed");
    EXPECT_EQ(lastLine(failed.out)["exit_code"], 3);
    const CommandResult dropped = load(input, {"--on-error", "drop", "--json"}, table);
    EXPECT_EQ(dropped.exitCode, 0) << message << dropped.error;
    EXPECT_THAT(dropped.error, AllOf(HasSubstr("dropped: "), HasSubstr("bad.jsonl line 2: ")));
    EXPECT_EQ(lastLine(dropped.out)["rows"], 2);
    EXPECT_EQ(lastLine(dropped.out)["rows_dropped"], 1);
    EXPECT_THAT(rows(table), EndsWith("{\"id\":1,\"name\":null}\n{\"id\":3,\"name\":null}\n"));
  }
}

TEST_F(CommandInput, AFileThatIsNotJsonIsRefusedWholeUnderDropToo) {
  const std::pair<std::string, std::string> bad[] = {
      {"id,name\n1,a\n", "CSV"},
      {std::string("\xff\xfe{\0\"\0", 6), "UTF-16"},
      {std::string("\xff\xfe\0\0{\0\0\0", 8), "UTF-32"},
      {"\"text\"\n", "not JSON"}};
  for (const auto& [contents, message] : bad) {
    const CommandResult result = load(folder_.write("bad.txt", contents), {"--on-error", "drop"});
    EXPECT_EQ(result.exitCode, 3) << message;
    EXPECT_THAT(result.error, AllOf(HasSubstr("bad.txt"), HasSubstr(message)));
  }
  const CommandResult missing = load(folder_.path("missing.jsonl"), {"--on-error", "drop"});
  EXPECT_EQ(missing.exitCode, 3);
  EXPECT_THAT(missing.error, HasSubstr("missing.jsonl"));
}

TEST_F(CommandInput, DropPassesOverBadRecordsWhileInferring) {
  const std::string input = folder_.write("a.jsonl", "{\"a\":1}\n{\"a\":\n{\"a\":3}\n");
  const auto inferring = [&](const char* onError) {
    return runCommand({"load", input, "--to", "p.d.t", "--autodetect", "--on-error", onError,
                       "--json", "--local", "--data-dir", data()});
  };
  const CommandResult failed = inferring("fail");
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error, HasSubstr("a.jsonl line 2"));
  EXPECT_EQ(lastLine(inferring("drop").out)["rows_dropped"], 1);
  EXPECT_EQ(rows(), "{\"a\":1}\n{\"a\":3}\n");
}

TEST_F(CommandInput, ATypeConflictNamesFieldTypesAndPlaces) {
  const std::string input =
      folder_.write("a.jsonl", "{\"a\":{\"b\":1}}\n{\"c\":1}\n{\"a\":{\"b\":[true]}}\n");
  const CommandResult result =
      runCommand({"load", input, "--to", "p.d.t", "--autodetect", "--local", "--data-dir", data()});
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("a.b"), HasSubstr("a.jsonl line 1"), HasSubstr("a.jsonl line 3")));
}

TEST_F(CommandInput, RefusesBadFlagsNamingThem) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{"--locaton", "EU"}, "'--locaton', did you mean '--location'"},
      {{"--max-append-request-bytes", "0"}, "--max-append-request-bytes must be > 0: '0'"},
      {{"--max-retry-duration", "0.5 ms"}, "--max-retry-duration"},
      {{"--recovery-max-attempts", "x"}, "--recovery-max-attempts"},
      {{"--create-disposition", "maybe"}, "--create-disposition"},
      {{"--write-method", "exactly-once", "--max-inflight-requests", "5"},
       "--max-inflight-requests does not apply with --write-method STORAGE_API_EXACTLY_ONCE"},
      {{"--write-method", "file-loads"},
       "--write-method: FILE_LOADS is not supported yet (the README's status table"},
      {{"--write-method", "once"}, "--write-method: 'once' is not one of"},
      {{"--on-error", "ignore"}, "--on-error"},
      {{"--parallelism", "0"}, "--parallelism"},
      {{"--checkpoint-interval", "5"}, "--checkpoint-interval"},
      {{"--autodetect"}, "--schema and --autodetect"},
      {{"--emulator-endpoint", "h:1"}, "--emulator-endpoint"},
      {{"--service-account-key-file", "k.json"}, "--service-account-key-file"},
      {{"extra", "--to", "x"}, "--to"}};
  for (const auto& [flags, message] : bad) {
    const CommandResult result = load(input, flags);
    EXPECT_EQ(result.exitCode, 2) << message;
    EXPECT_THAT(result.error, AllOf(StartsWith("penstock: error: "), HasSubstr(message)));
    EXPECT_THAT(result.out, IsEmpty());
  }
  const CommandResult parts = load(input, {}, "p.d.x.y");
  EXPECT_EQ(parts.exitCode, 2);
  EXPECT_THAT(parts.error, HasSubstr("'p.d.x.y' is not a table name: it has 4 parts"));
  const CommandResult standardInput = load("-", {"--checkpoint-dir", folder_.path("state")});
  EXPECT_EQ(standardInput.exitCode, 2);
  EXPECT_THAT(standardInput.error,
              AllOf(HasSubstr("standard input"), HasSubstr("--checkpoint-dir")));
}

TEST_F(CommandInput, WhatAMessageQuotesStaysOnOneLine) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":\x1b[2J\x07\ty}\n");
  const CommandResult failed = load(input);
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error, HasSubstr("found \\x1b[2J\\x07\\ty}"));
  const CommandResult dropped = load(input, {"--on-error", "drop"});
  EXPECT_THAT(dropped.error, HasSubstr("found \\x1b[2J\\x07\\ty}"));
  const CommandResult name = load(input, {}, "p.d.x\ny ");
  EXPECT_EQ(name.exitCode, 2);
  EXPECT_THAT(name.error, HasSubstr("'p.d.x\\ny '"));
}

TEST_F(CommandInput, AChangedInputADifferentTableOrADamagedCheckpointIsRefused) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::vector<std::string> checkpoints = {"--checkpoint-dir", folder_.path("state")};
  ASSERT_EQ(load(input, checkpoints).exitCode, 0);
  const CommandResult other = load(input, checkpoints, "p.d.other");
  EXPECT_EQ(other.exitCode, 5);
  EXPECT_THAT(other.error, AllOf(HasSubstr(folder_.path("state")), HasSubstr("p.d.other")));
  folder_.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
  const CommandResult changed = load(input, checkpoints);
  EXPECT_EQ(changed.exitCode, 5);
  EXPECT_THAT(changed.error, AllOf(HasSubstr(folder_.path("state")), HasSubstr("a.jsonl")));
  folder_.write("a.jsonl", "{\"id\":1}\n");
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path("state"))) {
    if (file.is_regular_file() && file.path().string().find("chk-") != std::string::npos) {
      std::filesystem::resize_file(file.path(), file.file_size() / 2);
    }
  }
  const CommandResult damaged = load(input, checkpoints);
  EXPECT_EQ(damaged.exitCode, 5);
  EXPECT_THAT(damaged.error, AllOf(HasSubstr("damaged"), HasSubstr("chk-1")));
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n") << "nothing was loaded a second time";
}

TEST_F(CommandInput, ADataDirectoryInUseIsRefused) {
  RunningCommand emulator(
      {"emulate", "--rest-port", "0", "--grpc-port", "0", "--data-dir", data()});
  ASSERT_TRUE(emulator.waitForText("gRPC on "));
  const CommandResult result = load(folder_.write("a.jsonl", "{\"id\":1}\n"));
  EXPECT_EQ(result.exitCode, 5);
  EXPECT_THAT(result.error, AllOf(HasSubstr("--local"), HasSubstr(data())));
}

TEST_F(CommandInput, EmulateNamesTheFlagOfWhatItCannotUse) {
  RunningCommand emulator({"emulate", "--rest-port", "0", "--grpc-port", "0"});
  ASSERT_TRUE(emulator.waitForText("gRPC on "));
  const std::string text = emulator.text();
  const auto portAfter = [&text](const std::string& before, char end) {
    const size_t begin = text.find(before) + before.size();
    return text.substr(begin, text.find(end, begin) - begin);
  };
  const std::string grpc = portAfter("gRPC on 127.0.0.1:", ' ');
  const std::string rest = portAfter("http://127.0.0.1:", ',');
  struct Refusal {
    std::vector<std::string> flags;
    int exitCode;
    std::string message;
  };
  const std::string file = folder_.write("file", "");
  const Refusal refusals[] = {
      {{"--grpc-port", grpc}, 3, fmt::format("--grpc-port {} on --host 127.0.0.1 cannot", grpc)},
      {{"--rest-port", rest}, 3, fmt::format("--rest-port {} on --host 127.0.0.1 cannot", rest)},
      {{"--host", "no-such-host.invalid"}, 3, "on --host no-such-host.invalid cannot be used"},
      {{"--rest-port", "65536"}, 2, "--rest-port must be between 0 and 65535, not 65536"},
      {{"--grpc-port", "-1"}, 2, "--grpc-port must be between 0 and 65535, not -1"},
      {{"--dataset", "nodot"}, 2, "--dataset: \"nodot\" is not of the form PROJECT.DATASET"},
      {{"--location", " "}, 2, "--location must not be blank"},
      {{"--data-dir", file}, 5, "--data-dir: cannot create the data directory " + file}};
  for (const Refusal& refusal : refusals) {
    std::vector<std::string> arguments = {"emulate"};
    for (const char* port : {"--rest-port", "--grpc-port"}) {
      if (refusal.flags[0] == port) continue;
      arguments.insert(arguments.end(), {port, "0"});
    }
    arguments.insert(arguments.end(), refusal.flags.begin(), refusal.flags.end());
    const CommandResult result = runCommand(arguments);
    EXPECT_EQ(result.exitCode, refusal.exitCode) << refusal.message;
    EXPECT_THAT(result.error, HasSubstr(refusal.message));
  }
}

}  // namespace
}  // namespace penstock::command
