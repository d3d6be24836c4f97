#include "apps/penstock/statistics_document.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "penstock/base/duration.h"

namespace penstock::command {
namespace {

using Json = nlohmann::ordered_json;

Json textOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// "2026-11-30T01:02:03Z".
std::string utc(base::WallTime time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(
                         std::chrono::time_point_cast<std::chrono::system_clock::duration>(time))));
}

Json jobJson(const JobProgress& progress) {
  const runtime::ExecutionStatistics& statistics = progress.statistics;
  return {{"records_read", statistics.recordsRead},
          {"bytes_read", statistics.bytesRead},
          {"records_dropped", progress.recordsDropped},
          {"records_of_earlier_runs", statistics.recordsRestored},
          {"checkpoints", statistics.checkpointsCompleted},
          {"last_checkpoint_seconds", base::inSeconds(statistics.lastCheckpointDuration)}};
}

Json latencyJson(const bigquery::LatencyHistogram& latency) {
  return {{"count", latency.count()},
          {"mean_seconds", base::inSeconds(latency.mean())},
          {"p50_seconds", base::inSeconds(latency.quantile(0.5))},
          {"p99_seconds", base::inSeconds(latency.quantile(0.99))},
          {"max_seconds", base::inSeconds(latency.longest())}};
}

Json connectionJson(const bigquery::ConnectionStatistics& connection) {
  Json json = {{"id", connection.id},
               {"location", textOrNull(connection.location)},
               {"dedicated", connection.dedicated},
               {"state", connection.state},
               {"appenders", connection.appenders},
               {"in_flight_requests", connection.inflightRequests},
               {"in_flight_bytes", connection.inflightBytes},
               {"waiting_requests", connection.waitingRequests},
               {"delayed_requests", connection.delayedRequests},
               {"answers", connection.answers},
               {"resends", connection.resends},
               {"reconnects", connection.reconnects},
               {"last_end", textOrNull(connection.lastEnd)},
               {"seconds_since_progress", base::inSeconds(connection.sinceProgress)},
               {"oldest_unanswered_seconds", nullptr},
               {"answer_latency", latencyJson(connection.latency)}};
  if (connection.oldestSent) {
    json["oldest_unanswered_seconds"] = base::inSeconds(*connection.oldestSent);
  }
  return json;
}

Json destinationJson(const bigquery::DestinationStatistics& destination) {
  return {{"table", destination.table},
          {"state", destination.state},
          {"buffered_rows", destination.bufferedRows},
          {"buffered_bytes", destination.bufferedBytes},
          {"unanswered_batches", destination.unansweredBatches},
          {"unanswered_bytes", destination.unansweredBytes},
          {"repair_attempt", destination.repairAttempt},
          {"last_failure", textOrNull(destination.lastFailure)}};
}

Json sinkJson(const bigquery::WriterStatistics& writer, size_t subtask, base::MonotonicTime now) {
  Json json = {{"subtask", subtask}, {"age_seconds", nullptr}};
  if (writer.taken == base::MonotonicTime{}) return json;
  json["age_seconds"] = base::inSeconds(now - writer.taken);
  json["operation"] = writer.operation;
  json["open_questions"] = writer.openQuestions;
  json["failure"] = textOrNull(writer.failure);
  json["destinations"] = Json::array();
  for (const auto& destination : writer.destinations) {
    json["destinations"].push_back(destinationJson(destination));
  }
  json["destinations_left_out"] = writer.destinationsLeftOut;
  return json;
}

Json metricsJson(const JobMetrics::Subtask& subtask) {
  Json json = Json::object();
  for (const auto& [name, value] : subtask.metrics.counters) json[name] = value;
  for (const auto& [name, value] : subtask.metrics.gauges) json[name] = value;
  return json;
}

Json sinksJson(const JobStatistics& statistics) {
  Json sinks = Json::array();
  for (size_t subtask = 0; subtask < statistics.writers.size(); ++subtask) {
    Json sink = sinkJson(statistics.writers[subtask], subtask, statistics.now);
    for (const JobMetrics::Subtask& each : statistics.subtasks) {
      if (each.index == static_cast<int>(subtask)) sink["metrics"] = metricsJson(each);
    }
    sinks.push_back(std::move(sink));
  }
  return sinks;
}

}  // namespace

std::string statisticsDocument(const JobStatistics& statistics) {
  Json json = {{"version", 1},
               {"time", utc(statistics.time)},
               {"running_seconds", base::inSeconds(statistics.running)},
               {"target", statistics.target},
               {"table", statistics.table},
               {"job", jobJson(statistics.progress)},
               {"sinks", sinksJson(statistics)},
               {"connections", Json::array()}};
  for (const auto& connection : statistics.pool.connections) {
    json["connections"].push_back(connectionJson(connection));
  }
  json["pool_size"] = statistics.pool.connections.size();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::command
