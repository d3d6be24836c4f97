// How a load is watched while it runs: metrics for Prometheus, the statistics document.
#include <httplib.h>

#include <csignal>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Loads that hang: no append is answered.
class CommandWatch : public CommandWithFaults {
 protected:
  uint64_t hang() {
    return plant({.method = "AppendRows", .times = 0, .action = emulator::FaultAction::kHang});
  }
  /// The newest document in the file; null before there is one.
  nlohmann::json document() {
    return nlohmann::json::parse(contentsOf(folder_.path("stats.json")), nullptr, false);
  }
};

TEST_F(CommandWatch, ServesMetricsWhileItRuns) {
  const uint64_t fault = hang();
  RunningCommand load(loadArguments({"--metrics-port", "0", "--per-destination-metrics"}));
  ASSERT_TRUE(load.waitFor([&] { return emulator_->faults().struck(fault) > 0; }));
  const std::string text = load.errorText();
  const std::string before = "metrics on http://127.0.0.1:";
  ASSERT_THAT(text, HasSubstr(before));
  httplib::Client client("127.0.0.1", std::stoi(text.substr(text.find(before) + before.size())));
  const auto answer = client.Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->body,
              AllOf(HasSubstr("\npenstock_job_records_read_total 1\n"),
                    HasSubstr("penstock_sink_num_records_send_total{subtask=\"0\"} 1\n"),
                    HasSubstr("penstock_sink_in_flight_batches{subtask=\"0\"} 1\n")));
  emulator_->faults().clear();
}

TEST_F(CommandWatch, AStatisticsDocumentTellsWhatAStuckLoadWaitsFor) {
  hang();
  RunningCommand load(
      loadArguments({"--stats-interval", "10ms", "--stats-file", folder_.path("stats.json")}));
  nlohmann::json seen;
  ASSERT_TRUE(load.waitFor([&] {
    seen = document();
    if (!seen.is_object() || seen["connections"].empty()) return false;
    return seen["connections"][0]["oldest_unanswered_seconds"].is_number() &&
           !seen["sinks"].empty() && seen["sinks"][0].value("operation", "") == "flush";
  })) << load.wait().error;
  EXPECT_EQ(seen["version"], 1);
  EXPECT_EQ(seen["table"], "p.d.t");
  EXPECT_EQ(seen["job"]["records_read"], 1);
  EXPECT_EQ(seen["connections"][0]["in_flight_requests"], 1);
  EXPECT_EQ(seen["connections"][0]["state"], "open");
  const nlohmann::json& sink = seen["sinks"][0];
  EXPECT_EQ(sink["destinations"][0]["table"], "p.d.t");
  EXPECT_EQ(sink["destinations"][0]["unanswered_batches"], 1);
  EXPECT_EQ(sink["metrics"]["numRecordsSend"], 1);
  EXPECT_LT(sink["age_seconds"].get<double>(), 60.0) << "a load that waits still answers";
}

TEST_F(CommandWatch, WithoutAFileItGoesToStandardError) {
  const CommandResult result = runCommand(loadArguments({"--stats-interval", "1ms"}));
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("{\"version\":1,\"time\":\""));
  EXPECT_EQ(lastLine(result.out)["result"], "loaded");
  EXPECT_THAT(runCommand(loadArguments()).error, Not(HasSubstr("\"version\""))) << "off by default";
}

TEST_F(CommandWatch, RefusesWhatItCannotServeOrWriteNamingTheFlag) {
  const std::pair<std::vector<std::string>, std::string> usage[] = {
      {{"--metrics-port", "65536"}, "--metrics-port must be 0 to 65535: '65536'"},
      {{"--metrics-host", "0.0.0.0"}, "--metrics-host needs --metrics-port ('0.0.0.0')"},
      {{"--metrics-port", "abc"}, "--metrics-port takes a whole number: 'abc'"},
      {{"--stats-file", "x"}, "--stats-file needs --stats-interval"},
      {{"--stats-interval", "5"}, "--stats-interval"},
      {{"--stats-interval", "0 s"}, "--stats-interval must be >= 1 ms"}};
  for (const auto& [flags, message] : usage) {
    const CommandResult result = runCommand(loadArguments(flags));
    EXPECT_EQ(result.exitCode, 2) << message;
    EXPECT_THAT(result.error, HasSubstr(message));
  }
  const std::string rest = emulator_->restEndpoint();
  const std::string port = rest.substr(rest.rfind(':') + 1);
  const CommandResult inUse = runCommand(loadArguments({"--metrics-port", port}));
  EXPECT_EQ(inUse.exitCode, 3);
  EXPECT_THAT(inUse.error, AllOf(HasSubstr("--metrics-port " + port), HasSubstr("in use")));
  const CommandResult unwritable = runCommand(loadArguments(
      {"--stats-interval", "1ms", "--stats-file", folder_.path("missing/stats.json")}));
  EXPECT_EQ(unwritable.exitCode, 3);
  EXPECT_THAT(unwritable.error, HasSubstr("--stats-file"));
}

}  // namespace
}  // namespace penstock::command
