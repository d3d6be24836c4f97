#include "penstock/base/quantity.h"

#include <numeric>

#include "penstock/base/text.h"

namespace penstock::base {
namespace {

bool isUnitLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view takeWhile(std::string_view& text, bool (*accepts)(char)) {
  size_t length = 0;
  while (length < text.size() && accepts(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

const Unit* findUnit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Quantity::Problem scale(std::string_view whole, std::string_view fraction, int64_t factor,
                        int64_t& value) {
  value = 0;
  for (const char c : whole) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{c - '0'}, &value)) {
      return Quantity::Problem::kTooLarge;
    }
  }
  if (__builtin_mul_overflow(value, factor, &value)) return Quantity::Problem::kTooLarge;
  // The fraction is digits / 10^n of the factor, in lowest terms: a remainder would be rounded
  // away.
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  constexpr size_t kMostDigits = 18;  // 10^18 still fits
  if (fraction.size() > kMostDigits) return Quantity::Problem::kTooFine;
  int64_t digits = 0;
  int64_t power = 1;
  for (const char c : fraction) {
    digits = digits * 10 + (c - '0');
    power *= 10;
  }
  const int64_t divisor = std::gcd(factor, power);
  if (digits % (power / divisor) != 0) return Quantity::Problem::kTooFine;
  const int64_t digitsValue = digits / (power / divisor) * (factor / divisor);
  if (__builtin_add_overflow(value, digitsValue, &value)) return Quantity::Problem::kTooLarge;
  return Quantity::Problem::kNone;
}

}  // namespace

Quantity takeQuantity(std::string_view& text, std::span<const Unit> units) {
  Quantity result;
  text = trimmed(text);
  const std::string_view whole = takeWhile(text, isDigit);
  std::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = takeWhile(text, isDigit);
    if (fraction.empty()) result.problem = Quantity::Problem::kMalformed;
  }
  if (whole.empty()) result.problem = Quantity::Problem::kMalformed;
  if (result.problem != Quantity::Problem::kNone) return result;
  text = trimmed(text);
  result.unit = takeWhile(text, isUnitLetter);
  result.hasUnit = !result.unit.empty();
  const Unit* unit = result.hasUnit ? findUnit(units, result.unit) : nullptr;
  if (result.hasUnit && unit == nullptr) {
    result.problem = Quantity::Problem::kUnknownUnit;
    return result;
  }
  result.problem = scale(whole, fraction, unit == nullptr ? 1 : unit->factor, result.value);
  text = trimmed(text);
  return result;
}

}  // namespace penstock::base
