#include "apps/penstock/load_job.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "apps/penstock/metrics_server.h"
#include "apps/penstock/progress.h"
#include "apps/penstock/ticker.h"
#include "penstock/base/log.h"

namespace penstock::command {
namespace {

using runtime::ExecutionResult;
using runtime::ExecutionStatistics;

/// Bytes of input, where they are the bytes that will be counted as read.
std::optional<uint64_t> totalBytes(const runtime::FileSource& source) {
  const bool comparable =
      std::all_of(source.files().begin(), source.files().end(), [](const runtime::InputFile& file) {
        return !file.stream && file.compression == runtime::Compression::kNone;
      });
  if (!comparable) return std::nullopt;
  return source.totalBytes();
}

/// Puts `document` into `file`, where it can always be read whole.
absl::Status writeStatistics(const std::string& file, const std::string& document) {
  const std::string temporary = file + ".new";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << document << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, file, error);
  if (out && !error) return absl::OkStatus();
  return base::invalidArgument("--stats-file: cannot write {}", file);
}

/// None without --metrics-port.
absl::StatusOr<std::unique_ptr<MetricsServer>> serveMetrics(const Reporting& reporting,
                                                            Console& console,
                                                            std::function<std::string()> render) {
  if (!reporting.serveMetrics) return std::unique_ptr<MetricsServer>();
  auto server =
      MetricsServer::start(reporting.metricsHost, reporting.metricsPort, std::move(render));
  if (!server.ok()) {
    return base::withContext(server.status(),
                             fmt::format("--metrics-port {} on --metrics-host {}",
                                         reporting.metricsPort, reporting.metricsHost));
  }
  console.note(fmt::format("penstock: metrics on {}", (*server)->url()));
  return server;
}

LoadProgress loadProgress(const JobProgress& progress, const JobMetrics& metrics,
                          std::optional<uint64_t> totalBytes) {
  const ExecutionStatistics& statistics = progress.statistics;
  return {
      .rows = statistics.recordsRead - std::min(statistics.recordsRead, progress.recordsDropped),
      .bytes = statistics.bytesRead,
      .inFlight = metrics.gauge("inFlightBatches"),
      .checkpoints = statistics.checkpointsCompleted,
      .dropped = progress.recordsDropped,
      .totalBytes = totalBytes};
}

LoadSummary::Result resultOf(ExecutionResult::End end) {
  switch (end) {
    case ExecutionResult::End::kFinished:
      return LoadSummary::Result::kLoaded;
    case ExecutionResult::End::kStopped:
      return LoadSummary::Result::kStopped;
    case ExecutionResult::End::kAlreadyFinished:
      return LoadSummary::Result::kAlreadyLoaded;
  }
  return LoadSummary::Result::kFailed;
}

}  // namespace

LoadJobOutcome runLoadJob(runtime::FileSource& source, const LoadSinkFactory& makeSink,
                          const runtime::LocalExecutorOptions& options,
                          const RecordFailures& failures, const LoadWatch& watch, LoadStop& stop,
                          Console& console) {
  JobMetrics metrics;
  runtime::LocalExecutor executor(
      source,
      [&](const runtime::SubtaskContext& context) {
        return makeSink(context, metrics.add(context.subtaskIndex));
      },
      options);
  const auto readProgress = [&] { return JobProgress{executor.statistics(), failures.dropped()}; };
  const auto server = serveMetrics(
      watch.reporting, console, [&] { return prometheusText(readProgress(), metrics.snapshot()); });
  if (!server.ok()) return {.status = server.status(), .badSetting = true};
  const base::MonotonicTime start = base::systemClock().now();
  ProgressReporter reporter(console, start);
  const std::optional<uint64_t> total = totalBytes(source);
  const auto reportProgress = [&] {
    reporter.report(loadProgress(readProgress(), metrics, total), base::systemClock().now());
  };
  const std::string& statsFile = watch.reporting.statsFile;
  const auto reportStatistics = [&] {
    const std::string document = watch.document(readProgress(), metrics);
    if (statsFile.empty()) {
      console.note(document);
      return absl::OkStatus();
    }
    return writeStatistics(statsFile, document);
  };
  const bool hasStatistics = watch.reporting.statsInterval > base::Duration::zero();
  if (hasStatistics) {
    if (absl::Status status = reportStatistics(); !status.ok()) {
      return {.status = std::move(status), .badSetting = true};
    }
  }
  absl::StatusOr<ExecutionResult> result = absl::UnknownError("not run");
  const auto run = [&] {
    constexpr base::Duration kRedraw = std::chrono::milliseconds(250);
    const Ticker progressTicker(kRedraw, reportProgress);
    std::optional<Ticker> statisticsTicker;
    if (hasStatistics) {
      statisticsTicker.emplace(watch.reporting.statsInterval, [&] {
        if (const absl::Status status = reportStatistics(); !status.ok()) {
          base::logWarning("{}", base::messageOf(status));
        }
      });
    }
    result = executor.run();
  };
  std::atomic<bool> stoppedAtOnce{false};
  stop.duringJob(
      [&] {
        console.note("penstock: stopping; what was read is being written (again to stop at once)");
        executor.requestStop();
      },
      [&] {
        stoppedAtOnce.store(true);
        executor.cancel();
      },
      run);
  if (stoppedAtOnce.load() && absl::IsCancelled(result.status())) {
    result = absl::CancelledError(
        "stopped at once by a second signal; the last batch may not be written");
  }
  reporter.finish();
  LoadJobOutcome outcome{.statistics = executor.statistics(),
                         .rowsSent = metrics.counter("numRecordsSend"),
                         .elapsed = base::systemClock().now() - start};
  if (result.ok()) {
    outcome.result = resultOf(result->end);
  } else {
    outcome.status = result.status();
    outcome.origin = executor.errorOrigin();
  }
  return outcome;
}

}  // namespace penstock::command
