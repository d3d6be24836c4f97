#include "penstock/bigquery/serializers/protobuf_options.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "penstock/base/text.h"

namespace penstock::bigquery {
namespace {

using base::OptionRule;
using ProtobufOptionSet = base::OptionSet<ProtobufOptions>;

constexpr const char* kJsonFieldOptions = "protobuf.json-field-options";
constexpr const char* kGeographyFieldOptions = "protobuf.geography-field-options";

ProtobufOptionSet makeProtobufOptionSet() {
  const std::string group = "Protobuf messages";
  ProtobufOptionSet set;
  set.add(
      {.key = "protobuf.json-field-paths",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "Strings and messages that become JSON columns, by path: items.note."},
      [](auto& options) -> auto& { return options.jsonFieldPaths; });
  set.add(
      {.key = kJsonFieldOptions,
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "The same by a bool option set on them: NUMBER or FULL.NAME=NUMBER."},
      [](auto& options) -> auto& { return options.jsonFieldOptions; });
  set.add(
      {.key = "protobuf.geography-field-paths",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "Strings that become GEOGRAPHY columns, by path."},
      [](auto& options) -> auto& { return options.geographyFieldPaths; });
  set.add(
      {.key = kGeographyFieldOptions,
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "The same by a bool option set on them: NUMBER or FULL.NAME=NUMBER."},
      [](auto& options) -> auto& { return options.geographyFieldOptions; });
  set.add(
      {.key = "protobuf.derive-required-columns",
       .group = group,
       .description =
           "Create what every message has as REQUIRED: proto2 required, fields without presence."},
      [](auto& options) -> auto& { return options.deriveRequiredColumns; });
  set.add(
      {.key = "protobuf.reject-unknown-fields",
       .group = group,
       .description = "A message with a field that its type does not have is refused; default: the "
                      "field is dropped."},
      [](auto& options) -> auto& { return options.rejectUnknownFields; });
  return set;
}

std::optional<ProtobufFieldOption> parseFieldOption(std::string_view text) {
  ProtobufFieldOption option;
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    option.fullName = std::string(base::trimmed(text.substr(0, equals)));
    if (option.fullName.empty()) return std::nullopt;
    text.remove_prefix(equals + 1);
  }
  text = base::trimmed(text);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, option.number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return option;
}

absl::StatusOr<std::vector<ProtobufFieldOption>> parseFieldOptions(
    const char* key, const std::vector<std::string>& texts, base::OptionSpelling spelling) {
  std::vector<ProtobufFieldOption> options;
  for (const std::string& text : texts) {
    std::optional<ProtobufFieldOption> option = parseFieldOption(text);
    if (!option) {
      return base::invalidArgument(
          "{}: '{}' is not an option on fields; it is given as its NUMBER, or as FULL.NAME=NUMBER",
          base::OptionDefinition{.key = key}.name(spelling), text);
    }
    options.push_back(*std::move(option));
  }
  return options;
}

}  // namespace

absl::StatusOr<ProtoSchemaOptions> ProtobufOptions::schemaOptions(
    base::OptionSpelling spelling) const {
  PENSTOCK_RETURN_IF_ERROR(protobufOptionSet().check(*this, spelling));
  ProtoSchemaOptions options;
  options.deriveRequiredColumns = deriveRequiredColumns;
  options.jsonFieldPaths = jsonFieldPaths;
  options.geographyFieldPaths = geographyFieldPaths;
  PENSTOCK_ASSIGN_OR_RETURN(options.jsonFieldOptions,
                            parseFieldOptions(kJsonFieldOptions, jsonFieldOptions, spelling));
  PENSTOCK_ASSIGN_OR_RETURN(
      options.geographyFieldOptions,
      parseFieldOptions(kGeographyFieldOptions, geographyFieldOptions, spelling));
  return options;
}

const base::OptionSet<ProtobufOptions>& protobufOptionSet() {
  static const ProtobufOptionSet* set = new ProtobufOptionSet(makeProtobufOptionSet());
  return *set;
}

}  // namespace penstock::bigquery
