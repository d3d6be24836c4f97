#include "apps/penstock/text_table.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TextTable, PutsColumnsSideBySideWhereTheyFit) {
  EXPECT_EQ(renderTable({{"name", "n"}, {{"a", "1"}, {"bcdef", "22"}}}, 80),
            "name   n\n"
            "-----  --\n"
            "a      1\n"
            "bcdef  22");
}

TEST(TextTable, GoesRowByRowWhereTheyDoNot) {
  EXPECT_EQ(renderTable({{"name", "n"}, {{"a", "1"}, {"b", "2"}}}, 5),
            "-- row 1\n"
            "name  a\n"
            "n     1\n"
            "-- row 2\n"
            "name  b\n"
            "n     2");
}

TEST(TextTable, CountsCodePointsAndKeepsValuesOnOneLine) {
  EXPECT_EQ(displayWidth("äö"), 2U);
  EXPECT_EQ(renderTable({{"h", "x"}, {{"äö", "1"}}}, 80),
            "h   x\n"
            "--  -\n"
            "äö  1");
  EXPECT_THAT(renderTable({{"h"}, {{"a\nb\x1b[2J"}}}, 80), HasSubstr("a b [2J"));
}

TEST(TextTable, CutsLongValues) {
  const std::string text = renderTable({{"h"}, {{std::string(61, 'a')}}}, 80);
  EXPECT_THAT(text, HasSubstr(std::string(60, 'a') + "…"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(61, 'a'))));
}

TEST(TextTable, OfNoRowsHasHeadings) { EXPECT_EQ(renderTable({{"name"}, {}}, 80), "name\n----"); }

}  // namespace
}  // namespace penstock::command
