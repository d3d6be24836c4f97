#pragma once

#include <optional>

#include "penstock/emulator/rows/row_decoder.h"

namespace penstock::emulator {

/// What the columns ask of a decoded row beyond the encodings of its values: REQUIRED columns
/// filled, STRING(n) and BYTES(n), NUMERIC(p, s), JSON, GEOGRAPHY and INTERVAL texts that can be
/// read, a RANGE whose start is before its end. The first rule that is broken; nothing when there
/// is none.
[[nodiscard]] std::optional<RowProblem> findBrokenRule(const RowDecoder& row);

/// Unicode characters of valid UTF-8.
[[nodiscard]] uint64_t countCharacters(std::string_view text);

}  // namespace penstock::emulator
