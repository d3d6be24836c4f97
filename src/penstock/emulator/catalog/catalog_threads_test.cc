#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

TEST(CatalogThreads, SeesWholeTablesWhileOthersMakeAndDropThem) {
  constexpr int kWriters = 3;
  constexpr int kRounds = 40;
  const TemporaryDirectory directory;
  Schema schema;
  schema.fields.resize(2);
  schema.fields[0].name = "a";
  schema.fields[1].name = "b";
  {
    auto catalog = Catalog::open(directory.path(), base::systemClock()).value();
    ASSERT_TRUE(catalog->createDataset({{"p", "d"}}).ok());
    ASSERT_TRUE(catalog->createTable({{"p", "d", "kept"}, schema, "{}"}).ok());
  }
  // Opened anew, so that the kept table is read from its line by whoever comes first.
  auto catalog = Catalog::open(directory.path(), base::systemClock()).value();

  std::atomic<int> writing = kWriters;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      const TableReference own{"p", "d", "t" + std::to_string(writer)};
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(catalog->createTable({own, schema, "{}"}).ok());
        EXPECT_TRUE(catalog->deleteTable(own).ok());
      }
      EXPECT_TRUE(catalog->createTable({own, schema, "{}"}).ok());
      --writing;
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      while (writing > 0) {
        EXPECT_EQ(catalog->findTable({"p", "d", "kept"})->schema, schema);
        const auto tables = catalog->listTables({"p", "d"});
        for (const auto& table : *tables) EXPECT_EQ(table->schema, schema);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<uint64_t> ids = catalog->tableIds();
  EXPECT_EQ(std::set<uint64_t>(ids.begin(), ids.end()).size(), kWriters + 1U);
}

TEST(CatalogThreads, LosesNoChangeWhenManyChangeOneTable) {
  constexpr int kWriters = 3;
  constexpr int kRounds = 50;
  const TemporaryDirectory directory;
  auto catalog = Catalog::open(directory.path(), base::systemClock()).value();
  const TableReference table{"p", "d", "t"};
  ASSERT_TRUE(catalog->createDataset({{"p", "d"}}).ok());
  ASSERT_TRUE(catalog->createTable({table, {}, "0"}).ok());

  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&] {
      for (int done = 0; done < kRounds;) {
        const auto seen = catalog->findTable(table);
        const std::string next = std::to_string(std::stoi(seen->properties) + 1);
        const auto changed = catalog->updateTable(*seen, {table, seen->schema, next});
        if (changed.ok()) {
          ++done;
        } else {
          EXPECT_TRUE(absl::IsAborted(changed.status())) << changed.status();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(catalog->findTable(table)->properties, std::to_string(kWriters * kRounds));
}

}  // namespace
}  // namespace penstock::emulator
