#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

/// Strings for INT64 and DOUBLE columns (BQT-054).
namespace penstock::bigquery {

/// `-?[0-9]+` in the range of int64: no plus sign, no space, no point. Integer tokens of JSON fit
/// too.
ParseResult parseInt64(std::string_view text, int64_t* value);

/// A number of the decimal grammar, the nearest double; also `NaN` and `[+-]?Infinity`, spelt so.
/// What overflows is refused; what underflows is the nearest double, perhaps 0. Number tokens of
/// JSON fit too.
ParseResult parseDouble(std::string_view text, double* value);

}  // namespace penstock::bigquery
