#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

constexpr StoredTableId kTable = 7;
constexpr size_t kRowBytes = 30;

std::vector<std::string> readAll(RowStore& store) {
  std::vector<std::string> rows;
  const auto count =
      store.read(kTable, 0, UINT64_MAX, [&](std::string_view row, const RowDescriptorPtr&) {
        rows.emplace_back(row);
        return absl::OkStatus();
      });
  EXPECT_TRUE(count.ok()) << count.status();
  return rows;
}

TEST(RowStoreThreads, TakesAppendsFromManyThreadsAndReadsMeanwhile) {
  const TemporaryDirectory directory;
  RowStoreOptions options;
  options.segmentBytes = 10'000;
  options.maxOpenTables = 1;  // so that files are closed under the appends of others
  const auto store = *RowStore::open(directory.path(), options);
  const RowDescriptorPtr descriptor = *store->internDescriptor("descriptor");
  constexpr int kThreads = 4;
  constexpr int kAppends = 300;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      for (const std::string& row : readAll(*store)) ASSERT_EQ(row.size(), kRowBytes);
    }
  });
  std::vector<std::thread> writers;
  writers.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    writers.emplace_back([&, thread] {
      for (int index = 0; index < kAppends; ++index) {
        RowFramer framer;
        framer.add(std::string(kRowBytes, static_cast<char>('a' + thread)));
        framer.add(std::string(kRowBytes, static_cast<char>('A' + thread)));
        ASSERT_TRUE(store->append(kTable, *descriptor, framer.rows()).ok());
        ASSERT_TRUE(store->append(kTable + 1, *descriptor, framer.rows()).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  const std::vector<std::string> rows = readAll(*store);
  ASSERT_EQ(rows.size(), size_t{2 * kThreads * kAppends});
  for (size_t index = 0; index < rows.size(); index += 2) {
    EXPECT_EQ(rows[index][0] - 'a', rows[index + 1][0] - 'A');  // appends do not mix
  }
  EXPECT_EQ(store->size(kTable + 1)->rows, rows.size());
}

}  // namespace
}  // namespace penstock::emulator
