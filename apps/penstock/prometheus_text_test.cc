#include "apps/penstock/prometheus_text.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

TEST(PrometheusText, HoldsTheRunAndEverySubtask) {  // BASE-041, BASE-042
  JobMetrics metrics;
  const auto first = metrics.add(0);
  const auto second = metrics.add(1);
  first->counter("numRecordsSend").add(3);
  second->counter("numRecordsSend").add(4);
  second->gauge("inFlightBatches").set(2);
  first->counter("errorClass.UNAVAILABLE.errors").add();
  first->counter("destination.p.d.t.recordsSend").add(5);
  const std::string text = prometheusText(
      {.statistics = {.recordsRead = 7, .lastCheckpointDuration = std::chrono::milliseconds(1'500)},
       .recordsDropped = 1},
      metrics.snapshot());
  EXPECT_THAT(text, HasSubstr("# TYPE penstock_job_records_read_total counter\n"
                              "penstock_job_records_read_total 7\n"));
  EXPECT_THAT(text, HasSubstr("\npenstock_job_records_dropped_total 1\n"));
  EXPECT_THAT(text, HasSubstr("\npenstock_job_last_checkpoint_seconds 1.5\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE penstock_sink_num_records_send_total counter\n"
                              "penstock_sink_num_records_send_total{subtask=\"0\"} 3\n"
                              "penstock_sink_num_records_send_total{subtask=\"1\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE penstock_sink_in_flight_batches gauge\n"
                              "penstock_sink_in_flight_batches{subtask=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("penstock_sink_error_class_errors_total{subtask=\"0\","
                              "error_class=\"UNAVAILABLE\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("penstock_sink_destination_records_send_total{subtask=\"0\","
                              "destination=\"p.d.t\"} 5\n"));
  EXPECT_EQ(metrics.counter("numRecordsSend"), 7U);
  EXPECT_EQ(metrics.gauge("inFlightBatches"), 2);
}

TEST(PrometheusText, EscapesLabels) {
  JobMetrics metrics;
  metrics.add(0)->counter("destination.p.d.\"a\\b\nc.recordsSend").add();
  EXPECT_THAT(prometheusText({}, metrics.snapshot()),
              HasSubstr("destination=\"p.d.\\\"a\\\\b\\nc\"} 1\n"));
}

TEST(PrometheusText, HasAPageWithEveryName) {
  const std::string page = metricsAsMarkdown();
  EXPECT_THAT(page, HasSubstr("| `penstock_sink_error_class_errors_total` | `errorClass.*.errors` "
                              "| `error_class` | counter |"));
  for (const MetricDefinition& definition : sinkMetricCatalog()) {
    EXPECT_THAT(page, HasSubstr(std::string(definition.name)));
  }
}

}  // namespace
}  // namespace penstock::command
