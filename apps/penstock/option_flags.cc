#include "apps/penstock/option_flags.h"

#include <CLI/CLI.hpp>

#include "penstock/base/text.h"

namespace penstock::command {
namespace {

using base::OptionDefinition;
using base::OptionSpelling;
using base::OptionType;

std::string placeholder(const OptionDefinition& definition) {
  switch (definition.type) {
    case OptionType::kBoolean:
      return "";
    case OptionType::kInteger:
      return "N";
    case OptionType::kDecimal:
      return "X";
    case OptionType::kDuration:
      return "DURATION";
    case OptionType::kByteSize:
      return "SIZE";
    case OptionType::kString:
      return "TEXT";
    case OptionType::kStringList:
      return "A,B,...";
    case OptionType::kEndpoint:
      return "HOST:PORT";
    case OptionType::kChoice:
      return definition.typeText();
  }
  return "";
}

std::string help(const OptionDefinition& definition) {
  std::string text = definition.description;
  if (!definition.rulesText().empty()) text += fmt::format(" {};", definition.rulesText());
  if (definition.defaultText() != "unset")
    text += fmt::format(" default {}", definition.defaultText());
  if (text.ends_with(';')) text.pop_back();
  return text;
}

}  // namespace

OptionFlags::OptionFlags(CLI::App& app, std::span<const OptionDefinition> definitions,
                         const std::function<bool(const OptionDefinition&)>& wanted) {
  for (const OptionDefinition& definition : definitions) {
    if (wanted && !wanted(definition)) continue;
    auto flag = std::make_unique<Flag>();
    flag->name = definition.name(OptionSpelling::kFlag);
    if (definition.type == OptionType::kBoolean) {
      flag->option = app.add_flag(flag->name, flag->text, help(definition));
    } else {
      flag->option = app.add_option(flag->name, flag->text, help(definition));
      flag->option->type_name(placeholder(definition));
    }
    flag->option->group(definition.supported ? definition.group : "");
    flags_.push_back(std::move(flag));
  }
}

OptionFlags::~OptionFlags() = default;

bool OptionFlags::isGiven(const Flag& flag) { return flag.option->count() > 0; }

std::string OptionFlags::firstGiven() const {
  for (const auto& flag : flags_) {
    if (isGiven(*flag)) return flag->name;
  }
  return {};
}

bool isConnectionOption(const OptionDefinition& definition) {
  return definition.group == "Connection";
}

}  // namespace penstock::command
