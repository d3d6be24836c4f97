// What the command says about a target that it cannot use.
#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandTarget : public CommandTest {};

TEST_F(CommandTarget, RefusesOneEmulatorAddressWithoutTheOther) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  for (const auto& [one, other] : {std::pair("--emulator-endpoint", "--emulator-rest-endpoint"),
                                   std::pair("--emulator-rest-endpoint", "--emulator-endpoint")}) {
    const CommandResult result = runCommand({"load", input, "--to", "p.d.t", one, "localhost:1"});
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_THAT(result.error, AllOf(HasSubstr(fmt::format("{} needs {}", one, other)),
                                    HasSubstr("real service")));
  }
}

TEST_F(CommandTarget, AnUnreachableTargetIsNamedWithItsFlag) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  for (const char* host : {"127.0.0.1", "no-such-host.invalid"}) {
    const CommandResult result = runCommand(
        {"load", input, "--to", "p.d.t", "--schema", schema(), "--emulator-endpoint",
         fmt::format("{}:1", host), "--emulator-rest-endpoint", fmt::format("{}:2", host)});
    EXPECT_EQ(result.exitCode, 4);
    EXPECT_THAT(result.error, HasSubstr(fmt::format("--emulator-rest-endpoint {}:2", host)));
    EXPECT_THAT(result.error, HasSubstr(fmt::format("target: the emulator at {}:1 (gRPC)", host)));
  }
}

TEST_F(CommandTarget, ABadKeyFileNamesItsSettingNeverThePath) {  // BASE-009, BQW-190
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::string keys[] = {folder_.path("missing-key"), folder_.write("bad-key", "{}"),
                              folder_.write("secret-key", "-----BEGIN PRIVATE KEY-----")};
  for (const std::string& key : keys) {
    const CommandResult flag = runCommand(
        {"load", input, "--to", "p.d.t", "--schema", schema(), "--service-account-key-file", key});
    EXPECT_EQ(flag.exitCode, 4);
    EXPECT_THAT(flag.error, AllOf(HasSubstr("--service-account-key-file"), Not(HasSubstr(key)),
                                  Not(HasSubstr("PRIVATE KEY"))));
    const CommandResult variable =
        runCommand({"load", input, "--to", "p.d.t", "--schema", schema()}, "",
                   {{"GOOGLE_APPLICATION_CREDENTIALS", key}});
    EXPECT_EQ(variable.exitCode, 4);
    EXPECT_THAT(variable.error, AllOf(HasSubstr("GOOGLE_APPLICATION_CREDENTIALS"),
                                      Not(HasSubstr(key)), Not(HasSubstr("PRIVATE KEY"))));
  }
}

TEST_F(CommandTarget, AMissingTableUnderCreateNeverNamesTheOption) {  // BQW-154
  const CommandResult result =
      load(folder_.write("a.jsonl", "{\"id\":1}\n"), {"--create-disposition", "create-never"});
  EXPECT_EQ(result.exitCode, 4);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("no table p.d.t"), HasSubstr("--create-disposition CREATE_NEVER")));
}

TEST_F(CommandWithFaults, AMaskedDenialSaysThatTheTableMayNotExistOrNotBeWritable) {  // BQW-154
  plant({.method = "tables.get", .times = 0, .httpCode = 403, .reason = "accessDenied"});
  const CommandResult result = runCommand(loadArguments({"--create-disposition", "CREATE_NEVER"}));
  EXPECT_EQ(result.exitCode, 4);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("p.d.t may not exist or may not be writable"),
                    HasSubstr("--emulator-endpoint"), Not(HasSubstr("CREATE_NEVER"))));
}

TEST_F(CommandWithFaults, APassingFaultBeforeTheFirstRecordIsWaitedOut) {
  plant({.method = "tables.get", .times = 2, .httpCode = 503});
  plant({.method = "GetWriteStream", .times = 1, .code = absl::StatusCode::kUnavailable});
  const CommandResult result = runCommand(loadArguments());
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(lastLine(result.out)["rows"], 1);
}

TEST_F(CommandWithFaults, OneThatStaysEndsTheLoadBeforeTheFirstRecord) {
  const uint64_t rest = plant({.method = "tables.get", .times = 0, .httpCode = 503});
  const CommandResult result = runCommand(loadArguments());
  EXPECT_EQ(result.exitCode, 4);
  EXPECT_THAT(result.error, HasSubstr("--emulator-rest-endpoint " + emulator_->restEndpoint()));
  EXPECT_EQ(emulator_->faults().struck(rest), 3U);
  emulator_->faults().clear();
  const uint64_t grpc =
      plant({.method = "GetWriteStream", .times = 0, .code = absl::StatusCode::kUnavailable});
  const CommandResult denied = runCommand(loadArguments());
  EXPECT_EQ(denied.exitCode, 4);
  EXPECT_THAT(denied.error, HasSubstr(fmt::format("--emulator-endpoint {}: UNAVAILABLE: ",
                                                  emulator_->grpcEndpoint())));
  EXPECT_EQ(emulator_->faults().struck(grpc), 3U);
}

TEST_F(CommandWithFaults, AnErrorOfTheServiceDuringTheLoadIsNoFaultOfTheInput) {
  plant({.method = "AppendRows",
         .times = 0,
         .code = absl::StatusCode::kInvalidArgument,
         .message = "no thanks"});
  const CommandResult result = runCommand(loadArguments());
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_THAT(result.error, AllOf(HasSubstr("p.d.t"), HasSubstr("no thanks")));
  EXPECT_EQ(lastLine(result.out)["result"], "failed");
}

TEST_F(CommandWithFaults, AnOutageIsWaitedOut) {
  plant({.method = "AppendRows", .times = 3, .code = absl::StatusCode::kUnavailable});
  const CommandResult result = runCommand(loadArguments({"--recovery-initial-backoff", "1ms"}));
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(lastLine(result.out)["rows"], 1);
}

TEST_F(CommandWithEmulator, AMissingDatasetIsAnErrorWithTheCommandThatCreatesIt) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const CommandResult result =
      runCommand(withEmulator({"load", input, "--to", "p.other.t", "--schema", schema()}));
  EXPECT_EQ(result.exitCode, 4);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("no dataset p.other"), HasSubstr("curl -X POST http://" + rest_)));
}

TEST_F(CommandWithEmulator, AnAddressThatIsNotBigQuerysIsNamedWithItsFlag) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const CommandResult swapped =
      runCommand({"load", input, "--to", "p.d.t", "--schema", schema(), "--emulator-endpoint",
                  rest_, "--emulator-rest-endpoint", grpc_});
  EXPECT_EQ(swapped.exitCode, 4);
  EXPECT_THAT(swapped.error, HasSubstr("--emulator-rest-endpoint " + grpc_));
  const CommandResult twice =
      runCommand({"load", input, "--to", "p.d.t", "--schema", schema(), "--emulator-endpoint",
                  rest_, "--emulator-rest-endpoint", rest_});
  EXPECT_EQ(twice.exitCode, 4);
  EXPECT_THAT(twice.error, HasSubstr("--emulator-endpoint " + rest_));
}

TEST_F(CommandWithEmulator, AWrongGrpcAddressIsNamedWithItsFlag) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const CommandResult result =
      runCommand({"load", input, "--to", "p.d.t", "--schema", schema(), "--emulator-endpoint",
                  "127.0.0.1:1", "--emulator-rest-endpoint", rest_});
  EXPECT_EQ(result.exitCode, 4);
  EXPECT_THAT(result.error, HasSubstr("--emulator-endpoint 127.0.0.1:1: "));
}

}  // namespace
}  // namespace penstock::command
