#pragma once

#include "apps/penstock/connection.h"
#include "apps/penstock/load_plan.h"
#include "apps/penstock/load_summary.h"
#include "apps/penstock/report_flags.h"
#include "apps/penstock/subcommand.h"

namespace penstock::command {

/// Does what `plan` says: opens the input and the target that `target` and `connection.options`
/// describe, checks both before the first record, and runs the load to its end, watched as
/// `reporting` says. Nothing of the
/// result is printed; `summary` holds what is known of it, `connection` is open for a moment
/// longer. None: the load ended well, or was stopped without words of its own (see
/// summary.exitCode).
[[nodiscard]] std::optional<CommandError> runLoad(const CommandContext& context,
                                                  const LoadPlan& plan, const TargetFlags& target,
                                                  const Reporting& reporting,
                                                  Connection& connection, LoadSummary& summary);

/// Prints what a load came to and says what to exit with; `json` asks for the line of JSON.
ExitCode reportLoad(Console& console, const std::optional<CommandError>& error, bool json,
                    LoadSummary& summary);

}  // namespace penstock::command
