#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/penstock/connection.h"
#include "apps/penstock/load_plan.h"
#include "apps/penstock/load_stop.h"
#include "apps/penstock/load_summary.h"
#include "apps/penstock/report_flags.h"
#include "apps/penstock/subcommand.h"

namespace penstock::command {

/// What a load leaves behind and is stopped by, while it runs and until it is reported.
struct LoadFrame {
  LoadStop& stop;
  Connection& connection;  ///< its options are given, the rest is opened
  LoadSummary& summary;
};

/// Does what `plan` says: opens the input and the target that `target` and the connection's options
/// describe, checks both before the first record, and runs the load to its end, watched as
/// `reporting` says. Nothing of the result is printed; the summary holds what is known of it. None:
/// the load ended well, or was stopped without words of its own (see summary.exitCode).
[[nodiscard]] std::optional<CommandError> runLoad(const CommandContext& context,
                                                  const LoadPlan& plan, const TargetFlags& target,
                                                  const Reporting& reporting,
                                                  const LoadFrame& frame);

/// Prepares and runs a load into `table` (empty: not known yet) by `load`, prints what it came to,
/// with the line of JSON if `json` asks for it, and says what to exit with.
[[nodiscard]] ExitCode reportLoad(
    Console& console, bool json, const std::string& table,
    const std::function<std::optional<CommandError>(const LoadFrame&)>& load);

}  // namespace penstock::command
