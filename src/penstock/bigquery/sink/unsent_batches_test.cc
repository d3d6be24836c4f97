#include "penstock/bigquery/sink/unsent_batches.h"

#include <gtest/gtest.h>

#include <map>

#include "penstock/base/random.h"

namespace penstock::bigquery {
namespace {

using connector::DestinationId;

DestinationId id(uint32_t number) { return DestinationId{number}; }

// BQW-033
TEST(UnsentBatches, NamesTheLargest) {
  UnsentBatches batches;
  EXPECT_EQ(batches.largest(), std::nullopt);
  batches.set(id(0), 100);
  batches.set(id(7), 300);
  batches.set(id(3), 200);
  EXPECT_EQ(batches.largest(), id(7));
  EXPECT_EQ(batches.bytes(), 600U);
  batches.set(id(7), 0);
  EXPECT_EQ(batches.largest(), id(3));
  batches.set(id(0), 1000);
  EXPECT_EQ(batches.largest(), id(0));
  batches.set(id(0), 0);
  batches.set(id(3), 0);
  EXPECT_EQ(batches.largest(), std::nullopt);
  EXPECT_EQ(batches.bytes(), 0U);
}

// BQW-033: among equals nobody is passed over for ever.
TEST(UnsentBatches, OfEqualSizesTheOldestIsFirst) {
  UnsentBatches batches;
  for (uint32_t number : {5U, 1U, 9U}) batches.set(id(number), 4096);
  batches.set(id(5), 4097);  // as good as before
  for (uint32_t number : {5U, 1U, 9U}) {
    EXPECT_EQ(batches.largest(), id(number));
    batches.set(id(number), 0);
  }
}

// BQW-033
TEST(UnsentBatches, IsRightToWithinAnEighthOverAnyHistory) {
  const auto random = base::seededRandom(11);
  UnsentBatches batches;
  std::map<uint32_t, size_t> model;
  for (int step = 0; step < 20000; ++step) {
    const auto number = static_cast<uint32_t>(random->below(50));
    const size_t bytes =
        random->below(4) == 0 ? 0 : random->below(uint64_t{1} << random->below(40));
    batches.set(id(number), bytes);
    model[number] = bytes;
    size_t most = 0;
    size_t total = 0;
    for (const auto& [key, size] : model) {
      most = std::max(most, size);
      total += size;
    }
    ASSERT_EQ(batches.bytes(), total);
    const auto largest = batches.largest();
    ASSERT_EQ(largest.has_value(), most > 0);
    if (most > 0) {
      ASSERT_GE(model[static_cast<uint32_t>(*largest)] * 9, most * 8);
    }
  }
}

}  // namespace
}  // namespace penstock::bigquery
