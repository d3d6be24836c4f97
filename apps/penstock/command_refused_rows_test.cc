// Rows that become requests, and that the service, or their size, then refuses.
#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CommandRefusedRows : public CommandTest {
 protected:
  /// A table whose STRING column takes three characters.
  void makeTable() {
    const std::string narrow = folder_.write(
        "narrow.json",
        R"([{"name":"id","type":"INTEGER"},{"name":"name","type":"STRING","maxLength":"3"}])");
    const CommandResult made =
        runCommand({"load", folder_.write("first.jsonl", R"({"id":1,"name":"abc"})"), "--to",
                    "p.d.t", "--schema", narrow, "--local", "--data-dir", data()});
    ASSERT_EQ(made.exitCode, 0) << made.error;
  }
  std::string twoBadLines() {
    return folder_.write("b.jsonl",
                         "{\"id\":1,\"name\":\"abc\"}\n\n{\"id\":2,\"name\":\"abcd\"}\n"
                         "{\"id\":3,\"name\":\"abc\"}\n{\"id\":4,\"name\":\"xyzzy\"}\n");
  }
};

TEST_F(CommandRefusedRows, NameTheirFileAndLine) {
  makeTable();
  const std::string input = twoBadLines();
  const CommandResult result = load(input);
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, AllOf(HasSubstr(input + " line 3: name: "), HasSubstr("STRING(3)"),
                                  HasSubstr("--on-error drop")));
}

TEST_F(CommandRefusedRows, AreDroppedEachWithItsLineAndTheOthersGoIn) {
  makeTable();
  const std::string input = twoBadLines();
  const CommandResult result = load(input, {"--on-error", "drop"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error,
              AllOf(HasSubstr(input + " line 3: name: "), HasSubstr(input + " line 5: name: ")));
  EXPECT_THAT(rows(), AllOf(HasSubstr("\"id\":3"), ::testing::Not(HasSubstr("\"id\":2"))));
}

// BQW-023
TEST_F(CommandRefusedRows, NameTheLineOfOneThatIsTooLargeToSend) {
  const std::string input = folder_.write(
      "big.jsonl", "{\"id\":1}\n{\"id\":2,\"name\":\"" + std::string(9'600'000, 'x') + "\"}\n");
  const CommandResult result = load(input);
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.error, AllOf(HasSubstr(input + " line 2: "), HasSubstr("9 MiB")));
}

}  // namespace
}  // namespace penstock::command
