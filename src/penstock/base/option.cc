#include "penstock/base/option.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "penstock/base/byte_size.h"
#include "penstock/base/duration.h"
#include "penstock/base/text.h"

namespace penstock::base {
namespace {

/// "max-append-request-bytes" of "sink.max-append-request-bytes".
std::string_view withoutPrefix(std::string_view key) { return key.substr(key.rfind('.') + 1); }

std::string lowerCamelCase(std::string_view kebab) {
  std::string result;
  bool raise = false;
  for (const char c : kebab) {
    if (c == '-') {
      raise = true;
    } else {
      result += raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      raise = false;
    }
  }
  return result;
}

/// A choice in upper snake case, given in either case and with '-' or '_'.
std::string choiceName(std::string_view text) {
  std::string name = toUpper(text);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

absl::StatusOr<OptionValue> parseBoolean(std::string_view text) {
  const std::string lower = toLower(text);
  if (lower == "true") return OptionValue(true);
  if (lower == "false") return OptionValue(false);
  return invalidArgument("'{}' is not true or false", text);
}

template <typename Number>
absl::StatusOr<OptionValue> parseNumber(std::string_view text, std::string_view kind) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return invalidArgument("'{}' is out of range", text);
  }
  bool good = error == std::errc() && stop == end && !text.empty();
  if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
  if (!good) return invalidArgument("'{}' is not {}", text, kind);
  return OptionValue(value);
}

constexpr std::string_view kStatusHint = "the README's status table says what is";

/// The word that `name` is, or whose last part it is: EXACTLY_ONCE for STORAGE_API_EXACTLY_ONCE.
/// Empty if there is none or more than one.
std::string_view meantBy(std::string_view name, const std::vector<std::string>& words) {
  std::string_view meant;
  for (const std::string& word : words) {
    if (word == name) return word;
    if (name.empty() || !word.ends_with(fmt::format("_{}", name))) continue;
    if (!meant.empty()) return {};
    meant = word;
  }
  return meant;
}

absl::StatusOr<OptionValue> parseChoice(const OptionDefinition& definition, std::string_view text) {
  std::vector<std::string> all = definition.choices;
  all.insert(all.end(), definition.laterChoices.begin(), definition.laterChoices.end());
  const std::string name(meantBy(choiceName(text), all));
  if (contains(definition.choices, name)) return OptionValue(name);
  if (contains(definition.laterChoices, name)) {
    return notSupported("{} is not supported yet ({})", name, kStatusHint);
  }
  return invalidArgument("'{}' is not one of {}", text, joined(definition.choices, ", "));
}

OptionValue parseList(std::string_view text) {
  std::vector<std::string> items;
  while (true) {
    const size_t comma = text.find(',');
    items.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return OptionValue(std::move(items));
}

template <typename Value>
absl::StatusOr<OptionValue> asValue(absl::StatusOr<Value> parsed) {
  if (!parsed.ok()) return std::move(parsed).status();
  return OptionValue(*std::move(parsed));
}

/// The value of `text`; errors do not name the option yet.
absl::StatusOr<OptionValue> parseText(const OptionDefinition& definition, std::string_view text) {
  switch (definition.type) {
    case OptionType::kBoolean:
      return parseBoolean(text);
    case OptionType::kInteger:
      return parseNumber<int64_t>(text, "a whole number");
    case OptionType::kDecimal:
      return parseNumber<double>(text, "a number");
    case OptionType::kDuration:
      return asValue(parseDuration(text));
    case OptionType::kByteSize:
      return asValue(parseByteSize(text));
    case OptionType::kString:
      return OptionValue(std::string(text));
    case OptionType::kStringList:
      return parseList(text);
    case OptionType::kChoice:
      return parseChoice(definition, text);
    case OptionType::kEndpoint:
      break;  // parseEndpoint names the option itself
  }
  return absl::InternalError("no such option type");
}

bool isPositive(const OptionValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number > 0;
  if (const auto* number = std::get_if<double>(&value)) return *number > 0;
  if (const auto* duration = std::get_if<Duration>(&value)) return *duration > Duration::zero();
  return true;
}

bool isNotBlank(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !isBlank(*text);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return std::none_of(list->begin(), list->end(),
                        [](const std::string& item) { return isBlank(item); });
  }
  return true;
}

bool keepsRule(OptionRule rule, const OptionValue& value) {
  const auto* duration = std::get_if<Duration>(&value);
  const auto* decimal = std::get_if<double>(&value);
  const bool atLeastOneMillisecond =
      duration == nullptr || *duration >= std::chrono::milliseconds(1);
  switch (rule) {
    case OptionRule::kAny:
      return true;
    case OptionRule::kPositive:
      return isPositive(value);
    case OptionRule::kAtLeastOne:
      return decimal == nullptr || *decimal >= 1.0;
    case OptionRule::kAtLeastOneMillisecond:
      return atLeastOneMillisecond;
    case OptionRule::kZeroOrAtLeastOneMillisecond:
      return atLeastOneMillisecond || *duration == Duration::zero();
    case OptionRule::kNotBlank:
      return isNotBlank(value);
  }
  return false;
}

std::string_view ruleText(OptionRule rule) {
  switch (rule) {
    case OptionRule::kAny:
      return "";
    case OptionRule::kPositive:
      return "> 0";
    case OptionRule::kAtLeastOne:
      return ">= 1.0";
    case OptionRule::kAtLeastOneMillisecond:
      return ">= 1 ms";
    case OptionRule::kZeroOrAtLeastOneMillisecond:
      return "0 or >= 1 ms";
    case OptionRule::kNotBlank:
      return "not blank";
  }
  return "";
}

/// `shown` is the value as the caller wrote it.
absl::Status checkRule(const OptionDefinition& definition, const OptionValue& value,
                       std::string_view shown, OptionSpelling spelling) {
  const std::string name = definition.name(spelling);
  const auto* text = std::get_if<std::string>(&value);
  if (definition.type == OptionType::kChoice && text != nullptr &&
      !contains(definition.choices, *text)) {
    return invalidArgument("{}: '{}' is not one of {}", name, shown,
                           joined(definition.choices, ", "));
  }
  if (keepsRule(definition.rule, value)) return absl::OkStatus();
  if (definition.rule == OptionRule::kNotBlank) {
    return invalidArgument("{} must not be blank: '{}'", name, shown);
  }
  return invalidArgument("{} must be {}: '{}'", name, ruleText(definition.rule), shown);
}

}  // namespace

std::string OptionDefinition::name(OptionSpelling spelling) const {
  switch (spelling) {
    case OptionSpelling::kKey:
      return key;
    case OptionSpelling::kBuilder:
      return lowerCamelCase(withoutPrefix(key));
    case OptionSpelling::kFlag:
      return fmt::format("--{}", withoutPrefix(key));
  }
  return key;
}

std::string OptionDefinition::typeText() const {
  switch (type) {
    case OptionType::kBoolean:
      return "boolean";
    case OptionType::kInteger:
      return "integer";
    case OptionType::kDecimal:
      return "number";
    case OptionType::kDuration:
      return "duration";
    case OptionType::kByteSize:
      return "byte size";
    case OptionType::kString:
      return "string";
    case OptionType::kStringList:
      return "comma-separated strings";
    case OptionType::kEndpoint:
      return "HOST:PORT";
    case OptionType::kChoice:
      return joined(choices, " | ");
  }
  return "";
}

std::string OptionDefinition::rulesText() const { return std::string(ruleText(rule)); }

std::string OptionDefinition::defaultText() const { return optionText(type, defaultValue); }

std::string optionText(OptionType type, const OptionValue& value) {
  struct Visitor {
    OptionType type;
    std::string operator()(std::monostate) const { return "unset"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t number) const {
      return type == OptionType::kByteSize ? formatByteSize(number) : fmt::format("{}", number);
    }
    std::string operator()(double number) const {
      const bool isWhole = number == std::floor(number) && std::abs(number) < 1e15;
      return isWhole ? fmt::format("{:.1f}", number) : fmt::format("{}", number);
    }
    std::string operator()(Duration duration) const { return formatDuration(duration); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& list) const { return joined(list, ","); }
    std::string operator()(const Endpoint& endpoint) const { return endpoint.text(); }
  };
  return std::visit(Visitor{type}, value);
}

absl::StatusOr<OptionValue> parseOptionValue(const OptionDefinition& definition,
                                             std::string_view text, OptionSpelling spelling) {
  const std::string name = definition.name(spelling);
  if (!definition.supported) {
    return notSupported("{} is not supported yet ({}; given: '{}')", name, kStatusHint, text);
  }
  if (definition.type == OptionType::kEndpoint) return asValue(parseEndpoint(name, text));
  absl::StatusOr<OptionValue> value = parseText(definition, text);
  if (!value.ok()) return withContext(value.status(), name);
  PENSTOCK_RETURN_IF_ERROR(checkRule(definition, *value, text, spelling));
  return value;
}

absl::Status checkOptionValue(const OptionDefinition& definition, const OptionValue& value,
                              OptionSpelling spelling) {
  return checkRule(definition, value, optionText(definition.type, value), spelling);
}

absl::Status unknownOption(std::string_view given, std::span<const OptionDefinition> known,
                           OptionSpelling spelling) {
  std::string nearest;
  size_t nearestDistance = std::max<size_t>(2, given.size() / 3);
  for (const OptionDefinition& definition : known) {
    const std::string name = definition.name(spelling);
    const size_t distance =
        std::min(editDistance(given, name), editDistance(given, withoutPrefix(name)));
    if (distance < nearestDistance) {
      nearestDistance = distance;
      nearest = name;
    }
  }
  if (nearest.empty()) return invalidArgument("unknown option '{}'", given);
  return invalidArgument("unknown option '{}', did you mean '{}'?", given, nearest);
}

}  // namespace penstock::base
