// Loads that write exactly once: what becomes visible when, and what a directory continues.
#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandExactlyOnce : public CommandTest {
 protected:
  CommandResult loadOnce(const std::string& input, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--write-method", "STORAGE_API_EXACTLY_ONCE"});
    return load(input, flags);
  }
};

// Without a directory there is one commit, and the command says so.
TEST_F(CommandExactlyOnce, CommitsAtTheEndOfItsInput) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
  const CommandResult result = loadOnce(input);
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("the rows become visible all at once"));
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n{\"id\":2,\"name\":null}\n");
}

// A load that ends early has shown nothing.
TEST_F(CommandExactlyOnce, ALoadThatFailsShowsNothing) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n{\"id\":\"x\"}\n");
  EXPECT_EQ(loadOnce(input).exitCode, 3);
  EXPECT_EQ(rows(), "");
}

TEST_F(CommandExactlyOnce, ADirectoryOfAFinishedLoadLoadsNothingAgain) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n{\"id\":2}\n");
  const std::vector<std::string> flags = {"--checkpoint-dir", folder_.path("state"),
                                          "--parallelism", "2"};
  const CommandResult first = loadOnce(input, flags);
  EXPECT_EQ(first.exitCode, 0) << first.error;
  EXPECT_THAT(first.error, Not(HasSubstr("all at once")));
  EXPECT_EQ(loadOnce(input, flags).exitCode, 0);
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n{\"id\":2,\"name\":null}\n");
}

// What was loaded at least once may be there twice already, and has no state to go on with.
TEST_F(CommandExactlyOnce, ADirectoryOfTheOtherMethodIsRefused) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::vector<std::string> flags = {"--checkpoint-dir", folder_.path("state")};
  ASSERT_EQ(load(input, flags).exitCode, 0);
  const CommandResult result = loadOnce(input, flags);
  EXPECT_EQ(result.exitCode, 5);
  EXPECT_THAT(result.error, HasSubstr("belongs to another job"));
}

// Neither what it covers nor what comes after is written, and the checkpoint stays as it is.
TEST_F(CommandExactlyOnce, ADirectoryThatCannotBeTrustedIsRefusedAndNothingIsWritten) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const std::vector<std::string> flags = {"--checkpoint-dir", folder_.path("state")};
  ASSERT_EQ(loadOnce(input, flags).exitCode, 0);
  const std::string metadata = folder_.path("state/chk-1/metadata");
  const std::string good = contentsOf(metadata);
  ASSERT_TRUE(good.starts_with("penstock-checkpoint 1 "));
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  const std::pair<std::string, std::string> bad[] = {
      {"", "damaged"},
      {good.substr(0, good.size() / 2), "damaged"},
      {good.substr(0, good.size() - 1), "damaged"},
      {good + "x", "damaged"},
      {flipped, "damaged"},
      {"penstock-checkpoint 2" + good.substr(good.find(' ', 20)), "written by a newer penstock"}};
  for (const auto& [contents, why] : bad) {
    folder_.write("state/chk-1/metadata", contents);
    const CommandResult result = loadOnce(input, flags);
    EXPECT_EQ(result.exitCode, 5) << why;
    EXPECT_THAT(result.error, AllOf(HasSubstr(metadata), HasSubstr(why),
                                    HasSubstr("give an empty directory to start over")));
    EXPECT_EQ(contentsOf(metadata), contents);
  }
  folder_.write("state/chk-1/metadata", good);
  const CommandResult other = load(
      input,
      {"--checkpoint-dir", folder_.path("state"), "--write-method", "STORAGE_API_EXACTLY_ONCE"},
      "p.d.other");
  EXPECT_EQ(other.exitCode, 5);
  EXPECT_THAT(other.error, HasSubstr("belongs to another job"));
  EXPECT_EQ(rows("p.d.other"), "") << "nothing was created";
  EXPECT_EQ(rows(), "{\"id\":1,\"name\":null}\n");
}

TEST_F(CommandExactlyOnce, TheOptionsOfTheDefaultStreamAreRefused) {
  const std::string input = folder_.write("a.jsonl", "{\"id\":1}\n");
  const CommandResult result = loadOnce(input, {"--flush-interval", "1 s"});
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.error, HasSubstr("--flush-interval does not apply with --write-method"));
}

}  // namespace
}  // namespace penstock::command
