#include "penstock/base/chunk_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace penstock::base {
namespace {

TEST(ChunkPool, GivesTheSmallestClassThatFits) {
  ChunkPool pool;
  const std::pair<size_t, size_t> cases[] = {{1, ChunkPool::kSmallest},
                                             {ChunkPool::kSmallest, ChunkPool::kSmallest},
                                             {ChunkPool::kSmallest + 1, ChunkPool::kMiddle},
                                             {ChunkPool::kLargestPooled, ChunkPool::kLargestPooled},
                                             {1'000'000, 1'000'000}};
  for (const auto& [asked, capacity] : cases) {
    Chunk* chunk = pool.acquire(asked);
    EXPECT_EQ(chunk->capacity(), capacity);
    std::fill_n(chunk->data(), chunk->capacity(), 'x');
    chunk->release();
  }
}

TEST(ChunkPool, RecyclesOnlyAfterTheLastReference) {
  ChunkPool pool;
  Chunk* chunk = pool.acquire(100);
  chunk->addReference();
  chunk->release();
  EXPECT_EQ(pool.chunksInUse(), 1U);
  Chunk* other = pool.acquire(100);
  EXPECT_NE(other, chunk) << "a transport may still be reading the first";
  chunk->release();
  other->release();
  EXPECT_EQ(pool.chunksInUse(), 0U);
  Chunk* again = pool.acquire(100);
  EXPECT_TRUE(again == chunk || again == other);
  again->release();
}

TEST(ChunkPool, CutsManyChunksFromSlabsAndGivesEmptySlabsBack) {
  ChunkPool pool;
  std::vector<Chunk*> chunks;
  size_t bytes = 0;
  const auto take = [&] {
    for (const size_t capacity :
         {ChunkPool::kSmallest, ChunkPool::kMiddle, ChunkPool::kLargestPooled}) {
      chunks.push_back(pool.acquire(capacity));
      ASSERT_EQ(chunks.back()->capacity(), capacity);
      bytes += capacity;
    }
  };
  while (bytes < ChunkPool::kHeapBytes / 2) take();
  EXPECT_EQ(pool.slabs(), 0U) << "a few come from the heap";
  while (bytes < 2 * ChunkPool::kMaxFreeBytes) take();
  EXPECT_GE(pool.slabs(), (2 * ChunkPool::kMaxFreeBytes - ChunkPool::kHeapBytes) >> 21);

  // Nobody writes into another's: each holds what was written into it to the end.
  for (size_t index = 0; index < chunks.size(); ++index) {
    std::fill_n(chunks[index]->data(), chunks[index]->capacity(), static_cast<char>(index));
  }
  for (size_t index = 0; index < chunks.size(); ++index) {
    const char* const data = chunks[index]->data();
    ASSERT_EQ(std::count(data, data + chunks[index]->capacity(), static_cast<char>(index)),
              chunks[index]->capacity());
  }

  for (Chunk* chunk : chunks) chunk->release();
  EXPECT_EQ(pool.chunksInUse(), 0U);
  EXPECT_LE(pool.slabs(), (ChunkPool::kMaxFreeBytes >> 21) + 3) << "one more for each size";
  const size_t kept = pool.slabs();
  for (Chunk*& chunk : chunks) chunk = pool.acquire(ChunkPool::kMiddle);
  EXPECT_GT(pool.slabs(), kept);
  for (Chunk* chunk : chunks) chunk->release();
}

TEST(ChunkPool, TakesChunksBackOnAnyThread) {
  ChunkPool pool;
  constexpr int kRounds = 5'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&pool] {
      for (int round = 0; round < kRounds; ++round) {
        Chunk* chunk = pool.acquire(1 + static_cast<size_t>(round) * 7 % 70'000);
        chunk->data()[0] = 'a';
        chunk->release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.chunksInUse(), 0U);
}

}  // namespace
}  // namespace penstock::base
