#include "penstock/connector/row_batch.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/connector/row_batch_pool.h"

namespace penstock::connector {
namespace {

/// All framed bytes, as they would go out.
std::string wireBytes(const RowBatch& batch) {
  std::string bytes;
  for (const RowBatch::Slice& slice : batch.slices()) bytes.append(slice.data, slice.size);
  return bytes;
}

/// What a plain encoder makes of the same rows: tag 0x0A, canonical varint length, bytes.
std::string expectedBytes(const std::vector<std::string>& rows) {
  std::string bytes;
  for (const std::string& row : rows) {
    bytes.push_back('\x0A');
    size_t length = row.size();
    for (; length >= 0x80; length >>= 7) bytes.push_back(static_cast<char>(length | 0x80));
    bytes.push_back(static_cast<char>(length));
    bytes += row;
  }
  return bytes;
}

void expectRows(const RowBatch& batch, const std::vector<std::string>& rows) {
  ASSERT_EQ(batch.rowCount(), rows.size());
  size_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(batch.row(i), rows[i]) << i;
    bytes += rows[i].size();
  }
  EXPECT_EQ(batch.rowBytes(), bytes);
  EXPECT_EQ(batch.framedBytes(), expectedBytes(rows).size());
  EXPECT_EQ(wireBytes(batch), expectedBytes(rows));
}

TEST(RowBatch, LaysRowsOutAsARepeatedBytesField) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  const std::vector<std::string> rows = {"a", "", std::string(127, 'x'), std::string(128, 'y'),
                                         std::string(16384, 'z')};
  for (const std::string& row : rows) batch.appendRow(row);
  expectRows(batch, rows);
}

TEST(RowBatch, MovesAGrowingRowIntoALargerChunk) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  batch.appendRow("before");
  RowEncoder& encoder = batch.beginRow();
  std::string row;
  for (int i = 0; i < 200000; ++i) {
    const std::string piece = std::to_string(i);
    encoder.append(piece);
    row += piece;
  }
  EXPECT_EQ(encoder.size(), row.size());
  batch.commitRow();
  batch.appendRow("after");
  expectRows(batch, {"before", row, "after"});
}

TEST(RowBatch, ADiscardedRowLeavesNothing) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  batch.beginRow().append("gone");
  batch.discardRow();
  EXPECT_EQ(pool.chunksInUse(), 0U) << "an empty batch holds no chunk";
  batch.appendRow("a");
  batch.beginRow().append(std::string(100000, 'x'));
  batch.discardRow();
  batch.appendRow("b");
  expectRows(batch, {"a", "b"});
}

TEST(RowBatch, MovesItsLastRowToAnother) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  RowBatch other(pool);
  batch.appendRow("a");
  batch.appendRow(std::string(70000, 'b'));
  batch.moveLastRowTo(other);
  expectRows(batch, {"a"});
  expectRows(other, {std::string(70000, 'b')});
  batch.appendRow("c");
  expectRows(batch, {"a", "c"});
}

TEST(RowBatch, CopiesAllRowsButTheExcluded) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  for (const char* row : {"0", "1", "2", "3", "4"}) batch.appendRow(row);
  RowBatch survivors(pool);
  const std::vector<size_t> excluded = {0, 3};
  batch.copyRowsTo(survivors, excluded);
  expectRows(survivors, {"1", "2", "4"});
}

TEST(RowBatch, ChunksStayUntilTheLastSliceIsDropped) {
  base::ChunkPool pool;
  base::Chunk* held = nullptr;
  {
    RowBatch batch(pool);
    batch.appendRow("kept alive by a transport");
    held = batch.slices()[0].chunk;
    held->addReference();
  }
  EXPECT_EQ(pool.chunksInUse(), 1U);
  EXPECT_EQ(std::string(held->data() + 2, 4), "kept");
  held->release();
  EXPECT_EQ(pool.chunksInUse(), 0U);
}

TEST(RowBatch, KnowsWhereItsRowsCameFrom) {
  base::ChunkPool pool;
  RowBatch batch(pool);
  batch.appendRow("of nowhere");
  for (const uint64_t origin : {17, 18, 19, 40, 7}) batch.appendRow("row", RowOrigin{origin});
  batch.appendRow("of nowhere again");
  batch.appendRow("last", RowOrigin{8});
  const auto origins = [](const RowBatch& of) {
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < of.rowCount(); ++i) {
      numbers.push_back(static_cast<uint64_t>(of.originOf(i)));
    }
    return numbers;
  };
  EXPECT_EQ(origins(batch), (std::vector<uint64_t>{0, 17, 18, 19, 40, 7, 0, 8}));

  RowBatch survivors(pool);
  const std::vector<size_t> excluded = {2, 4};
  batch.copyRowsTo(survivors, excluded);
  EXPECT_EQ(origins(survivors), (std::vector<uint64_t>{0, 17, 19, 7, 0, 8}));

  RowBatch next(pool);
  batch.moveLastRowTo(next);
  EXPECT_EQ(origins(next), std::vector<uint64_t>{8});
  next.appendRow("goes on", RowOrigin{9});
  EXPECT_EQ(origins(next), (std::vector<uint64_t>{8, 9}));
  batch.appendRow("elsewhere", RowOrigin{3});
  EXPECT_EQ(origins(batch), (std::vector<uint64_t>{0, 17, 18, 19, 40, 7, 0, 3}));
  batch.clear();
  batch.appendRow("afresh");
  EXPECT_EQ(origins(batch), std::vector<uint64_t>{0});
}

TEST(RowBatch, AnyMixOfOperationsKeepsTheLayout) {
  base::ChunkPool pool;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto random = base::seededRandom(seed);
    RowBatch batch(pool);
    std::vector<std::string> rows;
    for (int step = 0; step < 60; ++step) {
      const size_t length = random->below(random->chance(0.1) ? 200000 : 300);
      const std::string row(length, static_cast<char>('a' + random->below(26)));
      RowEncoder& encoder = batch.beginRow(random->chance(0.5) ? random->below(20000) : 0);
      for (size_t at = 0; at < row.size();) {
        const size_t piece = std::min<size_t>(1 + random->below(5000), row.size() - at);
        encoder.append(std::string_view(row).substr(at, piece));
        at += piece;
      }
      if (random->chance(0.2)) {
        batch.discardRow();
      } else {
        batch.commitRow();
        rows.push_back(row);
      }
    }
    expectRows(batch, rows);
    batch.clear();
    EXPECT_EQ(pool.chunksInUse(), 0U);
  }
}

TEST(RowBatch, TakesManyRowsAsOneByOne) {
  base::ChunkPool pool;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto random = base::seededRandom(seed);
    std::vector<std::string> rows(random->below(600));
    for (std::string& row : rows) {
      row.assign(random->below(random->chance(0.02) ? 100000 : 300),
                 static_cast<char>('a' + random->below(26)));
    }
    const std::vector<std::string_view> views(rows.begin(), rows.end());
    const size_t most = random->below(200000);
    RowBatch batch(pool);
    const size_t taken = batch.appendRows(views, RowOrigin{100}, most);
    rows.resize(taken);
    expectRows(batch, rows);
    if (taken < views.size()) {
      EXPECT_GT(batch.framedBytes(), most);
    }
    if (taken == 0) continue;
    EXPECT_EQ(batch.originOf(taken - 1), RowOrigin{100 + taken - 1});
    RowBatch next(pool);
    batch.moveLastRowTo(next);
    if (taken < views.size()) {
      EXPECT_LE(batch.framedBytes(), most) << "only the last row went beyond";
    }
    EXPECT_EQ(next.row(0), rows.back());
    rows.pop_back();
    expectRows(batch, rows);
  }
}

TEST(RowBatchPool, GivesBatchesBackEmptyAndTheirChunksAtOnce) {
  base::ChunkPool chunks;
  const auto pool = RowBatchPool::create(chunks);
  auto batch = pool->acquire();
  batch->appendRow("a");
  const RowBatch* address = batch.get();
  batch.reset();
  EXPECT_EQ(chunks.chunksInUse(), 0U);
  const auto again = pool->acquire();
  EXPECT_EQ(again.get(), address);
  EXPECT_TRUE(again->empty());
}

TEST(RowBatchPool, ManyBatchesComeBackAndServeAgain) {
  base::ChunkPool chunks;
  auto pool = RowBatchPool::create(chunks);
  std::vector<std::shared_ptr<RowBatch>> batches(4 * RowBatchPool::kMaxFree);
  std::set<const RowBatch*> addresses;
  for (auto& batch : batches) {
    batch = pool->acquire();
    batch->appendRow("one", RowOrigin{7});
    addresses.insert(batch.get());
  }
  EXPECT_EQ(addresses.size(), batches.size());
  for (auto& batch : batches) batch.reset();
  EXPECT_EQ(chunks.chunksInUse(), 0U);
  for (auto& batch : batches) {
    batch = pool->acquire();
    EXPECT_EQ(addresses.count(batch.get()), 1U) << "none is made while one is free";
    batch->appendRow("two", RowOrigin{9});
    EXPECT_EQ(batch->row(0), "two");
    EXPECT_EQ(batch->originOf(0), RowOrigin{9});
  }
  pool.reset();  // what is held keeps the pool in being
  EXPECT_EQ(batches.back()->row(0), "two");
}

}  // namespace
}  // namespace penstock::connector
