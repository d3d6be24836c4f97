#include "penstock/bigquery/encoding/number_text.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "penstock/bigquery/encoding/decimal_text.h"

namespace penstock::bigquery {
namespace {

/// `NaN` and `[+-]?Infinity`.
bool parseNotFinite(std::string_view text, double* value) {
  using Limits = std::numeric_limits<double>;
  if (text == "NaN")
    *value = Limits::quiet_NaN();
  else if (text == "Infinity" || text == "+Infinity")
    *value = Limits::infinity();
  else if (text == "-Infinity")
    *value = -Limits::infinity();
  else
    return false;
  return true;
}

}  // namespace

ParseResult parseInt64(std::string_view text, int64_t* value) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return ParseResult("not an integer like -12");
  }
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc()) {
    return ParseResult("out of range: INT64 ends at -9223372036854775808 and 9223372036854775807");
  }
  *value = parsed;
  return ParseResult();
}

ParseResult parseDouble(std::string_view text, double* value) {
  DecimalText decimal;
  if (!scanDecimal(text, &decimal)) {
    if (parseNotFinite(text, value)) return ParseResult();
    return ParseResult("not a number like -12.5 or 1e3, and not NaN, Infinity or -Infinity");
  }
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  double parsed = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), parsed);
  if (error == std::errc::result_out_of_range) {
    if (decimal.numDigits + decimal.exponent > 0) {
      return ParseResult("out of range: DOUBLE ends near 1.8e308");
    }
    parsed = decimal.negative ? -0.0 : 0.0;
  }
  *value = parsed;
  return ParseResult();
}

}  // namespace penstock::bigquery
