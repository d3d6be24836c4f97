#include "apps/penstock/statistics_document.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace penstock::command {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A load whose only connection waits for an answer.
JobStatistics stuck() {
  JobStatistics statistics;
  statistics.time = base::WallTime(1'796'000'523s);
  statistics.now = base::MonotonicTime(1h);
  statistics.running = 90s;
  statistics.target = "BigQuery";
  statistics.table = "p.d.t";
  statistics.progress = {.statistics = {.recordsRead = 7, .bytesRead = 70}, .recordsDropped = 1};
  JobMetrics metrics;
  metrics.add(0)->counter("numRecordsSend").add(5);
  statistics.subtasks = metrics.snapshot();
  bigquery::WriterStatistics writer;
  writer.taken = base::MonotonicTime(1h - 2s);
  writer.operation = "flush";
  writer.destinations.push_back({.table = "p.d.t",
                                 .state = "open",
                                 .bufferedRows = 2,
                                 .unansweredBatches = 1,
                                 .repairAttempt = 3,
                                 .lastFailure = "UNAVAILABLE: no"});
  statistics.writers = {writer, {}};
  bigquery::ConnectionStatistics connection;
  connection.id = 4;
  connection.location = "US";
  connection.state = "open";
  connection.inflightRequests = 1;
  connection.reconnects = 2;
  connection.sinceProgress = 30s;
  connection.oldestSent = 31s;
  connection.latency.add(20ms);
  statistics.pool.connections = {connection};
  return statistics;
}

TEST(StatisticsDocument, IsOneLineThatTellsWhyNothingMoves) {
  const std::string text = statisticsDocument(stuck());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["time"], "2026-11-30T01:02:03Z");
  EXPECT_EQ(json["running_seconds"], 90.0);
  EXPECT_EQ(json["job"]["records_read"], 7);
  EXPECT_EQ(json["job"]["records_dropped"], 1);
  EXPECT_EQ(json["pool_size"], 1);
  const auto& connection = json["connections"][0];
  EXPECT_EQ(connection["in_flight_requests"], 1);
  EXPECT_EQ(connection["seconds_since_progress"], 30.0);
  EXPECT_EQ(connection["oldest_unanswered_seconds"], 31.0);
  EXPECT_EQ(connection["reconnects"], 2);
  EXPECT_TRUE(connection["last_end"].is_null());
  EXPECT_EQ(connection["answer_latency"]["max_seconds"], 0.02);
  const auto& sink = json["sinks"][0];
  EXPECT_EQ(sink["age_seconds"], 2.0);
  EXPECT_EQ(sink["operation"], "flush");
  EXPECT_EQ(sink["metrics"]["numRecordsSend"], 5);
  EXPECT_EQ(sink["destinations"][0]["repair_attempt"], 3);
  EXPECT_EQ(sink["destinations"][0]["last_failure"], "UNAVAILABLE: no");
  EXPECT_TRUE(json["sinks"][1]["age_seconds"].is_null()) << "one that has not answered yet";
}

/// Every key of `json` on any level.
void collectKeys(const nlohmann::json& json, std::vector<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.push_back(key);
    if (value.is_structured() && key != "metrics") collectKeys(value, keys);
  }
}

TEST(StatisticsDocument, EveryFieldIsDocumented) {
  std::ifstream file(PENSTOCK_SOURCE_DIR "/docs/reference/statistics.md");
  std::ostringstream page;
  page << file.rdbuf();
  std::vector<std::string> keys;
  collectKeys(nlohmann::json::parse(statisticsDocument(stuck())), keys);
  EXPECT_GT(keys.size(), 40U);
  for (const std::string& key : keys) {
    EXPECT_THAT(page.str(), HasSubstr("`" + key + "`"));
  }
}

}  // namespace
}  // namespace penstock::command
