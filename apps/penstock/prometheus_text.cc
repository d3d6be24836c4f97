#include "apps/penstock/prometheus_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "penstock/base/duration.h"

namespace penstock::command {
namespace {

constexpr MetricDefinition kSinkMetrics[] = {
    {"numRecordsSend", true, "Rows handed to the service for the first time."},
    {"numBytesSend", true, "Row bytes handed to the service for the first time."},
    {"numRecordsSendErrors", true, "Records and rows handed to the failure handler."},
    {"recordsSkipped", true, "Records that the serializer left out."},
    {"appendRetries", true, "Appends sent again by the sink's repair."},
    {"schemaReconciliations", true, "Schema updates applied."},
    {"tablesCreated", true, "Creations of tables asked for."},
    {"errorClass.*.errors", true, "Failed appends, by the code of their status."},
    {"destination.*.recordsSend", true, "Rows, by table (with perDestinationMetrics)."},
    {"destination.*.sendErrors", true, "Refused rows, by table (with perDestinationMetrics)."},
    {"inFlightBatches", false, "Appends sent and not answered."},
    {"openDestinations", false, "Tables that are open."},
    {"bufferedBytes", false, "Row bytes collected or unanswered."},
};

struct JobMetric {
  const char* name;
  bool isCounter;
  const char* help;
  std::function<double(const JobProgress&)> read;
};

const std::vector<JobMetric>& jobMetrics() {
  static const auto* metrics = new std::vector<JobMetric>{
      {"penstock_job_records_read_total", true, "Records read by this run.",
       [](const JobProgress& job) { return static_cast<double>(job.statistics.recordsRead); }},
      {"penstock_job_bytes_read_total", true, "Bytes of input read by this run, uncompressed.",
       [](const JobProgress& job) { return static_cast<double>(job.statistics.bytesRead); }},
      {"penstock_job_records_dropped_total", true, "Bad records left out by --on-error drop.",
       [](const JobProgress& job) { return static_cast<double>(job.recordsDropped); }},
      {"penstock_job_records_restored", false, "Records that earlier runs have covered.",
       [](const JobProgress& job) { return static_cast<double>(job.statistics.recordsRestored); }},
      {"penstock_job_checkpoints_completed_total", true, "Checkpoints completed by this run.",
       [](const JobProgress& job) {
         return static_cast<double>(job.statistics.checkpointsCompleted);
       }},
      {"penstock_job_last_checkpoint_seconds", false, "How long the last checkpoint took.",
       [](const JobProgress& job) {
         return base::inSeconds(job.statistics.lastCheckpointDuration);
       }}};
  return *metrics;
}

/// "num_records_send" of "numRecordsSend".
std::string snakeCase(std::string_view camel) {
  std::string text;
  for (const char c : camel) {
    const bool isUpper = c >= 'A' && c <= 'Z';
    if (isUpper && !text.empty()) text += '_';
    const bool isLetterOrDigit = isUpper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    text += !isLetterOrDigit ? '_' : isUpper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

/// A label's value, as the format escapes it.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

/// A sink's metric as Prometheus sees it.
struct Exposed {
  std::string name;    // penstock_sink_error_class_errors_total
  std::string label;   // error_class
  std::string value;   // UNAVAILABLE
  std::string family;  // errorClass.*.errors
};

Exposed exposed(std::string_view name, bool isCounter) {
  const char* const suffix = isCounter ? "_total" : "";
  const size_t first = name.find('.');
  const size_t last = name.rfind('.');
  if (first == std::string_view::npos || first == last) {
    return {fmt::format("penstock_sink_{}{}", snakeCase(name), suffix), "", "", std::string(name)};
  }
  const std::string_view family = name.substr(0, first);
  const std::string_view metric = name.substr(last + 1);
  const std::string label = snakeCase(family);
  return {fmt::format("penstock_sink_{}_{}{}", label, snakeCase(metric), suffix), label,
          std::string(name.substr(first + 1, last - first - 1)),
          fmt::format("{}.*.{}", family, metric)};
}

std::string_view helpOf(std::string_view family) {
  for (const MetricDefinition& definition : kSinkMetrics) {
    if (definition.name == family) return definition.help;
  }
  return {};
}

/// The lines of all metrics, those of one name together, as the format demands.
class Exposition {
 public:
  template <typename Number>
  void add(int subtask, std::string_view name, bool isCounter, Number value) {
    const Exposed metric = exposed(name, isCounter);
    Family& family = families_[metric.name];
    family.isCounter = isCounter;
    family.help = helpOf(metric.family);
    std::string labels = fmt::format("subtask=\"{}\"", subtask);
    if (!metric.label.empty()) {
      labels += fmt::format(",{}=\"{}\"", metric.label, escaped(metric.value));
    }
    family.samples += fmt::format("{}{{{}}} {}\n", metric.name, labels, value);
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [name, family] : families_) {
      if (!family.help.empty()) text += fmt::format("# HELP {} {}\n", name, family.help);
      text += fmt::format("# TYPE {} {}\n", name, family.isCounter ? "counter" : "gauge");
      text += family.samples;
    }
    return text;
  }

 private:
  struct Family {
    bool isCounter = true;
    std::string_view help;
    std::string samples;
  };
  std::map<std::string, Family> families_;
};

}  // namespace

std::string prometheusText(const JobProgress& progress,
                           std::span<const JobMetrics::Subtask> subtasks) {
  std::string text;
  for (const JobMetric& metric : jobMetrics()) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", metric.name, metric.help,
                        metric.isCounter ? "counter" : "gauge", metric.read(progress));
  }
  Exposition sinks;
  for (const JobMetrics::Subtask& subtask : subtasks) {
    for (const auto& [name, value] : subtask.metrics.counters) {
      sinks.add(subtask.index, name, /*isCounter=*/true, value);
    }
    for (const auto& [name, value] : subtask.metrics.gauges) {
      sinks.add(subtask.index, name, /*isCounter=*/false, value);
    }
  }
  return text + sinks.text();
}

std::span<const MetricDefinition> sinkMetricCatalog() { return kSinkMetrics; }

std::string metricsAsMarkdown() {
  std::string text =
      "# Metrics\n\n<!-- Generated by `make docs`; do not edit. -->\n\n"
      "What `--metrics-port` serves at `/metrics`, in Prometheus' text format. Of the run:\n\n"
      "| name | type | |\n|---|---|---|\n";
  for (const JobMetric& metric : jobMetrics()) {
    text += fmt::format("| `{}` | {} | {} |\n", metric.name, metric.isCounter ? "counter" : "gauge",
                        metric.help);
  }
  text +=
      "\nOf the sinks, each with the label `subtask`. In the library they have the names of the "
      "second column, in the\nmetric group that a writer was given.\n\n"
      "| name | in the library | label | type | |\n|---|---|---|---|---|\n";
  for (const MetricDefinition& definition : kSinkMetrics) {
    const Exposed metric = exposed(definition.name, definition.isCounter);
    text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", metric.name, definition.name,
                        metric.label.empty() ? "" : fmt::format("`{}`", metric.label),
                        definition.isCounter ? "counter" : "gauge", definition.help);
  }
  return text;
}

}  // namespace penstock::command
