#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

namespace penstock::bigquery {

inline constexpr ParseResult kNotADecimal("not a decimal number like -12.5 or 1e3");

/// A decimal number taken apart: its digits without the zeros at either end, times a power of ten.
struct DecimalText {
  const char* first = nullptr;  ///< the first significant digit
  const char* last = nullptr;   ///< behind the last one; a '.' may stand in between
  int64_t numDigits = 0;        ///< significant digits; 0 = the value is zero
  int64_t exponent = 0;         ///< the power of ten of the last one
  bool negative = false;
};

/// Reads all of `text` by the decimal grammar of BQT-055; false if it is something else. An
/// exponent beyond what any type holds counts as +-10^12.
bool scanDecimal(std::string_view text, DecimalText* decimal);

}  // namespace penstock::bigquery
