#include "penstock/emulator/storage/data_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "penstock/emulator/storage/file.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DataDirectory, IsLockedAgainstASecondUserByNameAndProcess) {
  const TemporaryDirectory parent;
  const std::string path = parent.path() + "/data/deeper";
  auto first = DataDirectory::open(path);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(std::filesystem::is_directory((*first)->rowsPath()));
  EXPECT_TRUE(std::filesystem::is_directory((*first)->catalogPath()));

  const auto second = DataDirectory::open(path);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(path), HasSubstr("process " + std::to_string(::getpid()))));

  first->reset();
  EXPECT_TRUE(DataDirectory::open(path).ok());
}

TEST(DataDirectory, ATemporaryOneGoesWithTheObject) {
  auto directory = DataDirectory::open("");
  ASSERT_TRUE(directory.ok()) << directory.status();
  const std::string path = (*directory)->path();
  EXPECT_TRUE(std::filesystem::is_directory(path));
  directory->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DataDirectory, RefusesAFormatThatItDoesNotKnow) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/FORMAT") << "penstock-emulator 99\n";
  const auto opened = DataDirectory::open(directory.path());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()),
              AllOf(HasSubstr("format"), HasSubstr(directory.path())));
}

TEST(DataDirectory, TakesTheFormatWithoutStreamsAndMarksItAsTheNewOne) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/FORMAT") << "penstock-emulator 1\n";
  ASSERT_TRUE(DataDirectory::open(directory.path()).ok());
  EXPECT_EQ(*readWholeFile(directory.path() + "/FORMAT"), "penstock-emulator 2\n");
  EXPECT_TRUE(DataDirectory::open(directory.path()).ok());
}

TEST(DataDirectory, NamesAPlaceThatCannotBeADirectory) {
  const TemporaryDirectory parent;
  std::ofstream(parent.path() + "/file") << "x";
  const auto opened = DataDirectory::open(parent.path() + "/file");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr(parent.path() + "/file"));
}

}  // namespace
}  // namespace penstock::emulator
