#include "penstock/emulator/rest/insert_ids.h"

#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

TEST(InsertIds, RemembersARowForAMinute) {
  InsertIds ids;
  EXPECT_TRUE(ids.remember(1, "a", 1000));
  EXPECT_FALSE(ids.remember(1, "a", 1000));
  EXPECT_FALSE(ids.remember(1, "a", 60999));
  EXPECT_TRUE(ids.remember(1, "a", 61000));
  EXPECT_FALSE(ids.remember(1, "a", 61001));
}

TEST(InsertIds, KeepsTablesApart) {
  InsertIds ids;
  EXPECT_TRUE(ids.remember(1, "1/a", 0));
  EXPECT_TRUE(ids.remember(11, "/a", 0));
  EXPECT_TRUE(ids.remember(2, "1/a", 0));
}

TEST(InsertIds, ForgetsARowThatCouldNotBeStored) {
  InsertIds ids;
  EXPECT_TRUE(ids.remember(1, "a", 0));
  ids.forget(1, "a");
  EXPECT_TRUE(ids.remember(1, "a", 10));
  // What is left of the first time does not end the second one's minute.
  EXPECT_FALSE(ids.remember(1, "a", 60005));
}

TEST(InsertIds, BoundsWhatItRemembers) {
  InsertIds ids(3);
  for (const char* id : {"a", "b", "c", "d"}) EXPECT_TRUE(ids.remember(1, id, 0));
  EXPECT_FALSE(ids.remember(1, "d", 0));
  EXPECT_TRUE(ids.remember(1, "a", 0));
}

}  // namespace
}  // namespace penstock::emulator
