#include "apps/penstock/flag_names.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "penstock/base/text.h"
#include "penstock/bigquery/serializers/protobuf_options.h"
#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::command {
namespace {

using Translation = std::function<std::optional<std::string_view>(std::string_view word)>;

bool isWordCharacter(char c) {
  return base::isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

bool opensData(char c) { return c == '.' || c == '"' || c == '\'' || c == '`' || c == '/'; }

std::string translated(std::string_view message, const Translation& translate) {
  std::string text;
  text.reserve(message.size());
  for (size_t at = 0; at < message.size();) {
    size_t end = at;
    while (end < message.size() && isWordCharacter(message[end])) ++end;
    if (end == at) {
      text += message[at++];
      continue;
    }
    const std::string_view word = message.substr(at, end - at);
    const bool isData = at > 0 && opensData(message[at - 1]);
    text += isData ? word : translate(word).value_or(word);
    at = end;
  }
  return text;
}

/// Options of the sink and of its serializers whose names cannot be words of a sentence.
const std::map<std::string, std::string, std::less<>>& flagsOfOptions() {
  static const auto* flags = [] {
    auto* made = new std::map<std::string, std::string, std::less<>>;
    const auto add = [made](const base::OptionDefinition& definition) {
      const std::string name = definition.name(base::OptionSpelling::kBuilder);
      if (base::toLower(name) == name) return;
      made->emplace(name, definition.name(base::OptionSpelling::kFlag));
    };
    for (const auto& definition : bigquery::sinkOptionSet().definitions()) add(definition);
    for (const auto& definition : bigquery::protobufOptionSet().definitions()) add(definition);
    add({.key = "json.ignore-unknown-fields"});
    made->emplace("ignoreFieldsWithoutColumn", "--ignore-unknown-fields");
    return made;
  }();
  return *flags;
}

}  // namespace

std::string withFlagNames(std::string_view message) {
  return translated(message, [](std::string_view word) -> std::optional<std::string_view> {
    const auto found = flagsOfOptions().find(word);
    if (found == flagsOfOptions().end()) return std::nullopt;
    return found->second;
  });
}

std::string withFlagNames(std::string_view message, std::span<const FlagName> names) {
  return translated(message, [names](std::string_view word) -> std::optional<std::string_view> {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [word](const FlagName& name) { return name.option == word; });
    if (found == names.end()) return std::nullopt;
    return found->flag;
  });
}

}  // namespace penstock::command
