#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/emulator/rows/row_decoder.h"
#include "penstock/emulator/rows/row_plan.h"
#include "penstock/emulator/service/quick_check.h"

namespace penstock::emulator {

/// What rows of one writer's descriptor are judged by in one table. Immutable; any thread.
struct RowChecks {
  explicit RowChecks(std::shared_ptr<const RowPlan> compiled)
      : plan(std::move(compiled)), quick(*plan) {}

  const std::shared_ptr<const RowPlan> plan;
  const QuickCheck quick;
};

/// Judges rows: finds everything that the service refuses a row for. One thread at a time.
class RowValidator {
 public:
  explicit RowValidator(std::shared_ptr<const RowChecks> checks)
      : checks_(std::move(checks)), decoder_(checks_->plan) {}

  /// What is wrong with the row, the column's path first; nothing when it is fine.
  [[nodiscard]] std::optional<std::string> check(std::string_view row) {
    if (checks_->quick.passes(row)) return std::nullopt;
    return checkClosely(row);
  }
  /// The same without the quick look.
  [[nodiscard]] std::optional<std::string> checkClosely(std::string_view row);

 private:
  std::shared_ptr<const RowChecks> checks_;
  RowDecoder decoder_;
};

}  // namespace penstock::emulator
