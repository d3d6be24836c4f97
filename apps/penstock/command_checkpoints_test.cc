// `penstock checkpoints`.
#include <httplib.h>

#include <filesystem>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CommandCheckpoints : public CommandWithFaults {
 protected:
  CommandResult load() {
    std::vector<std::string> arguments = loadArguments();
    arguments.insert(arguments.end(), {"--checkpoint-dir", state_});
    return runCommand(arguments);
  }

  const std::string state_ = folder_.path("state");
};

TEST_F(CommandCheckpoints, SaysWhatADirectoryHoldsAndWhatARestoreWouldDo) {
  const CommandResult loaded = load();
  ASSERT_EQ(loaded.exitCode, 0) << loaded.error;
  const CommandResult listed = runCommand({"checkpoints", state_});
  EXPECT_EQ(listed.exitCode, 0) << listed.error;
  EXPECT_THAT(listed.out, HasSubstr("chk-1"));
  EXPECT_THAT(listed.out, HasSubstr("continues from chk-1"));
  EXPECT_THAT(listed.out, HasSubstr("p.d.t"));
  EXPECT_THAT(listed.out, HasSubstr("nothing left to do"));
  EXPECT_THAT(listed.out, Not(HasSubstr("In use")));

  const CommandResult json = runCommand({"checkpoints", state_, "--json"});
  EXPECT_EQ(json.exitCode, 0);
  EXPECT_EQ(lastLine(json.out)["checkpoint"], 1);
  EXPECT_EQ(lastLine(json.out)["finished"], true);
  EXPECT_EQ(lastLine(json.out)["readable"], true);
  EXPECT_EQ(lastLine(json.out)["records"], lastLine(loaded.out)["rows"]);
}

TEST_F(CommandCheckpoints, SaysWhyADamagedCheckpointCannotBeRestored) {
  ASSERT_EQ(load().exitCode, 0);
  std::filesystem::resize_file(state_ + "/chk-1/metadata", 30);
  const CommandResult listed = runCommand({"checkpoints", state_});
  EXPECT_EQ(listed.exitCode, 5);
  EXPECT_THAT(listed.out, HasSubstr("unreadable"));
  EXPECT_THAT(listed.out, HasSubstr(state_ + "/chk-1/metadata: the checkpoint is damaged"));
  const CommandResult json = runCommand({"checkpoints", state_, "--json"});
  EXPECT_EQ(json.exitCode, 5);
  EXPECT_EQ(lastLine(json.out)["readable"], false);
  EXPECT_THAT(lastLine(json.out)["error"].get<std::string>(), HasSubstr("damaged"));
}

// The records that the directory covers went with the table.
TEST_F(CommandCheckpoints, ALoadWhoseTableIsGoneIsNoLoadedOne) {
  ASSERT_EQ(load().exitCode, 0);
  httplib::Client client("http://" + emulator_->restEndpoint());
  const auto deleted = client.Delete("/bigquery/v2/projects/p/datasets/d/tables/t");
  ASSERT_TRUE(deleted && deleted->status == 204);
  const CommandResult result = load();
  EXPECT_EQ(result.exitCode, 5);
  EXPECT_THAT(result.error, HasSubstr("covers 1 record"));
  EXPECT_THAT(result.error, HasSubstr("there is no table p.d.t"));
}

TEST_F(CommandCheckpoints, NamesADirectoryThatIsNotThereOrHoldsNone) {
  const CommandResult missing = runCommand({"checkpoints", folder_.path("none")});
  EXPECT_EQ(missing.exitCode, 5);
  EXPECT_THAT(missing.error, HasSubstr(folder_.path("none")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("none")));
  std::filesystem::create_directory(state_);
  const CommandResult empty = runCommand({"checkpoints", state_});
  EXPECT_EQ(empty.exitCode, 0);
  EXPECT_THAT(empty.out, HasSubstr("holds no checkpoint"));
}

TEST_F(CommandCheckpoints, AnEmptyNameIsNoDirectory) {
  const CommandResult result = runCommand(loadArguments({"--checkpoint-dir", ""}));
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.error, HasSubstr("--checkpoint-dir must name a directory"));
}

}  // namespace
}  // namespace penstock::command
