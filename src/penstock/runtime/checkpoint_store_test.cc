#include "penstock/runtime/checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "penstock/runtime/testing/input_files.h"

namespace penstock::runtime {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

Checkpoint sample(connector::CheckpointId number) {
  Checkpoint checkpoint;
  checkpoint.number = number;
  checkpoint.jobIdentity = "bigquery p.d.t";
  checkpoint.sourceIdentity = "{\"files\":[]}";
  checkpoint.finished = number % 2 == 0;
  checkpoint.records = 1'000'000'000'000;
  checkpoint.bytes = 7;
  checkpoint.splits = {{"0:0-10", "5/0/0", false}, {"1", "", true}};
  checkpoint.writerStates = {{std::string("\0\xFF state", 8)}};
  checkpoint.committables = {{""}, {"c"}};
  return checkpoint;
}

std::string errorOf(const absl::Status& status) { return std::string(base::messageOf(status)); }

TEST(CheckpointCodec, GivesBackWhatItWrote) {
  const Checkpoint written = sample(6);
  const auto read = decodeCheckpoint(encodeCheckpoint(written));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->number, 6);
  EXPECT_EQ(read->jobIdentity, written.jobIdentity);
  EXPECT_EQ(read->sourceIdentity, written.sourceIdentity);
  EXPECT_TRUE(read->finished);
  EXPECT_EQ(read->records, written.records);
  EXPECT_EQ(read->bytes, written.bytes);
  ASSERT_EQ(read->splits.size(), 2U);
  EXPECT_EQ(read->splits[0].split, "0:0-10");
  EXPECT_EQ(read->splits[0].position, "5/0/0");
  EXPECT_FALSE(read->splits[0].finished);
  EXPECT_TRUE(read->splits[1].finished);
  ASSERT_EQ(read->writerStates.size(), 1U);
  EXPECT_EQ(read->writerStates[0].bytes, written.writerStates[0].bytes);
  ASSERT_EQ(read->committables.size(), 2U);
  EXPECT_EQ(read->committables[1].bytes, "c");
}

TEST(CheckpointCodec, RefusesEveryCutAndEveryAlteredByte) {
  const std::string text = encodeCheckpoint(sample(1));
  for (size_t size = 0; size < text.size(); ++size) {
    const auto read = decodeCheckpoint(text.substr(0, size));
    ASSERT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << size;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string altered = text;
    altered[at] = static_cast<char>(altered[at] ^ 0x10);
    EXPECT_FALSE(decodeCheckpoint(altered).ok()) << at;
  }
}

TEST(CheckpointCodec, RefusesANewerVersionByName) {
  std::string text = encodeCheckpoint(sample(1));
  text.replace(text.find(" 1 "), 3, " 2 ");
  const auto read = decodeCheckpoint(text);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(errorOf(read.status()), HasSubstr("format version 2, written by a newer penstock"));
}

TEST(CheckpointCodec, ReadsTheFormatOfVersion1) {
  // Written by the first release; must stay readable.
  const std::string body =
      "{\"bytes\":16,\"committables\":[],\"finished\":false,\"job\":\"j\",\"number\":3,"
      "\"records\":2,\"source\":\"s\",\"splits\":[{\"finished\":false,\"position\":\"8/0/0\","
      "\"split\":\"0\"}],\"writerStates\":[\"00ff\"]}\n";
  const auto read = decodeCheckpoint("penstock-checkpoint 1 45b386ae " +
                                     std::to_string(body.size()) + "\n" + body);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->number, 3);
  EXPECT_EQ(read->splits.at(0).position, "8/0/0");
  EXPECT_EQ(read->writerStates.at(0).bytes, std::string("\0\xFF", 2));
}

class CheckpointStoreTest : public testing::Test {
 protected:
  std::unique_ptr<CheckpointStore> open(int kept = 3) const {
    auto store = CheckpointStore::open(directory(), kept);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::string directory() const { return folder_.at("deep/checkpoints"); }
  std::string fileOf(int number) const {
    return directory() + "/chk-" + std::to_string(number) + "/metadata";
  }
  void overwrite(int number, std::string_view content) const {
    folder_.write("deep/checkpoints/chk-" + std::to_string(number) + "/metadata", content);
  }

  TestFolder folder_;
};

TEST_F(CheckpointStoreTest, StartsEmptyAndGivesBackTheNewest) {
  const auto store = open();
  EXPECT_FALSE(store->newest().value().has_value());
  for (int number = 9; number <= 11; ++number) {
    ASSERT_TRUE(store->write(sample(number)).ok());
    EXPECT_EQ(store->newest().value()->number, number) << "10 is newer than 9";
  }
}

TEST_F(CheckpointStoreTest, KeepsTheLastOnes) {
  const auto store = open(2);
  for (int number = 1; number <= 5; ++number) ASSERT_TRUE(store->write(sample(number)).ok());
  EXPECT_FALSE(fs::exists(fileOf(3)));
  EXPECT_TRUE(fs::exists(fileOf(4)));
  EXPECT_TRUE(fs::exists(fileOf(5)));
}

TEST_F(CheckpointStoreTest, RefusesADamagedOneNamingFileAndWayOut) {
  const auto store = open();
  ASSERT_TRUE(store->write(sample(1)).ok());
  ASSERT_TRUE(store->write(sample(2)).ok());
  const std::string good = contentOf(fileOf(2));

  overwrite(2, good.substr(0, good.size() - 1));
  EXPECT_THAT(errorOf(store->newest().status()),
              AllOf(HasSubstr(fileOf(2) + ": the checkpoint is damaged"),
                    HasSubstr("remove " + directory() + "/chk-2 to continue from " + directory() +
                              "/chk-1")));
  EXPECT_THAT(errorOf(store->newest().status()),
              HasSubstr("so rows that were committed since would be there twice"));
  Checkpoint withoutState = sample(1);
  withoutState.writerStates.clear();
  withoutState.committables.clear();
  overwrite(1, encodeCheckpoint(withoutState));
  EXPECT_THAT(errorOf(store->newest().status()),
              HasSubstr("(what came after that is loaded again)"));
  overwrite(2, "");
  EXPECT_THAT(errorOf(store->newest().status()), HasSubstr("the file is empty"));
  overwrite(2, "something else\n");
  EXPECT_THAT(errorOf(store->newest().status()), HasSubstr("not that of a checkpoint"));
  overwrite(2, encodeCheckpoint(sample(3)));
  EXPECT_THAT(errorOf(store->newest().status()), HasSubstr("it says that it is number 3"));
  fs::remove(fileOf(2));
  EXPECT_THAT(errorOf(store->newest().status()),
              AllOf(HasSubstr("cannot open " + fileOf(2)), HasSubstr("remove ")));
  fs::remove(directory() + "/chk-2");
  EXPECT_EQ(store->newest().value()->number, 1);
  overwrite(1, "x");
  EXPECT_THAT(
      errorOf(store->newest().status()),
      HasSubstr("no older one is kept: give an empty directory to start over, which loads all"));
}

TEST_F(CheckpointStoreTest, IgnoresWhatACrashLeftUnderATemporaryName) {
  ASSERT_TRUE(open()->write(sample(1)).ok());
  folder_.write("deep/checkpoints/.tmp-2/metadata", "half");
  folder_.write("deep/checkpoints/.tmp-old-0/metadata", "half");
  const auto store = open();
  EXPECT_EQ(store->newest().value()->number, 1);
  EXPECT_FALSE(fs::exists(folder_.at("deep/checkpoints/.tmp-2")));
  EXPECT_FALSE(fs::exists(folder_.at("deep/checkpoints/.tmp-old-0")));
  EXPECT_TRUE(store->write(sample(2)).ok());
}

TEST_F(CheckpointStoreTest, IsLockedAgainstOtherProcesses) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    const auto store = CheckpointStore::open(directory(), 3);
    const char state = store.ok() ? 'y' : 'n';
    if (::write(ready[1], &state, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char state = 'n';
  ASSERT_EQ(::read(ready[0], &state, 1), 1);
  ASSERT_EQ(state, 'y');
  const auto refused = CheckpointStore::open(directory(), 3);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(errorOf(refused.status()),
              HasSubstr(directory() + " is in use by process " + std::to_string(other)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(CheckpointStore::open(directory(), 3).ok()) << "a killed process holds no lock";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(CheckpointStoreTest, NamesADirectoryThatCannotBeMade) {
  const std::string file = folder_.write("file", "");
  const auto store = CheckpointStore::open(file + "/checkpoints", 3);
  EXPECT_THAT(errorOf(store.status()), HasSubstr("cannot make " + file + "/checkpoints"));
}

TEST_F(CheckpointStoreTest, FailsAWriteThatCannotBeDone) {
  const auto store = open();
  fs::remove_all(directory());
  EXPECT_THAT(errorOf(store->write(sample(1))), HasSubstr("cannot make"));
}

TEST(CheckpointStore, ListsWhatADirectoryHoldsWithoutTouchingIt) {
  const TestFolder folder;
  EXPECT_EQ(CheckpointStore::list(folder.at("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(fs::exists(folder.at("none")));
  {
    const auto store = CheckpointStore::open(folder.at("state"), 3);
    ASSERT_TRUE(store.ok()) << store.status();
    for (const int64_t number : {2, 3, 10}) ASSERT_TRUE((*store)->write(sample(number)).ok());
    const auto listing = CheckpointStore::list(folder.at("state"));
    ASSERT_TRUE(listing.ok()) << listing.status();
    EXPECT_EQ(listing->holder, "process " + std::to_string(::getpid()));
  }
  fs::resize_file(folder.at("state/chk-3/metadata"), 20);
  const auto listing = CheckpointStore::list(folder.at("state"));
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->holder, std::nullopt);
  ASSERT_EQ(listing->checkpoints.size(), 3U);
  EXPECT_EQ(listing->checkpoints[0].number, 2);
  EXPECT_TRUE(listing->checkpoints[0].content.ok());
  EXPECT_GT(listing->checkpoints[0].writtenAt,
            base::systemClock().wallNow() - std::chrono::hours(1));
  EXPECT_THAT(errorOf(listing->checkpoints[1].content.status()),
              AllOf(HasSubstr("state/chk-3/metadata"), HasSubstr("damaged")));
  EXPECT_EQ(listing->checkpoints[2].content->number, 10);
}

}  // namespace
}  // namespace penstock::runtime
