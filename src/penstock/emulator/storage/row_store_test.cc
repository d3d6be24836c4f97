#include "penstock/emulator/storage/row_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "penstock/base/log.h"
#include "penstock/emulator/storage/segment.h"
#include "penstock/emulator/testing/killed_child.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr StoredTableId kTableId = 7;

std::unique_ptr<RowStore> openStore(const std::string& path, const RowStoreOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<RowStore>> store = RowStore::open(path, options);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

RowDescriptorPtr intern(RowStore& store, std::string_view bytes) {
  absl::StatusOr<RowDescriptorPtr> descriptor = store.internDescriptor(bytes);
  EXPECT_TRUE(descriptor.ok()) << descriptor.status();
  return *std::move(descriptor);
}

absl::Status append(RowStore& store, StoredTableId table, const RowDescriptor& descriptor,
                    const std::vector<std::string>& rows) {
  RowFramer framer;
  for (const std::string& row : rows) framer.add(row);
  return store.append(table, descriptor, framer.rows());
}

std::vector<std::string> read(RowStore& store, StoredTableId table, uint64_t start = 0,
                              uint64_t count = UINT64_MAX) {
  std::vector<std::string> rows;
  const absl::StatusOr<uint64_t> visited =
      store.read(table, start, count, [&](std::string_view row, const RowDescriptorPtr&) {
        rows.emplace_back(row);
        return absl::OkStatus();
      });
  EXPECT_TRUE(visited.ok()) << visited.status();
  EXPECT_EQ(*visited, rows.size());
  return rows;
}

std::string onlySegment(const std::string& directory) {
  return fmt::format("{}/tables/{}/{}", directory, kTableId, segmentName(0));
}

TEST(RowStore, GivesBackRowsInTheOrderOfTheirAppends) {
  const TemporaryDirectory directory;
  const auto store = openStore(directory.path());
  const RowDescriptorPtr descriptor = intern(*store, "descriptor");
  ASSERT_TRUE(append(*store, kTableId, *descriptor, {"a", "", "ccc"}).ok());
  ASSERT_TRUE(append(*store, kTableId, *descriptor, {std::string(300, 'd')}).ok());

  EXPECT_THAT(read(*store, kTableId), ElementsAre("a", "", "ccc", std::string(300, 'd')));
  EXPECT_EQ(store->size(kTableId)->rows, 4u);
  EXPECT_EQ(store->size(kTableId)->bytes, 304u);
  EXPECT_THAT(read(*store, 8), IsEmpty());
}

TEST(RowStore, ReadsARangeFromTheMiddleOfManySegments) {
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.segmentBytes = 2000;
  options.indexInterval = 500;
  const auto store = openStore(directory.path(), options);
  const RowDescriptorPtr descriptor = intern(*store, "descriptor");
  for (int index = 0; index < 300; index += 3) {
    ASSERT_TRUE(
        append(*store, kTableId, *descriptor,
               {std::to_string(index), std::to_string(index + 1), std::to_string(index + 2)})
            .ok());
  }
  for (const uint64_t start : {0u, 1u, 2u, 3u, 77u, 150u, 298u, 299u}) {
    const std::vector<std::string> rows = read(*store, kTableId, start, 5);
    ASSERT_THAT(rows, SizeIs(std::min<uint64_t>(5, 300 - start)));
    for (size_t index = 0; index < rows.size(); ++index) {
      EXPECT_EQ(rows[index], std::to_string(start + index));
    }
  }
  EXPECT_THAT(read(*store, kTableId, 300, 5), IsEmpty());
  EXPECT_THAT(read(*store, kTableId), SizeIs(300));
}

TEST(RowStore, HasEverythingAfterARestartAndGoesOn) {
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.segmentBytes = 400;
  for (int run = 0; run < 20; ++run) {
    const auto store = openStore(directory.path(), options);
    EXPECT_EQ(store->size(kTableId)->rows, static_cast<uint64_t>(run));
    EXPECT_EQ(store->size(kTableId)->bytes, static_cast<uint64_t>(run) * 50);
    const RowDescriptorPtr descriptor = intern(*store, "descriptor " + std::to_string(run % 3));
    ASSERT_TRUE(
        append(*store, kTableId, *descriptor, {std::string(50, static_cast<char>('a' + run))})
            .ok());
  }
  const auto store = openStore(directory.path(), options);
  int row = 0;
  const absl::StatusOr<uint64_t> visited = store->read(
      kTableId, 0, 100, [&](std::string_view bytes, const RowDescriptorPtr& descriptor) {
        EXPECT_EQ(bytes, std::string(50, static_cast<char>('a' + row)));
        EXPECT_EQ(descriptor->bytes, "descriptor " + std::to_string(row % 3));
        ++row;
        return absl::OkStatus();
      });
  ASSERT_TRUE(visited.ok()) << visited.status();
  EXPECT_EQ(*visited, 20u);
}

// Whatever part of the last append reached the file, it is there whole or not at all.
TEST(RowStore, CutsATornAppendAtEveryLength) {
  base::setLogHook([](base::LogLevel, std::string_view) {});
  const TemporaryDirectory directory;
  uint64_t wholeSize = 0;
  {
    const auto store = openStore(directory.path());
    const RowDescriptorPtr descriptor = intern(*store, "descriptor");
    ASSERT_TRUE(append(*store, kTableId, *descriptor, {"first", "second"}).ok());
    wholeSize = std::filesystem::file_size(onlySegment(directory.path()));
    ASSERT_TRUE(append(*store, kTableId, *descriptor, {"third", "fourth"}).ok());
  }
  const absl::StatusOr<std::string> content = readWholeFile(onlySegment(directory.path()));
  ASSERT_TRUE(content.ok());
  for (uint64_t length = wholeSize; length < content->size(); ++length) {
    ASSERT_TRUE(writeWholeFile(onlySegment(directory.path()), content->substr(0, length)).ok());
    const auto store = openStore(directory.path());
    EXPECT_EQ(store->size(kTableId)->rows, 2u) << "cut at " << length;
    ASSERT_TRUE(append(*store, kTableId, *intern(*store, "descriptor"), {"new"}).ok());
    EXPECT_THAT(read(*store, kTableId), ElementsAre("first", "second", "new"));
  }
  // A flipped bit in the last record counts as torn, too.
  std::string flipped = *content;
  flipped.back() ^= 1;
  ASSERT_TRUE(writeWholeFile(onlySegment(directory.path()), flipped).ok());
  EXPECT_THAT(read(*openStore(directory.path()), kTableId), ElementsAre("first", "second"));
  base::setLogHook({});
}

TEST(RowStore, ReportsDamageInFrontOfTheEndInsteadOfCuttingGoodRows) {
  const TemporaryDirectory directory;
  {
    const auto store = openStore(directory.path());
    const RowDescriptorPtr descriptor = intern(*store, "descriptor");
    ASSERT_TRUE(append(*store, kTableId, *descriptor, {"first row of some length"}).ok());
    ASSERT_TRUE(append(*store, kTableId, *descriptor, {"second row"}).ok());
  }
  std::string content = *readWholeFile(onlySegment(directory.path()));
  content[kSegmentHeaderBytes + kRecordHeaderBytes + 5] ^= 1;
  ASSERT_TRUE(writeWholeFile(onlySegment(directory.path()), content).ok());

  const auto store = openStore(directory.path());
  const absl::Status status = store->size(kTableId).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(onlySegment(directory.path())));
  EXPECT_EQ(append(*store, kTableId, *intern(*store, "descriptor"), {"third"}).code(),
            absl::StatusCode::kDataLoss);
}

TEST(RowStore, ReportsADescriptorThatIsMissingOrDamaged) {
  const TemporaryDirectory directory;
  std::string id;
  {
    const auto store = openStore(directory.path());
    const RowDescriptorPtr descriptor = intern(*store, "descriptor");
    id = descriptor->id;
    ASSERT_TRUE(append(*store, kTableId, *descriptor, {"row"}).ok());
  }
  const std::string path = directory.path() + "/descriptors/" + id;
  const auto readOne = [&] {
    return openStore(directory.path())
        ->read(kTableId, 0, 1,
               [](std::string_view, const RowDescriptorPtr&) { return absl::OkStatus(); })
        .status();
  };
  ASSERT_TRUE(writeWholeFile(path, "another").ok());
  EXPECT_EQ(readOne().code(), absl::StatusCode::kDataLoss);
  std::filesystem::remove(path);
  EXPECT_EQ(readOne().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(readOne().message()), HasSubstr(path));
}

TEST(RowStore, SurvivesASegmentThatWasJustBegun) {
  const TemporaryDirectory directory;
  {
    const auto store = openStore(directory.path());
    ASSERT_TRUE(append(*store, kTableId, *intern(*store, "descriptor"), {"row"}).ok());
  }
  std::ofstream(fmt::format("{}/tables/{}/{}", directory.path(), kTableId, segmentName(1))) << "PS";
  const auto store = openStore(directory.path());
  EXPECT_EQ(store->size(kTableId)->rows, 1u);
  ASSERT_TRUE(append(*store, kTableId, *intern(*store, "descriptor"), {"next"}).ok());
  EXPECT_THAT(read(*store, kTableId), ElementsAre("row", "next"));
}

// A child appends as fast as it can and reports each acknowledged append until it is killed: all of
// those must be there, and nothing torn.
TEST(RowStore, KeepsEveryAcknowledgedAppendThroughAKill) {
  base::setLogHook([](base::LogLevel, std::string_view) {});
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.segmentBytes = 200'000;
  options.indexInterval = 20'000;
  const std::string filler(3000, 'x');
  uint64_t acknowledged = 0;
  for (int kill = 0; kill < 10; ++kill) {
    const uint64_t goal = acknowledged + 20 + static_cast<uint64_t>(kill) * 7;
    acknowledged = killAfter(goal, [&](const ReportProgress& report) {
      auto store = RowStore::open(directory.path(), options);
      auto descriptor = (*store)->internDescriptor("descriptor");
      for (uint64_t next = (*store)->size(kTableId)->rows / 2;; ++next) {
        RowFramer framer;
        framer.add(std::to_string(next) + " begin");
        framer.add(std::to_string(next) + " end" + filler);
        if (!(*store)->append(kTableId, **descriptor, framer.rows()).ok()) return;
        report(next + 1);
      }
    });
    ASSERT_GE(acknowledged, goal);

    const auto store = openStore(directory.path(), options);
    const std::vector<std::string> rows = read(*store, kTableId);
    ASSERT_GE(rows.size(), 2 * acknowledged);
    ASSERT_LE(rows.size(), 2 * acknowledged + 2);
    ASSERT_EQ(rows.size() % 2, 0u);
    for (size_t index = 0; index < rows.size(); index += 2) {
      ASSERT_EQ(rows[index], std::to_string(index / 2) + " begin");
      ASSERT_EQ(rows[index + 1], std::to_string(index / 2) + " end" + filler);
    }
    acknowledged = rows.size() / 2;
  }
  base::setLogHook({});
}

TEST(RowStore, KeepsFewFilesOpenForManyTables) {
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.maxOpenTables = 8;
  const auto store = openStore(directory.path(), options);
  const RowDescriptorPtr descriptor = intern(*store, "descriptor");
  const auto openFiles = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = openFiles();
  for (int round = 0; round < 2; ++round) {
    for (StoredTableId table = 1; table <= 200; ++table) {
      ASSERT_TRUE(append(*store, table, *descriptor, {std::to_string(table)}).ok());
    }
  }
  EXPECT_LE(openFiles(), before + 8);
  for (StoredTableId table = 1; table <= 200; ++table) {
    EXPECT_THAT(read(*store, table), ElementsAre(std::to_string(table), std::to_string(table)));
  }
}

TEST(RowStore, DropsATableWithItsFilesAndRefusesItsLateAppends) {
  const TemporaryDirectory directory;
  const auto store = openStore(directory.path());
  const RowDescriptorPtr descriptor = intern(*store, "descriptor");
  ASSERT_TRUE(append(*store, 1, *descriptor, {"a"}).ok());
  ASSERT_TRUE(append(*store, 2, *descriptor, {"b"}).ok());
  EXPECT_THAT(*store->storedTables(), UnorderedElementsAre(1, 2));

  ASSERT_TRUE(store->drop(1).ok());
  EXPECT_THAT(*store->storedTables(), ElementsAre(2));
  EXPECT_THAT(read(*store, 1), IsEmpty());
  EXPECT_EQ(store->size(1)->rows, 0u);
  EXPECT_EQ(append(*store, 1, *descriptor, {"late"}).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(*store->storedTables(), ElementsAre(2));
}

TEST(RowStore, EndsAReadWithTheVisitorsStatus) {
  const TemporaryDirectory directory;
  const auto store = openStore(directory.path());
  ASSERT_TRUE(append(*store, kTableId, *intern(*store, "descriptor"), {"a", "b"}).ok());
  int seen = 0;
  const auto visited = store->read(kTableId, 0, 10, [&](std::string_view, const RowDescriptorPtr&) {
    ++seen;
    return absl::CancelledError("enough");
  });
  EXPECT_EQ(visited.status(), absl::CancelledError("enough"));
  EXPECT_EQ(seen, 1);
}

// A full disk, played by a limit on the size of files: the append is refused and leaves nothing
// behind.
TEST(RowStore, RefusesAnAppendThatCannotBeWrittenAndGoesOn) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto store = openStore(directory.path());
    const RowDescriptorPtr descriptor = intern(*store, "descriptor");
    bool good = append(*store, kTableId, *descriptor, {"before"}).ok();
    const rlimit limit{4096, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    good = good && !append(*store, kTableId, *descriptor, {std::string(10'000, 'x')}).ok();
    good = good && append(*store, kTableId, *descriptor, {"after"}).ok();
    good = good && read(*store, kTableId) == std::vector<std::string>{"before", "after"};
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_THAT(read(*openStore(directory.path()), kTableId), ElementsAre("before", "after"));
}

/// What this process has read from files so far.
uint64_t bytesRead() {
  std::ifstream io("/proc/self/io");
  std::string key;
  uint64_t bytes = 0;
  io >> key >> bytes;
  EXPECT_EQ(key, "rchar:");
  return bytes;
}

// Five gigabytes made of sparse segments: only the last one's tail may be read when a table opens.
TEST(RowStore, OpensAHugeTableByReadingOnlyTheEndOfItsLastSegment) {
  const TemporaryDirectory directory;
  const std::string folder = fmt::format("{}/tables/{}", directory.path(), kTableId);
  std::filesystem::create_directories(folder);
  constexpr uint64_t kSegments = 80;
  constexpr uint64_t kSegmentBytes = 64ull << 20;
  constexpr uint64_t kRows = 600'000;
  for (uint64_t index = 0; index < kSegments; ++index) {
    const std::string path = folder + "/" + segmentName(index * kRows);
    std::ofstream(path) << encode(SegmentStart{index * kRows, index * kSegmentBytes});
    std::filesystem::resize_file(path, kSegmentBytes);
    std::ofstream(folder + "/" + indexName(index * kRows))
        << encode(SegmentPosition{kSegmentBytes, kRows, kSegmentBytes});
  }
  const uint64_t before = bytesRead();
  const auto store = openStore(directory.path());
  EXPECT_EQ(store->size(kTableId)->rows, kSegments * kRows);
  EXPECT_EQ(store->size(kTableId)->bytes, kSegments * kSegmentBytes);
  ASSERT_TRUE(append(*store, kTableId, *intern(*store, "descriptor"), {"last"}).ok());
  EXPECT_THAT(read(*store, kTableId, kSegments * kRows, 10), ElementsAre("last"));
  EXPECT_LT(bytesRead() - before, 1u << 20);
}

}  // namespace
}  // namespace penstock::emulator
