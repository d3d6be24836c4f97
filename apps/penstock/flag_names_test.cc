#include "apps/penstock/flag_names.h"

#include <gtest/gtest.h>

#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::command {
namespace {

TEST(FlagNames, TurnsEveryOptionOfTheRegistryIntoItsFlag) {
  int seen = 0;
  for (const auto& definition : bigquery::sinkOptionSet().definitions()) {
    const std::string name = definition.name(base::OptionSpelling::kBuilder);
    if (name == "location") continue;  // a word like any other
    ++seen;
    EXPECT_EQ(withFlagNames(name + " is too small; see " + name + "."),
              definition.name(base::OptionSpelling::kFlag) + " is too small; see " +
                  definition.name(base::OptionSpelling::kFlag) + ".");
  }
  EXPECT_GT(seen, 10);
  EXPECT_EQ(withFlagNames("(ignoreUnknownFields would drop it)"),
            "(--ignore-unknown-fields would drop it)");
  EXPECT_EQ(withFlagNames("(ignoreFieldsWithoutColumn would drop it)"),
            "(--ignore-unknown-fields would drop it)");
  EXPECT_EQ(withFlagNames("named in jsonFieldPaths or geographyFieldPaths"),
            "named in --json-field-paths or --geography-field-paths");
}

TEST(FlagNames, LeavesWordsAndDataAlone) {
  for (const char* text :
       {"the location of the dataset", "root.maxRetryDuration: the table has no such column",
        "column \"writeMethod\" is REQUIRED", "found 'caFile'", "myCaFile", "caFile2", "caFile_x",
        "/tmp/caFile", "--ca-file", ""}) {
    EXPECT_EQ(withFlagNames(text), text);
  }
}

TEST(FlagNames, TakesOtherNamesToo) {
  constexpr FlagName kNames[] = {{"restPort", "--rest-port"}, {"host", "--host"}};
  EXPECT_EQ(withFlagNames("host localhost with restPort 80 (myhost)", kNames),
            "--host localhost with --rest-port 80 (myhost)");
}

}  // namespace
}  // namespace penstock::command
