#include "bench/report.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace penstock::bench {
namespace {

template <typename Figure>
double medianOf(const std::vector<Measurement>& repetitions, Figure figure) {
  std::vector<double> values;
  for (const Measurement& repetition : repetitions) values.push_back(figure(repetition));
  return median(std::move(values));
}

std::string processorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result summarize(std::string name, const std::vector<Measurement>& repetitions,
                 const std::vector<Measurement>& limit) {
  Result result{.name = std::move(name)};
  result.rowsPerSecond =
      medianOf(repetitions, [](const Measurement& m) { return m.rowsPerSecond(); });
  result.megabytesPerSecond =
      medianOf(repetitions, [](const Measurement& m) { return m.bytes / m.wallSeconds / 1e6; });
  result.cpuNanosecondsPerRow =
      medianOf(repetitions, [](const Measurement& m) { return m.cpuNanosecondsPerRow(); });
  result.allocationsPerRow = medianOf(repetitions, [](const Measurement& m) {
    return static_cast<double>(m.allocations.own) / m.rows;
  });
  result.libraryAllocationsPerRow = medianOf(repetitions, [](const Measurement& m) {
    return static_cast<double>(m.allocations.library) / m.rows;
  });
  std::vector<double> ratios;
  std::vector<double> rates;
  for (size_t index = 0; index < std::min(limit.size(), repetitions.size()); ++index) {
    ratios.push_back(repetitions[index].cpuNanosecondsPerRow() /
                     limit[index].cpuNanosecondsPerRow());
    rates.push_back(repetitions[index].rowsPerSecond() / limit[index].rowsPerSecond());
  }
  const double requestBytes = medianOf(repetitions, [](const auto& m) { return m.requestBytes; });
  if (requestBytes > 0) result.requestBytes = requestBytes;
  if (!ratios.empty()) result.ratioToLimit = median(std::move(ratios));
  if (!rates.empty()) result.rateOfLimit = median(std::move(rates));
  return result;
}

std::string describeMachine() {
  utsname system = {};
  ::uname(&system);
  double load[1] = {0};
  ::getloadavg(load, 1);
  return fmt::format("{}, {} CPUs, {} {}; {}; load {:.2f}", processorModel(),
                     std::thread::hardware_concurrency(), system.sysname, system.release,
                     PENSTOCK_BENCH_BUILD, load[0]);
}

std::string formatTable(const std::vector<Result>& results) {
  std::string table =
      fmt::format("{:<27} {:>12} {:>8} {:>11} {:>11} {:>11} {:>8} {:>6}  {}\n", "", "rows/s",
                  "MB/s", "CPU ns/row", "allocs/row", "(library)", "ratio", "rate", "target");
  for (const Result& result : results) {
    const auto factor = [](const std::optional<double>& value) {
      return value.has_value() ? fmt::format("{:.2f}", *value) : "";
    };
    std::string verdict =
        result.target.empty() ? "" : result.target + (result.reached ? ": reached" : ": MISSED");
    if (result.requestBytes.has_value()) {
      verdict += fmt::format("{}requests of {:.1f} KB", verdict.empty() ? "" : "; ",
                             *result.requestBytes / 1e3);
    }
    if (result.ratioToFullRequests.has_value()) {
      verdict += fmt::format("; {:.2f} of requests of 512 KiB", *result.ratioToFullRequests);
    }
    table += fmt::format(
        "{:<27} {:>12.0f} {:>8.0f} {:>11.1f} {:>11.5f} {:>11.5f} {:>8} {:>6}  {}\n", result.name,
        result.rowsPerSecond, result.megabytesPerSecond, result.cpuNanosecondsPerRow,
        result.allocationsPerRow, result.libraryAllocationsPerRow, factor(result.ratioToLimit),
        factor(result.rateOfLimit), verdict);
  }
  return table;
}

std::string formatJson(const std::vector<Result>& results) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Result& result : results) {
    nlohmann::ordered_json entry = {
        {"name", result.name},
        {"rows_per_s", result.rowsPerSecond},
        {"mb_per_s", result.megabytesPerSecond},
        {"cpu_ns_per_row", result.cpuNanosecondsPerRow},
        {"allocations_per_row", result.allocationsPerRow},
        {"library_allocations_per_row", result.libraryAllocationsPerRow},
        {"ratio_to_limit", nullptr},
        {"rate_of_limit", nullptr}};
    if (result.ratioToLimit.has_value()) entry["ratio_to_limit"] = *result.ratioToLimit;
    if (result.rateOfLimit.has_value()) entry["rate_of_limit"] = *result.rateOfLimit;
    if (result.requestBytes.has_value()) entry["request_bytes"] = *result.requestBytes;
    if (result.ratioToFullRequests.has_value()) {
      entry["ratio_to_full_requests"] = *result.ratioToFullRequests;
    }
    list.push_back(std::move(entry));
  }
  return list.dump(2) + "\n";
}

}  // namespace penstock::bench
