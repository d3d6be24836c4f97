#include "penstock/emulator/rest/resource_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "penstock/base/text.h"
#include "penstock/emulator/catalog/schema.h"
#include "penstock/emulator/rows/utf8.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr size_t kMaxIdBytes = 1024;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxLabelCharacters = 63;

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
using base::isDigit;
bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// Nothing that folding would change is in lower case.
bool isLabelText(const std::string& text) {
  return characterCount(text) <= kMaxLabelCharacters && foldedName(text) == text &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return !isAscii(c) || isLower(c) || isDigit(c) || c == '_' || c == '-';
         });
}

}  // namespace

absl::Status checkDatasetId(const std::string& id) {
  const bool allowed = std::all_of(id.begin(), id.end(), [](char c) {
    return isLower(c) || isUpper(c) || isDigit(c) || c == '_';
  });
  if (!allowed || id.empty() || id.size() > kMaxIdBytes) {
    return base::invalidArgument(
        "Invalid dataset ID \"{}\". Dataset IDs must be alphanumeric (plus underscores) and must "
        "be at most {} "
        "characters long.",
        id, kMaxIdBytes);
  }
  return absl::OkStatus();
}

absl::Status checkTableId(const std::string& id) {
  constexpr std::string_view kForbidden = "!\"#$%&'()*+,./:;<=>?@[\\]^`{|}~";
  const bool allowed = std::none_of(id.begin(), id.end(), [&](char c) {
    return static_cast<unsigned char>(c) < 0x20 || kForbidden.find(c) != std::string_view::npos;
  });
  if (!allowed || id.empty() || id.size() > kMaxIdBytes) {
    return base::invalidArgument(
        "Invalid table ID \"{}\". Table IDs hold letters, marks, digits, connectors, dashes and "
        "spaces and are at "
        "most {} bytes long.",
        id, kMaxIdBytes);
  }
  return absl::OkStatus();
}

absl::Status checkLabels(const json& labels) {
  if (!labels.is_object())
    return base::invalidArgument("Invalid value for labels: must be an object");
  if (labels.size() > kMaxLabels) {
    return base::invalidArgument("Invalid value for labels: at most {} are allowed, found {}",
                                 kMaxLabels, labels.size());
  }
  for (const auto& [key, value] : labels.items()) {
    if (key.empty() || !isLabelText(key) || (isAscii(key[0]) && !isLower(key[0]))) {
      return base::invalidArgument(
          "Invalid value for labels: the key '{}' must begin with a lower-case letter and hold at "
          "most {} lower-case letters, digits, underscores and dashes",
          key, kMaxLabelCharacters);
    }
    if (!value.is_string() || !isLabelText(value.get_ref<const std::string&>())) {
      return base::invalidArgument(
          "Invalid value for labels: the value of '{}' must be a string of at most {} lower-case "
          "letters, digits, underscores and dashes",
          key, kMaxLabelCharacters);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> canonicalLocation(const std::string& location) {
  const bool allowed =
      !location.empty() && std::all_of(location.begin(), location.end(), [](char c) {
        return isLower(c) || isUpper(c) || isDigit(c) || c == '-';
      });
  if (!allowed) {
    return base::invalidArgument(
        "Invalid value for location: '{}' is neither a region such as europe-west1 nor US or EU",
        location);
  }
  std::string text = location;
  // Regions have a dash and a digit; what has neither is a multi-region.
  const bool region = location.find('-') != std::string::npos;
  for (char& c : text) {
    if (region && isUpper(c)) c = static_cast<char>(c - 'A' + 'a');
    if (!region && isLower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace penstock::emulator
