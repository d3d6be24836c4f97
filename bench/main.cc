// Measures what the README claims; see docs/benchmarks.md. Usage:
//   penstock_bench [--report FILE] [--repetitions N] [--seconds S] [--only TEXT]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "bench/measurement.h"
#include "bench/report.h"
#include "bench/server_process.h"

namespace penstock::bench {
namespace {

constexpr double kMostCpuOverLimit = 1.6;
constexpr double kLeastJsonMegabytes = 1'000;
constexpr double kLeastEmulatorRate = 0.25;
constexpr double kLeastExactlyOnceRate = 0.9;
constexpr double kLeastCommitRate = 1 / 1.5;
constexpr double kMostProtobufNanoseconds = 80;
constexpr double kMostCpuOverOneTable = 1.3;

struct Flags {
  std::string report;
  std::string only;
  int repetitions = 5;
  double seconds = 1.5;
};

bool parseFlags(int count, char** values, Flags* flags) {
  for (int index = 1; index < count; index += 2) {
    const std::string flag = values[index];
    if (index + 1 == count) return false;
    const char* value = values[index + 1];
    if (flag == "--report") {
      flags->report = value;
    } else if (flag == "--only") {
      flags->only = value;
    } else if (flag == "--repetitions") {
      flags->repetitions = std::atoi(value);
    } else if (flag == "--seconds") {
      flags->seconds = std::atof(value);
    } else {
      return false;
    }
  }
  return flags->repetitions > 0 && flags->seconds > 0;
}

/// One benchmark by name, and what its results are compared with and held to.
struct Entry {
  std::string name;
  std::function<std::unique_ptr<Benchmark>()> make;
  double mostAllocationsPerRow = 0;  // 0 = no target
  bool comparedWithLimit = false;
  bool ratioIsTarget = false;
  bool isLimit = false;
  double mostCpuOverLimit = kMostCpuOverLimit;
  double leastRateOfLimit = 0;  // 0 = no target
  bool isFullRequests = false;  // requests of the default size: the group is compared with them too
};

/// Benchmarks that take turns, the limit first.
using Group = std::vector<Entry>;

/// Many tables beside one whose requests are as large, and one whose requests are full.
Group tablesGroup(const std::string& server, const std::string& suffix, TableChoice choice) {
  const auto requests = std::make_shared<RequestSize>();
  return {{.name = "sink_destination_1" + suffix,
           .make = [=] { return oneTableBenchmark(server, choice, requests); },
           .isLimit = true},
          {.name = "sink_destinations_10000" + suffix,
           .make = [=] { return manyTablesBenchmark(server, choice, requests); },
           .mostAllocationsPerRow = 0.5,
           .comparedWithLimit = true,
           .ratioIsTarget = true,
           .mostCpuOverLimit = kMostCpuOverOneTable},
          {.name = "sink_destination_1_full" + suffix,
           .make = [=] { return oneTableBenchmark(server, choice, nullptr); },
           .isFullRequests = true}};
}

std::vector<Group> groups(const std::string& server) {
  const auto limit = [&](size_t rowBytes) {
    return [=] { return wireLimitBenchmark(server, rowBytes); };
  };
  const auto serialized = [&](size_t rowBytes, bool inBatches) {
    return [=] { return serializedSinkBenchmark(server, rowBytes, inBatches); };
  };
  return {
      {{.name = "wire_limit_100", .make = limit(100), .isLimit = true},
       {"sink_serialized_100", serialized(100, true), 0.001, true, true},
       {"sink_serialized_100_single", serialized(100, false), 0.001, true}},
      {{.name = "wire_limit_1000", .make = limit(1000), .isLimit = true},
       {"sink_serialized_1000", serialized(1000, true), 0.01, true, true},
       {"sink_serialized_1000_single", serialized(1000, false), 0.01, true},
       {"sink_json_1000", [=] { return jsonSinkBenchmark(server); }, 0.01, true}},
      tablesGroup(server, "", TableChoice::kRoundRobin),
      tablesGroup(server, "_zipf", TableChoice::kZipf),
      {{"sink_protobuf_100", [=] { return protobufSinkBenchmark(server); }, 0.001}},
      {{.name = "ack_append_100", .make = [=] { return appendBenchmark(server); }, .isLimit = true},
       {.name = "emulator_append_100",
        .make = [] { return emulatorAppendBenchmark(); },
        .comparedWithLimit = true,
        .leastRateOfLimit = kLeastEmulatorRate}},
      {{.name = "at_least_once_100",
        .make = [] { return checkpointedSinkBenchmark(/*exactlyOnce=*/false); },
        .isLimit = true},
       {.name = "exactly_once_100",
        .make = [] { return checkpointedSinkBenchmark(/*exactlyOnce=*/true); },
        .comparedWithLimit = true,
        .leastRateOfLimit = kLeastExactlyOnceRate}},
      {{.name = "flush_rows_1000", .make = [] { return bareFlushBenchmark(); }, .isLimit = true},
       {.name = "commit_1000",
        .make = [] { return commitBenchmark(); },
        .comparedWithLimit = true,
        .leastRateOfLimit = kLeastCommitRate}},
      {{"serializer_protobuf_100", [] { return protobufSerializerBenchmark(); }, 0.001}},
      {{"serializer_json_1000", [] { return jsonSerializerBenchmark(); }, 0.01}}};
}

void judge(const Entry& entry, Result* result) {
  std::vector<std::string> targets;
  const auto hold = [&](bool reached, std::string target) {
    targets.push_back(std::move(target));
    result->reached = result->reached && reached;
  };
  if (entry.ratioIsTarget && result->ratioToLimit.has_value()) {
    hold(*result->ratioToLimit <= entry.mostCpuOverLimit,
         fmt::format("ratio <= {}", entry.mostCpuOverLimit));
  }
  if (entry.leastRateOfLimit > 0 && result->rateOfLimit.has_value()) {
    hold(*result->rateOfLimit >= entry.leastRateOfLimit,
         fmt::format("rate >= {:.2f}", entry.leastRateOfLimit));
  }
  if (entry.name == "serializer_json_1000") {
    hold(result->megabytesPerSecond >= kLeastJsonMegabytes,
         fmt::format("MB/s >= {}", kLeastJsonMegabytes));
  }
  if (entry.name == "sink_protobuf_100") {
    hold(result->cpuNanosecondsPerRow <= kMostProtobufNanoseconds,
         fmt::format("ns <= {}", kMostProtobufNanoseconds));
  }
  if (entry.mostAllocationsPerRow > 0) {
    hold(result->allocationsPerRow < entry.mostAllocationsPerRow,
         fmt::format("allocs < {}", entry.mostAllocationsPerRow));
  }
  for (const std::string& target : targets) {
    result->target += (result->target.empty() ? "" : ", ") + target;
  }
}

absl::StatusOr<std::vector<Result>> runGroup(const Group& group, const Flags& flags) {
  const auto duration =
      std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(flags.seconds));
  std::vector<std::unique_ptr<Benchmark>> benchmarks;
  for (const Entry& entry : group) benchmarks.push_back(entry.make());
  std::vector<std::vector<Measurement>> measured(group.size());
  for (int repetition = 0; repetition < flags.repetitions; ++repetition) {
    for (size_t index = 0; index < group.size(); ++index) {
      absl::StatusOr<Measurement> measurement = benchmarks[index]->run(duration);
      if (!measurement.ok()) return base::withContext(measurement.status(), group[index].name);
      measured[index].push_back(*measurement);
    }
  }
  std::vector<Result> results;
  for (size_t index = 0; index < group.size(); ++index) {
    const bool hasLimit = group.front().isLimit;
    const bool compared = hasLimit && (index == 0 || group[index].comparedWithLimit);
    Result result = summarize(group[index].name, measured[index],
                              compared ? measured.front() : std::vector<Measurement>());
    judge(group[index], &result);
    results.push_back(std::move(result));
  }
  for (size_t full = 0; full < group.size(); ++full) {
    if (!group[full].isFullRequests) continue;
    for (size_t index = 0; index < group.size(); ++index) {
      if (!group[index].ratioIsTarget) continue;
      results[index].ratioToFullRequests =
          results[index].cpuNanosecondsPerRow / results[full].cpuNanosecondsPerRow;
    }
  }
  return results;
}

/// The entries whose names contain `only`; without the limit nothing is compared with it.
Group wanted(const Group& group, const std::string& only) {
  Group kept;
  for (const Entry& entry : group) {
    if (entry.name.find(only) != std::string::npos) kept.push_back(entry);
  }
  return kept;
}

absl::Status run(const Flags& flags) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> server,
                            ServerProcess::start("penstock_ack_server"));
  std::printf("%s\n%d repetitions of %.1f s, medians; ratios are taken within one run\n\n",
              describeMachine().c_str(), flags.repetitions, flags.seconds);
  std::fflush(stdout);
  std::vector<Result> results;
  for (const Group& group : groups(server->address())) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Result> more,
                              runGroup(wanted(group, flags.only), flags));
    results.insert(results.end(), more.begin(), more.end());
  }
  std::fputs(formatTable(results).c_str(), stdout);
  if (flags.report.empty()) return absl::OkStatus();
  std::ofstream file(flags.report);
  file << formatJson(results);
  file.close();
  if (!file) {
    return base::makeStatus(absl::StatusCode::kInternal, "{}: not written", flags.report);
  }
  std::printf("\nwritten to %s\n", flags.report.c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace penstock::bench

int main(int count, char** values) {
  penstock::bench::Flags flags;
  if (!penstock::bench::parseFlags(count, values, &flags)) {
    std::fputs(
        "usage: penstock_bench [--report FILE] [--repetitions N] [--seconds S] [--only TEXT]\n",
        stderr);
    return 2;
  }
  const absl::Status status = penstock::bench::run(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "penstock_bench: %s\n", penstock::base::describe(status).c_str());
  return 1;
}
