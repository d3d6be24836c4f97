#include "penstock/runtime/files/input_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>

#include <filesystem>

#include "penstock/runtime/testing/input_files.h"

namespace penstock::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string errorOfPaths(const std::vector<std::string>& arguments) {
  const auto found = findInputs(arguments);
  return found.ok() ? "no error" : std::string(base::messageOf(found.status()));
}

TEST(InputPaths, TakesFilesInTheOrderGiven) {
  const TestFolder folder;
  const std::string b = folder.write("b.json", "{}");
  const std::string a = folder.write("a.json", "{}");
  const auto found = findInputs(std::vector<std::string>{b, a, "-"});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(b, a, "-"));
  EXPECT_THAT(found->notices, ElementsAre());
}

TEST(InputPaths, NamesAMissingFile) {
  EXPECT_EQ(errorOfPaths({"/nowhere/x.json"}),
            "cannot open /nowhere/x.json: No such file or directory");
}

TEST(InputPaths, WalksFoldersSortedAndLeavesOutHiddenNames) {
  const TestFolder folder;
  const std::string inner = folder.write("data/2/part.json", "{}");
  const std::string first = folder.write("data/1.json", "{}");
  folder.write("data/_SUCCESS", "");
  folder.write("data/.crc", "");
  const auto found = findInputs(std::vector<std::string>{folder.at("data")});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(first, inner));
  ASSERT_EQ(found->notices.size(), 1U);
  EXPECT_THAT(found->notices[0], HasSubstr("2 with names that begin with . or _"));
}

TEST(InputPaths, FollowsLinksToFoldersWithoutGoingRound) {
  const TestFolder folder;
  const std::string file = folder.write("data/a.json", "{}");
  std::filesystem::create_directory_symlink(folder.at("data"), folder.at("data/loop"));
  folder.write("elsewhere/b.json", "{}");
  std::filesystem::create_directory_symlink(folder.at("elsewhere"), folder.at("data/more"));
  const auto found = findInputs(std::vector<std::string>{folder.at("data")});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(file, folder.at("data/more/b.json")));
}

TEST(InputPaths, RefusesAFolderWithoutFiles) {
  const TestFolder folder;
  folder.write("data/_SUCCESS", "");
  EXPECT_THAT(errorOfPaths({folder.at("data")}), HasSubstr("holds no file to load"));
}

TEST(InputPaths, ExpandsPatterns) {
  const TestFolder folder;
  const std::string a = folder.write("a.json", "{}");
  const std::string b = folder.write("b.json", "{}");
  folder.write("c.txt", "{}");
  const auto found = findInputs(std::vector<std::string>{folder.at("[ab]*.json")});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(a, b));
  EXPECT_EQ(errorOfPaths({folder.at("*.csv")}), "no file matches " + folder.at("*.csv"));
}

TEST(InputPaths, PrefersAFileToThePatternOfTheSameName) {
  const TestFolder folder;
  const std::string literal = folder.write("[ab].json", "{}");
  folder.write("a.json", "{}");
  const auto found = findInputs(std::vector<std::string>{literal});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(literal));
}

TEST(InputPaths, ReadsAFileOnceHoweverOftenItIsReached) {
  const TestFolder folder;
  const std::string a = folder.write("a.json", "{}");
  const auto found = findInputs(std::vector<std::string>{a, folder.at("*.json"), folder.path()});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(a));
  ASSERT_EQ(found->notices.size(), 2U);
  EXPECT_THAT(found->notices[0], HasSubstr("more than once"));
}

TEST(InputPaths, RefusesStandardInputGivenTwiceAndNothingAtAll) {
  EXPECT_THAT(errorOfPaths({"-", "-"}), HasSubstr("given twice"));
  EXPECT_THAT(errorOfPaths({""}), HasSubstr("name is empty"));
  EXPECT_THAT(errorOfPaths({}), HasSubstr("no input"));
}

/// Root may list every folder: this thread opens files as nobody does. Without effect for others,
/// who are refused as they are.
class FilesAsNobody {
 public:
  FilesAsNobody() : before_(::setfsuid(65534)) {}
  ~FilesAsNobody() { ::setfsuid(static_cast<uid_t>(before_)); }
  FilesAsNobody(const FilesAsNobody&) = delete;
  FilesAsNobody& operator=(const FilesAsNobody&) = delete;

 private:
  const int before_;
};

TEST(InputPaths, NamesAFolderThatCannotBeListed) {
  using std::filesystem::perms;
  const TestFolder folder;
  folder.write("closed/a.json", "{}");
  std::filesystem::permissions(folder.at("."), perms::owner_all | perms::others_exec);
  std::filesystem::permissions(folder.at("closed"), perms::none);
  {
    const FilesAsNobody nobody;
    EXPECT_THAT(errorOfPaths({folder.at("closed")}), HasSubstr("closed: Permission denied"));
  }
  std::filesystem::permissions(folder.at("closed"), perms::owner_all);
}

}  // namespace
}  // namespace penstock::runtime
