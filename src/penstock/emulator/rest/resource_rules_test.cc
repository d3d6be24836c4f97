#include "penstock/emulator/rest/resource_rules.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penstock::emulator {
namespace {

using nlohmann::json;

TEST(ResourceRules, SpellsLocationsInOneWay) {
  for (const auto& [given, shown] :
       std::vector<std::pair<std::string, std::string>>{{"US", "US"},
                                                        {"us", "US"},
                                                        {"Eu", "EU"},
                                                        {"europe-west1", "europe-west1"},
                                                        {"EUROPE-WEST1", "europe-west1"},
                                                        {"aws-us-east-1", "aws-us-east-1"}}) {
    EXPECT_EQ(canonicalLocation(given).value(), shown);
  }
  for (const char* bad : {"", " ", "over there", "us/east", "\xC3\xA9u"}) {
    EXPECT_FALSE(canonicalLocation(bad).ok()) << bad;
  }
}

TEST(ResourceRules, TakesTheNamesThatDatasetsAndTablesCanHave) {
  for (const char* good : {"d", "D_1", "_hidden", "1"}) {
    EXPECT_TRUE(checkDatasetId(good).ok()) << good;
  }
  for (const char* bad : {"", "a-b", "a.b", "a b", "\xC3\xA9"}) {
    EXPECT_FALSE(checkDatasetId(bad).ok()) << bad;
  }
  for (const char* good : {"t", "a-b", "a b", "\xC3\xA9t\xC3\xA9", "t_20260101"}) {
    EXPECT_TRUE(checkTableId(good).ok()) << good;
  }
  for (const char* bad : {"", "a.b", "a/b", "a$20260101", "a\nb"}) {
    EXPECT_FALSE(checkTableId(bad).ok()) << bad;
  }
  EXPECT_TRUE(checkDatasetId(std::string(1024, 'd')).ok());
  EXPECT_FALSE(checkDatasetId(std::string(1025, 'd')).ok());
  EXPECT_TRUE(checkTableId(std::string(1024, 't')).ok());
  EXPECT_FALSE(checkTableId(std::string(1025, 't')).ok());
}

TEST(ResourceRules, TakesTheLabelsThatResourcesCanHave) {
  EXPECT_TRUE(checkLabels(json::object()).ok());
  EXPECT_TRUE(checkLabels({{"a", ""}, {"b-1_c", "1-x_"}, {"\xE6\x9D\xB1", "\xC3\xA9"}}).ok());
  for (const json& bad :
       {json({{"", "x"}}), json({{"A", "x"}}), json({{"1a", "x"}}), json({{"-a", "x"}}),
        json({{"a.b", "x"}}), json({{"\xC3\x89", "x"}}), json({{"a", "X"}}), json({{"a", nullptr}}),
        json({{"a", 1}}), json("a"), json({{std::string(64, 'a'), "x"}})}) {
    EXPECT_FALSE(checkLabels(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace penstock::emulator
