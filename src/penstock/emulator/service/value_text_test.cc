#include "penstock/emulator/service/value_text.h"

#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

TEST(ValueText, KnowsGeographies) {
  for (const char* good :
       {"POINT(1 2)", " point ( -122.35 47.62 ) ", "POINT EMPTY", "LINESTRING(1 1, 2 1, 3.1 2.88)",
        "POLYGON((0 0, 0 2, 2 2, 0 0), (0 0, 0 1, 1 1, 0 0))", "MULTIPOINT(0 32, 123 9)",
        "MULTIPOINT((0 32), (123 9))", "MULTILINESTRING((2 2, 3 4), (5 6, 7 7))",
        "MULTIPOLYGON(((0 -1, 1 0, 0 1, 0 -1)), ((0 -2, 2 0, 0 2, 0 -2)))",
        "GEOMETRYCOLLECTION(MULTIPOINT(-1 2, 0 12), LINESTRING(-2 4, 0 6))",
        "GEOMETRYCOLLECTION EMPTY", R"({"type":"Point","coordinates":[1,2]})",
        "0101000000000000000000F03F0000000000000040"}) {
    EXPECT_TRUE(isGeographyText(good)) << good;
  }
  for (const char* bad :
       {"", " ", "POINT", "POINT(1)", "POINT(1 2", "POINT(1 2) x", "POINT(1 2, 3 4)", "CIRCLE(1 2)",
        "POINT(181 0)", "POINT(0 91)", "POINT(a b)", "POLYGON(0 0, 1 1)", "LINESTRING()",
        "{\"type\":\"Point\"}", "{\"type\":\"Circle\",\"coordinates\":[]}", "{", "01010"}) {
    EXPECT_FALSE(isGeographyText(bad)) << bad;
  }
}

TEST(ValueText, KnowsIntervals) {
  for (const char* good :
       {"0-0 0 0:0:0", "1-2 3 4:5:6", "-1-2 -3 -4:5:6.789012", "0-0 0 -10:0:0.5",
        "10000-0 3660000 87840000:0:0", "P1Y2M3DT4H5M6.5S", "P1Y", "PT5M", "P-1Y", "P2W"}) {
    EXPECT_TRUE(isIntervalText(good)) << good;
  }
  for (const char* bad : {"", "1", "1-2", "1-2 3", "1-2 3 4:5", "1-2 3 4:5:6.", "a-2 3 4:5:6", "P",
                          "PT", "P1", "P1M1Y", "P1.5Y", "PT1.5H", "1-2 3 4:5:6 x"}) {
    EXPECT_FALSE(isIntervalText(bad)) << bad;
  }
}

}  // namespace
}  // namespace penstock::emulator
