#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/penstock/load_summary.h"
#include "apps/penstock/row_json.h"
#include "apps/penstock/subcommand.h"
#include "apps/penstock/text_table.h"
#include "penstock/base/byte_size.h"
#include "penstock/runtime/checkpoint_store.h"

namespace penstock::command {
namespace {

using nlohmann::ordered_json;
using runtime::Checkpoint;
using runtime::StoredCheckpoint;

std::string timeText(base::WallTime time) {
  return timestampText(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

size_t finishedParts(const Checkpoint& checkpoint) {
  return static_cast<size_t>(
      std::count_if(checkpoint.splits.begin(), checkpoint.splits.end(),
                    [](const runtime::SplitProgress& split) { return split.finished; }));
}

std::vector<std::string> tableRow(const StoredCheckpoint& stored) {
  std::vector<std::string> cells = {stored.folder.filename().string(), timeText(stored.writtenAt)};
  if (!stored.content.ok()) {
    cells.insert(cells.end(), {"", "", "", "", "unreadable"});
    return cells;
  }
  const Checkpoint& checkpoint = *stored.content;
  cells.insert(cells.end(),
               {withThousands(checkpoint.records),
                base::approximateByteSize(static_cast<double>(checkpoint.bytes)),
                fmt::format("{} of {}", finishedParts(checkpoint), checkpoint.splits.size()),
                withThousands(checkpoint.committables.size()),
                checkpoint.finished ? "all input read" : "in the middle"});
  return cells;
}

ordered_json asJson(const StoredCheckpoint& stored) {
  ordered_json object;
  object["checkpoint"] = stored.number;
  object["path"] = stored.folder.string();
  object["writtenAt"] = timeText(stored.writtenAt);
  object["readable"] = stored.content.ok();
  if (!stored.content.ok()) {
    object["error"] = base::messageOf(stored.content.status());
    return object;
  }
  const Checkpoint& checkpoint = *stored.content;
  object["job"] = checkpoint.jobIdentity;
  object["records"] = checkpoint.records;
  object["bytes"] = checkpoint.bytes;
  object["partsRead"] = finishedParts(checkpoint);
  object["parts"] = checkpoint.splits.size();
  object["writerStates"] = checkpoint.writerStates.size();
  object["commits"] = checkpoint.committables.size();
  object["finished"] = checkpoint.finished;
  return object;
}

/// What a run with this directory would do.
std::string restoreText(const StoredCheckpoint& newest) {
  const std::string name = newest.folder.filename().string();
  if (!newest.content.ok()) {
    return fmt::format("A run with this directory ends with an error: {}.",
                       base::messageOf(newest.content.status()));
  }
  const Checkpoint& checkpoint = *newest.content;
  std::string text =
      fmt::format("A run of the same job continues from {} ({}).", name, checkpoint.jobIdentity);
  if (!checkpoint.committables.empty()) {
    text += fmt::format(
        "\nFirst it commits what the checkpoint covers ({}); what was committed "
        "already stays as it is.",
        counted(checkpoint.committables.size(), "stream"));
  }
  const size_t left = checkpoint.splits.size() - finishedParts(checkpoint);
  text += checkpoint.finished
              ? "\nThen there is nothing left to do: all input is read."
              : fmt::format("\nIt does not read the first {} again; {} of its input {} left.",
                            counted(checkpoint.records, "record"), counted(left, "part"),
                            left == 1 ? "is" : "are");
  return text;
}

class CheckpointsCommand final : public Subcommand {
 public:
  explicit CheckpointsCommand(CLI::App& app) {
    app.description(
        "Lists what a checkpoint directory holds and what a run with it would do. Changes "
        "nothing.");
    app.add_option("DIR", directory_, "the directory of --checkpoint-dir")->required();
    app.add_flag("--json", json_, "one JSON object a checkpoint");
    app.footer(
        "Examples:\n"
        "  penstock checkpoints state\n"
        "  penstock checkpoints state --json | jq -s 'last'");
  }

  ExitCode run(const CommandContext& context) override {
    const auto listing = runtime::CheckpointStore::list(directory_);
    if (!listing.ok()) {
      context.console.error(base::messageOf(listing.status()));
      return ExitCode::kCheckpoint;
    }
    if (json_) {
      for (const StoredCheckpoint& stored : listing->checkpoints) {
        context.console.result(
            asJson(stored).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
      }
    } else {
      context.console.result(asText(*listing, context));
    }
    const bool restorable =
        listing->checkpoints.empty() || listing->checkpoints.back().content.ok();
    return restorable ? ExitCode::kSuccess : ExitCode::kCheckpoint;
  }

 private:
  [[nodiscard]] std::string asText(const runtime::CheckpointListing& listing,
                                   const CommandContext& context) const {
    std::string text;
    if (listing.holder.has_value()) {
      text += fmt::format("In use by {}.\n", *listing.holder);
    }
    if (listing.checkpoints.empty()) {
      return text + fmt::format("{} holds no checkpoint: a run with it starts at the beginning.",
                                directory_);
    }
    TextTable table;
    table.headings = {"checkpoint", "written", "records", "input",
                      "parts read", "commits", "state"};
    for (const StoredCheckpoint& stored : listing.checkpoints) {
      table.rows.push_back(tableRow(stored));
    }
    constexpr size_t kWidthElsewhere = 160;
    const auto width = static_cast<size_t>(context.environment.terminalWidth);
    text += renderTable(table, width == 0 ? kWidthElsewhere : width);
    if (!text.ends_with('\n')) text += '\n';
    return text + restoreText(listing.checkpoints.back());
  }

  std::string directory_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> makeCheckpointsCommand(CLI::App& app) {
  return std::make_unique<CheckpointsCommand>(app);
}

}  // namespace penstock::command
