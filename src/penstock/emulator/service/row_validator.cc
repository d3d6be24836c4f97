#include "penstock/emulator/service/row_validator.h"

#include <fmt/format.h>

#include "penstock/emulator/service/row_rules.h"

namespace penstock::emulator {

std::optional<std::string> RowValidator::checkClosely(std::string_view row) {
  std::optional<RowProblem> problem = decoder_.decode(row);
  if (!problem) problem = findBrokenRule(decoder_);
  if (!problem) return std::nullopt;
  if (problem->path.empty()) return problem->message;
  return fmt::format("{}: {}", problem->path, problem->message);
}

}  // namespace penstock::emulator
