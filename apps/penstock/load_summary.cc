#include "apps/penstock/load_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "penstock/base/byte_size.h"
#include "penstock/base/duration.h"

namespace penstock::command {
namespace {

std::string_view nameOf(LoadSummary::Result result) {
  switch (result) {
    case LoadSummary::Result::kLoaded:
      return "loaded";
    case LoadSummary::Result::kNothingToLoad:
      return "nothing-to-load";
    case LoadSummary::Result::kAlreadyLoaded:
      return "already-loaded";
    case LoadSummary::Result::kStopped:
      return "stopped";
    case LoadSummary::Result::kFailed:
      return "failed";
  }
  return "failed";
}

/// "1,234 rows into p.d.t (2.0 MB in 1.5 s, 822 rows/s); 3 bad records dropped". Of a load that was
/// continued: "1,234 rows into p.d.t in this run (...), after 20 rows in earlier runs".
std::string amounts(const LoadSummary& summary) {
  std::string text =
      fmt::format("{} {} into {}{} ({} in {:.1f} s, {} rows/s)", withThousands(summary.rowsWritten),
                  summary.rowsWritten == 1 ? "row" : "rows", summary.table,
                  summary.rowsRestored > 0 ? " in this run" : "",
                  base::approximateByteSize(static_cast<double>(summary.bytesRead)),
                  base::inSeconds(summary.elapsed),
                  withThousands(static_cast<uint64_t>(summary.rowsPerSecond())));
  if (summary.rowsRestored > 0) {
    text += fmt::format(", after {} {} in earlier runs", withThousands(summary.rowsRestored),
                        summary.rowsRestored == 1 ? "row" : "rows");
  }
  if (summary.rowsDropped > 0) {
    text += fmt::format("; {} bad {} dropped", withThousands(summary.rowsDropped),
                        summary.rowsDropped == 1 ? "record" : "records");
  }
  return text;
}

}  // namespace

double LoadSummary::rowsPerSecond() const {
  const double took = base::inSeconds(elapsed);
  return took > 0 ? static_cast<double>(rowsWritten) / took : 0;
}

std::string summaryText(const LoadSummary& summary) {
  switch (summary.result) {
    case LoadSummary::Result::kLoaded:
      return fmt::format("loaded {}", amounts(summary));
    case LoadSummary::Result::kNothingToLoad:
      return fmt::format("there are no records in the input: nothing loaded into {}",
                         summary.table);
    case LoadSummary::Result::kAlreadyLoaded:
      return fmt::format(
          "already loaded: the checkpoint directory says that all {} rows of this input are in {}",
          withThousands(summary.rowsRestored), summary.table);
    case LoadSummary::Result::kStopped:
      return fmt::format("stopped after {}", amounts(summary));
    case LoadSummary::Result::kFailed:
      return fmt::format("failed after handing over {}; the last of them may not be written",
                         amounts(summary));
  }
  return {};
}

std::string summaryJson(const LoadSummary& summary) {
  nlohmann::ordered_json json;
  json["result"] = nameOf(summary.result);
  json["exit_code"] = summary.exitCode;
  json["target"] = summary.target;
  json["table"] = summary.table;
  json["rows"] = summary.rowsWritten;
  json["rows_dropped"] = summary.rowsDropped;
  json["rows_of_earlier_runs"] = summary.rowsRestored;
  json["input_bytes"] = summary.bytesRead;
  json["seconds"] = base::inSeconds(summary.elapsed);
  json["rows_per_second"] = summary.rowsPerSecond();
  json["checkpoints"] = summary.checkpoints;
  json["error"] = nullptr;
  if (!summary.error.empty()) json["error"] = summary.error;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string withThousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", withThousands(count), noun, count == 1 ? "" : "s");
}

}  // namespace penstock::command
