#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "penstock/emulator/rows/row_plan.h"

namespace penstock::emulator {

/// Passes rows that are beyond doubt, in one walk over their bytes that builds nothing: fields that
/// the plan knows, in the wire forms that writers prefer, with values that their columns take, and
/// every REQUIRED column there. A row that does not pass is not bad: RowDecoder and the rules have
/// the word. Immutable; any thread.
class QuickCheck {
 public:
  explicit QuickCheck(const RowPlan& plan);
  ~QuickCheck();
  QuickCheck(QuickCheck&&) noexcept;

  [[nodiscard]] bool passes(std::string_view row) const;

 private:
  struct Message;
  struct Step;
  static std::unique_ptr<Message> compile(const MessagePlan& plan);
  static Step compileField(const FieldPlan& field, uint64_t requiredBit);
  static bool passes(const Message& message, const char* at, const char* end);
  static bool textPasses(const Step& step, std::string_view text);
  static bool numberPasses(const Step& step, uint64_t raw);

  std::unique_ptr<Message> root_;
};

}  // namespace penstock::emulator
