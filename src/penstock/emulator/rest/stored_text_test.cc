#include "penstock/emulator/rest/stored_text.h"

#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

TEST(StoredText, ShowsIntervalsInOneForm) {
  EXPECT_EQ(shownInterval("1-2 3 4:5:6"), "1-2 3 4:5:6");
  EXPECT_EQ(shownInterval("0-0 0 0:0:0"), "0-0 0 0:0:0");
  EXPECT_EQ(shownInterval("-1-2 -3 -4:05:06.5"), "-1-2 -3 -4:5:6.500");
  EXPECT_EQ(shownInterval("0-14 0 0:90:75"), "1-2 0 1:31:15");
  EXPECT_EQ(shownInterval("0-0 0 0:0:0.123456"), "0-0 0 0:0:0.123456");
  EXPECT_EQ(shownInterval("0-0 0 0:0:0.123456789"), "0-0 0 0:0:0.123456789");
  EXPECT_EQ(shownInterval("10000-0 3660000 87840000:0:0"), "10000-0 3660000 87840000:0:0");
  EXPECT_EQ(shownInterval("P1Y2M3DT4H5M6.5S"), "1-2 3 4:5:6.500");
  EXPECT_EQ(shownInterval("P2W"), "0-0 14 0:0:0");
  EXPECT_EQ(shownInterval("PT-90M"), "0-0 0 -1:30:0");
  EXPECT_EQ(shownInterval("P-1Y"), "-1-0 0 0:0:0");
}

TEST(StoredText, LeavesAnIntervalThatItDoesNotKnowAsItCame) {
  for (const char* text :
       {"", "1", "1-2 3", "P1H", "PT1Y", "P1", "P1.5D", "1-2 3 4:5:6 x", "P9999999999999Y"}) {
    EXPECT_EQ(shownInterval(text), text);
  }
}

TEST(StoredText, ShowsJsonWithoutBlanks) {
  EXPECT_EQ(shownJson(" {\"a b\" : [ 1,\n\tnull ] } "), "{\"a b\":[1,null]}");
  EXPECT_EQ(shownJson(R"({ "q\" : " : "\\" , "x": 1 })"), R"({"q\" : ":"\\","x":1})");
  EXPECT_EQ(shownJson("5"), "5");
  EXPECT_EQ(shownJson("\"\\"), "\"\\");  // not JSON: nothing is lost
}

}  // namespace
}  // namespace penstock::emulator
