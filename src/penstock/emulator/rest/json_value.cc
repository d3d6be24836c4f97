#include "penstock/emulator/rest/json_value.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "penstock/emulator/json_dump.h"
#include "penstock/emulator/rows/civil_time.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr size_t kMaxShownBytes = 200;

std::optional<int64_t> wholeNumber(double value) {
  constexpr double kBound = 0x1p63;
  if (!(value >= -kBound && value < kBound) || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

/// Microseconds of a number of seconds; nothing when TIMESTAMP has no such time.
std::optional<int64_t> microsOf(double seconds) {
  const double micros = std::round(seconds * 1e6);
  if (!(micros >= static_cast<double>(kMinTimestamp) &&
        micros <= static_cast<double>(kMaxTimestamp))) {
    return std::nullopt;
  }
  return static_cast<int64_t>(micros);
}

}  // namespace

std::optional<int64_t> integerFromJson(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return wholeNumber(value.get<double>());
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  double real = 0;
  if (!absl::SimpleAtod(text, &real)) return std::nullopt;
  return wholeNumber(real);
}

std::optional<double> realFromJson(const json& value) {
  if (value.is_number()) return value.get<double>();
  double real = 0;
  if (value.is_string() && absl::SimpleAtod(value.get_ref<const std::string&>(), &real))
    return real;
  return std::nullopt;
}

std::optional<bool> booleanFromJson(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_string()) return std::nullopt;
  const std::string text = absl::AsciiStrToLower(value.get_ref<const std::string&>());
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> textFromJson(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return dumped(value);
  return std::nullopt;
}

std::optional<std::string> bytesFromJson(const json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::string bytes;
  if (absl::Base64Unescape(text, &bytes) || absl::WebSafeBase64Unescape(text, &bytes)) return bytes;
  return std::nullopt;
}

std::optional<std::string> timestampFromJson(const json& value) {
  if (value.is_string() && timestampFromText(value.get_ref<const std::string&>())) {
    return value.get<std::string>();
  }
  const std::optional<double> seconds = realFromJson(value);
  const std::optional<int64_t> micros = seconds ? microsOf(*seconds) : std::nullopt;
  if (!micros) return std::nullopt;
  return datetimeText(*micros) + "Z";
}

std::string shownValue(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : dumped(value);
  if (text.size() <= kMaxShownBytes) return text;
  size_t end = kMaxShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace penstock::emulator
