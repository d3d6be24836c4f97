#include "penstock/bigquery/schema/column_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <string>

namespace penstock::bigquery {
namespace {

using ::testing::HasSubstr;

TEST(ColumnName, DerivesTheNameOfTheRowField) {  // BQT-005, vectors 24 and 74
  EXPECT_EQ(rowFieldName("userName"), "username");
  EXPECT_EQ(rowFieldName("ID"), "id");
  EXPECT_EQ(rowFieldName("_x9"), "_x9");
  EXPECT_EQ(rowFieldName("1st-col"), "col_MXN0LWNvbA");
  EXPECT_EQ(rowFieldName("na\xC3\xAFve"), "col_bmHDr3Zl");
  EXPECT_EQ(rowFieldName("NA\xC3\x8FVE"), "col_bmHDr3Zl");
  EXPECT_EQ(rowFieldName("\xC3\xBE\xC3\xBF"), "col_w77Dvw");
}

TEST(ColumnName, LowersByUnicodeWhateverTheLocaleSays) {  // BQT-005
  EXPECT_EQ(lowerCase("ABC_xyz-09"), "abc_xyz-09");
  EXPECT_EQ(lowerCase("\xC3\x84\xCE\xA3\xD0\x96"), "\xC3\xA4\xCF\x83\xD0\xB6");  // ÄΣЖ
  EXPECT_EQ(lowerCase("\xE6\x97\xA5\xF0\x9F\x98\x80"), "\xE6\x97\xA5\xF0\x9F\x98\x80");
  EXPECT_EQ(lowerCase("\xF0\x90\x90\x80"), "\xF0\x90\x90\xA8");  // Deseret
  const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const locale_t before = ::uselocale(plain);
  EXPECT_EQ(lowerCase("ID\xC3\x84"), "id\xC3\xA4");
  ::uselocale(before);
  ::freelocale(plain);
}

TEST(ColumnName, LeavesInvalidUtf8Alone) {
  for (const char* text : {"\xC3",
                           "a\xFF"
                           "b",
                           "\xE6\x97", "\xC0\x80", "\x80",
                           "\xC3"
                           "A"}) {
    EXPECT_EQ(lowerCase(text).size(), std::string_view(text).size());
  }
  EXPECT_EQ(lowerCase("\xC3"
                      "A"),
            "\xC3"
            "a");
}

TEST(ColumnName, TellsPlainNamesFromFlexibleOnes) {  // BQT-005
  for (const char* plain : {"a", "_", "A9_", "__x"}) EXPECT_TRUE(isPlainName(plain)) << plain;
  for (const char* flexible : {"", "9a", "a-b", "a b", "\xC3\xA4"}) {
    EXPECT_FALSE(isPlainName(flexible)) << flexible;
  }
}

TEST(ColumnName, KnowsWhatBigQueryRefuses) {
  for (const char* name : {"a", "1st-col", "na\xC3\xAFve", "a b", "a:b", "_change", "table_x"}) {
    EXPECT_EQ(whyColumnNameIsRefused(name), "") << name;
  }
  for (const char* name : {"a.b", "a/b", "$x", "a{b}", "a\"b", "a,b", "a(b)"}) {
    EXPECT_THAT(std::string(whyColumnNameIsRefused(name)), HasSubstr("a character")) << name;
  }
  EXPECT_THAT(std::string(whyColumnNameIsRefused("a\nb")), HasSubstr("control"));
  EXPECT_THAT(std::string(whyColumnNameIsRefused("")), HasSubstr("empty"));
  for (const char* name : {"_TABLE_SUFFIX", "_partitiontime", "_CHANGE_TYPE", "__root__x"}) {
    EXPECT_THAT(std::string(whyColumnNameIsRefused(name)), HasSubstr("reserves")) << name;
  }
  EXPECT_EQ(whyColumnNameIsRefused(std::string(300, 'x')), "");
  EXPECT_THAT(std::string(whyColumnNameIsRefused(std::string(301, 'x'))), HasSubstr("300"));
}

}  // namespace
}  // namespace penstock::bigquery
