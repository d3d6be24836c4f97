#include "apps/penstock/load_summary.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace penstock::command {
namespace {

using namespace std::chrono_literals;

LoadSummary loaded() {
  return {.result = LoadSummary::Result::kLoaded,
          .target = "BigQuery",
          .table = "p.d.t",
          .rowsWritten = 1'234'567,
          .rowsDropped = 1,
          .bytesRead = 200'000'000,
          .checkpoints = 3,
          .elapsed = 2s};
}

TEST(LoadSummary, SaysInOneSentenceWhatWasLoaded) {
  EXPECT_EQ(
      summaryText(loaded()),
      "loaded 1,234,567 rows into p.d.t (200.0 MB in 2.0 s, 617,283 rows/s); 1 bad record dropped");
}

TEST(LoadSummary, OfAContinuedLoadTellsTheRunsApart) {
  LoadSummary summary = loaded();
  summary.rowsRestored = 20'000;
  EXPECT_EQ(summaryText(summary),
            "loaded 1,234,567 rows into p.d.t in this run (200.0 MB in 2.0 s, 617,283 rows/s), "
            "after 20,000 rows in earlier runs; 1 bad record dropped");
}

TEST(LoadSummary, OfAFailureClaimsNoMoreThanIsKnown) {
  LoadSummary summary = loaded();
  summary.result = LoadSummary::Result::kFailed;
  EXPECT_THAT(summaryText(summary),
              ::testing::StartsWith("failed after handing over 1,234,567 rows into p.d.t"));
  EXPECT_THAT(summaryText(summary), ::testing::HasSubstr("the last of them may not be written"));
}

TEST(LoadSummary, IsOneLineOfJson) {
  LoadSummary summary = loaded();
  summary.result = LoadSummary::Result::kFailed;
  summary.exitCode = 3;
  summary.error = "a\nb \xff";
  const std::string text = summaryJson(summary);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["result"], "failed");
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["rows"], 1'234'567);
  EXPECT_EQ(json["rows_dropped"], 1);
  EXPECT_EQ(json["input_bytes"], 200'000'000);
  EXPECT_EQ(json["seconds"], 2.0);
  EXPECT_EQ(json["rows_per_second"], 617'283.5);
  EXPECT_EQ(json["checkpoints"], 3);
  EXPECT_THAT(json["error"].get<std::string>(), ::testing::HasSubstr("a\nb"));
  EXPECT_TRUE(nlohmann::json::parse(summaryJson(loaded()))["error"].is_null());
}

TEST(LoadSummary, NothingTookNoTime) { EXPECT_EQ(LoadSummary().rowsPerSecond(), 0); }

TEST(LoadSummary, GroupsDigits) {
  EXPECT_EQ(withThousands(0), "0");
  EXPECT_EQ(withThousands(999), "999");
  EXPECT_EQ(withThousands(1000), "1,000");
  EXPECT_EQ(withThousands(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace penstock::command
