#include "penstock/bigquery/encoding/decimal_text.h"

#include <algorithm>

#include "penstock/base/text.h"

namespace penstock::bigquery {
namespace {

constexpr int64_t kExponentLimit = 1'000'000'000'000;

using base::isDigit;

const char* skipDigits(const char* at, const char* end) {
  while (at != end && isDigit(*at)) ++at;
  return at;
}

/// `[eE][+-]?d+` up to `end`; false if it is something else.
bool scanExponent(const char* at, const char* end, int64_t* exponent) {
  if (*at != 'e' && *at != 'E') return false;
  ++at;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  if (at == end || skipDigits(at, end) != end) return false;
  int64_t value = 0;
  for (; at != end; ++at) value = std::min(value * 10 + (*at - '0'), kExponentLimit);
  *exponent = negative ? -value : value;
  return true;
}

}  // namespace

bool scanDecimal(std::string_view text, DecimalText* decimal) {
  const char* at = text.data();
  const char* const end = at + text.size();
  decimal->negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;

  const char* const integer = at;
  const char* const point = skipDigits(at, end);
  const bool hasPoint = point != end && *point == '.';
  const char* const fraction = hasPoint ? point + 1 : point;
  const char* const digitsEnd = hasPoint ? skipDigits(fraction, end) : point;
  if (point == integer && digitsEnd == fraction) return false;
  int64_t exponent = 0;
  if (digitsEnd != end && !scanExponent(digitsEnd, end, &exponent)) return false;

  const char* first = integer;
  const char* last = digitsEnd;
  while (first != last && (*first == '0' || *first == '.')) ++first;
  while (last != first && (last[-1] == '0' || last[-1] == '.')) --last;
  decimal->first = first;
  decimal->last = last;
  const bool spansPoint = hasPoint && first < point && last > point;
  decimal->numDigits = (last - first) - (spansPoint ? 1 : 0);
  // Digits between the last significant one and the point, counted left of it as positive.
  const int64_t fromPoint = last <= point ? point - last : -(last - fraction);
  decimal->exponent = exponent + fromPoint;
  return true;
}

}  // namespace penstock::bigquery
