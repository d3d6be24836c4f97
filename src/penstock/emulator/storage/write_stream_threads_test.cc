#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/storage/write_stream.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

constexpr StoredTableId kStreamsTable = 7;
constexpr int64_t kAppends = 200;

/// Writers of every type into one table, beside readers: what is visible of each stream is always
/// its beginning, in order.
TEST(WriteStreamThreads, ShowReadersOnlyBeginningsOfStreams) {
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.segmentBytes = 4000;
  options.indexInterval = 500;
  options.maxOpenTables = 2;
  const auto store = *RowStore::open(directory.path(), options);
  const RowDescriptorPtr descriptor = *store->internDescriptor("descriptor");
  const auto append = [&](WriteStream& stream, int64_t offset, const std::string& name) {
    RowFramer framer;
    framer.add(fmt::format("{} {}", name, offset));
    return store->append(stream, offset, *descriptor, framer.rows());
  };

  std::vector<std::thread> writers;
  for (const char* name : {"b1", "b2", "c1", "c2"}) {
    writers.emplace_back([&, name = std::string(name)] {
      const bool buffered = name[0] == 'b';
      const WriteStreamPtr stream = *store->createStream(
          kStreamsTable, buffered ? StreamType::kBuffered : StreamType::kCommitted, 1);
      for (int64_t offset = 0; offset < kAppends; ++offset) {
        EXPECT_TRUE(append(*stream, offset, name).ok());
        if (buffered && offset % 3 == 2) {
          EXPECT_TRUE(stream->flush(offset).ok());
        }
      }
      if (buffered && kAppends % 3 != 0) {
        EXPECT_TRUE(stream->flush(kAppends - 1).ok());
      }
    });
  }
  writers.emplace_back([&] {
    const WriteStreamPtr first = *store->createStream(kStreamsTable, StreamType::kPending, 1);
    const WriteStreamPtr second = *store->createStream(kStreamsTable, StreamType::kPending, 1);
    for (int64_t offset = 0; offset < kAppends; ++offset) {
      EXPECT_TRUE(append(*first, offset, "p1").ok());
      EXPECT_TRUE(append(*second, offset, "p2").ok());
    }
    EXPECT_TRUE(first->finalize().ok());
    EXPECT_TRUE(second->finalize().ok());
    EXPECT_TRUE(store->commitStreams(kStreamsTable, {first, second}, 2).ok());
  });

  std::atomic<bool> done{false};
  const auto countVisible = [&] {
    std::map<std::string, int64_t> next;
    const auto read = store->read(kStreamsTable, 0, UINT64_MAX,
                                  [&](std::string_view row, const RowDescriptorPtr&) {
                                    const std::string name(row.substr(0, 2));
                                    EXPECT_EQ(row.substr(3), std::to_string(next[name]++));
                                    return absl::OkStatus();
                                  });
    EXPECT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(next["p1"], next["p2"]);
    return next;
  };
  std::thread reader([&] {
    while (!done) countVisible();
  });
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  for (const auto& [name, count] : countVisible()) EXPECT_EQ(count, kAppends) << name;
  EXPECT_EQ(store->size(kStreamsTable)->rows, static_cast<uint64_t>(6 * kAppends));
}

}  // namespace
}  // namespace penstock::emulator
