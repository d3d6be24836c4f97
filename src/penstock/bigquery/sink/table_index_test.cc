#include "penstock/bigquery/sink/table_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

using connector::DestinationId;

TEST(TableIndex, FindsWhatWasAdded) {
  constexpr uint32_t kTables = 5000;
  TableIndex index;
  const auto table = [](uint32_t number) {
    return TableName{"p", fmt::format("d{}", number % 7), fmt::format("t{}", number)};
  };
  for (uint32_t number = 0; number < kTables; ++number) {
    EXPECT_EQ(index.find(table(number), [](DestinationId) {}), std::nullopt);
    index.add(table(number), DestinationId{number + 3});
  }
  for (uint32_t number = 0; number < kTables; ++number) {
    std::optional<DestinationId> expected;
    EXPECT_EQ(index.find(table(number), [&](DestinationId id) { expected = id; }),
              DestinationId{number + 3});
    EXPECT_EQ(expected, DestinationId{number + 3});
  }
  EXPECT_EQ(index.find(table(kTables), [](DestinationId) {}), std::nullopt);
}

TEST(TableIndex, EveryPartOfTheNameCounts) {
  TableIndex index;
  index.add({"p", "d", "t"}, DestinationId{1});
  for (const TableName& other :
       {TableName{"q", "d", "t"}, TableName{"p", "e", "t"}, TableName{"p", "d", "u"}}) {
    EXPECT_EQ(index.find(other, [](DestinationId) {}), std::nullopt);
  }
}

}  // namespace
}  // namespace penstock::bigquery
