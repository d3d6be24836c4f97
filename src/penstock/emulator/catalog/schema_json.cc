#include "penstock/emulator/catalog/schema_json.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "penstock/emulator/json_dump.h"
#include "penstock/emulator/rows/utf8.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr int kMaxRecordDepth = 15;
constexpr size_t kMaxColumns = 10000;
constexpr size_t kMaxNameCharacters = 300;
constexpr std::array<std::string_view, 8> kReservedPrefixes = {"_table_",
                                                               "_file_",
                                                               "_partition",
                                                               "_row_timestamp",
                                                               "__root__",
                                                               "_colidentifier",
                                                               "_change_sequence_number",
                                                               "_change_type"};
constexpr std::string_view kForbiddenInNames = "!\"$()*,./;?@[\\]^`{}~";

absl::Status checkName(const std::string& name) {
  const bool badCharacter = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 ||
           kForbiddenInNames.find(c) != std::string_view::npos;
  });
  if (name.empty() || badCharacter || characterCount(name) > kMaxNameCharacters) {
    return base::invalidArgument(
        "Invalid field name \"{}\". Fields must contain the allowed characters, and be at most {} "
        "characters long. For allowed characters, please refer to "
        "https://cloud.google.com/bigquery/docs/schemas#column_names",
        name, kMaxNameCharacters);
  }
  const std::string folded = foldedName(name);
  for (const std::string_view prefix : kReservedPrefixes) {
    if (folded.starts_with(prefix)) {
      return base::invalidArgument(
          "Invalid field name \"{}\". Field names are not allowed to start with the "
          "(case-insensitive) "
          "prefixes _TABLE_, _FILE_, _PARTITION, _ROW_TIMESTAMP, __ROOT__, _COLIDENTIFIER, "
          "_CHANGE_SEQUENCE_NUMBER and _CHANGE_TYPE",
          name);
    }
  }
  return absl::OkStatus();
}

/// Text of an optional string member; empty when absent or null.
absl::StatusOr<std::string> textMember(const json& object, const char* key,
                                       const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) {
    return base::invalidArgument("Invalid value for {} of field {}: must be a string", key, path);
  }
  return found->get<std::string>();
}

/// An optional int64 member, which the API writes as a string or a number; 0 when absent.
absl::StatusOr<int64_t> integerMember(const json& object, const char* key,
                                      const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return 0;
  int64_t value = 0;
  if (found->is_number_integer()) return found->get<int64_t>();
  if (found->is_string() && absl::SimpleAtoi(found->get<std::string>(), &value)) return value;
  return base::invalidArgument("Invalid value for {} of field {}: must be an integer", key, path);
}

/// {"names": [...]} as text; empty when absent.
absl::StatusOr<std::string> policyTagsOf(const json& object, const std::string& path) {
  const auto found = object.find("policyTags");
  if (found == object.end() || found->is_null()) return std::string();
  const json names = found->is_object() ? found->value("names", json::array()) : json();
  const bool texts = names.is_array() && std::all_of(names.begin(), names.end(),
                                                     [](const json& n) { return n.is_string(); });
  if (!texts) {
    return base::invalidArgument(
        "Invalid value for policyTags of field {}: must be an object with a list of names", path);
  }
  return dumped(json{{"names", names}});
}

absl::Status checkDecimalParameters(const Field& field, const std::string& path) {
  if (field.precision == 0 && field.scale == 0) return absl::OkStatus();
  const bool numeric = field.type == FieldType::kNumeric;
  const std::string_view type = restTypeName(field.type);
  const int64_t maxScale = numeric ? 9 : 38;
  const int64_t maxIntegerDigits = numeric ? 29 : 38;
  if (field.precision == 0) {
    return base::invalidArgument("Field {}: scale is given without precision for type {}", path,
                                 type);
  }
  if (field.scale < 0 || field.scale > maxScale) {
    return base::invalidArgument("Field {}: In {}(P, S), S must be between 0 and {}, found {}",
                                 path, type, maxScale, field.scale);
  }
  const int64_t lowest = std::max<int64_t>(1, field.scale);
  const int64_t highest = field.scale + maxIntegerDigits;
  if (field.precision < lowest || field.precision > highest) {
    return base::invalidArgument("Field {}: In {}(P, {}), P must be between {} and {}, found {}",
                                 path, type, field.scale, lowest, highest, field.precision);
  }
  return absl::OkStatus();
}

absl::Status checkTypeParameters(const Field& field, const std::string& path) {
  const std::string_view type = restTypeName(field.type);
  const bool decimal = field.type == FieldType::kNumeric || field.type == FieldType::kBignumeric;
  if (!decimal && (field.precision != 0 || field.scale != 0)) {
    return base::invalidArgument("Field {}: precision and scale are not allowed for type {}", path,
                                 type);
  }
  if (decimal) PENSTOCK_RETURN_IF_ERROR(checkDecimalParameters(field, path));
  if (field.maxLength != 0 && field.type != FieldType::kString && field.type != FieldType::kBytes) {
    return base::invalidArgument("Field {}: maxLength is not allowed for type {}", path, type);
  }
  if (field.maxLength < 0) {
    return base::invalidArgument("Field {}: maxLength must be positive, found {}", path,
                                 field.maxLength);
  }
  if (field.timestampPrecision != 0 &&
      (field.type != FieldType::kTimestamp ||
       (field.timestampPrecision != 6 && field.timestampPrecision != 12))) {
    return base::invalidArgument(
        "Field {}: timestampPrecision {} is not allowed for type {}: TIMESTAMP takes 6 or 12", path,
        field.timestampPrecision, type);
  }
  return absl::OkStatus();
}

absl::Status readRangeElementType(const json& object, const std::string& path, Field& field) {
  const auto found = object.find("rangeElementType");
  const bool given = found != object.end() && !found->is_null();
  if (field.type != FieldType::kRange) {
    if (!given) return absl::OkStatus();
    return base::invalidArgument("Field {}: rangeElementType is not allowed for type {}", path,
                                 restTypeName(field.type));
  }
  const json type = given && found->is_object() ? found->value("type", json()) : json();
  if (!type.is_string()) {
    return base::invalidArgument("Field {} is type RANGE but has no rangeElementType", path);
  }
  const auto name = type.get<std::string>();
  field.rangeElementType = fieldTypeOf(name);
  if (field.rangeElementType != FieldType::kDate &&
      field.rangeElementType != FieldType::kDatetime &&
      field.rangeElementType != FieldType::kTimestamp) {
    return base::invalidArgument(
        "Field {}: {} is not a valid rangeElementType; it must be DATE, DATETIME or TIMESTAMP",
        path, name);
  }
  return absl::OkStatus();
}

absl::Status readTypeAndMode(const json& object, const std::string& path, Field& field) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string type, textMember(object, "type", path));
  if (type.empty()) return base::invalidArgument("Field {} has no type", path);
  const std::optional<FieldType> known = fieldTypeOf(type);
  if (!known)
    return base::invalidArgument("Invalid value for type: {} is not a valid value (field {})", type,
                                 path);
  field.type = *known;

  PENSTOCK_ASSIGN_OR_RETURN(std::string mode, textMember(object, "mode", path));
  for (char& c : mode) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (mode.empty() || mode == "NULLABLE") {
    field.mode = FieldMode::kNullable;
  } else if (mode == "REQUIRED") {
    field.mode = FieldMode::kRequired;
  } else if (mode == "REPEATED") {
    field.mode = FieldMode::kRepeated;
  } else {
    return base::invalidArgument("Invalid value for mode: {} is not a valid value (field {})", mode,
                                 path);
  }
  return absl::OkStatus();
}

absl::Status readFields(const json& list, const std::string& parent, int depth, size_t& columns,
                        std::vector<Field>& fields);

absl::Status readField(const json& object, const std::string& parent, int depth, size_t& columns,
                       Field& field) {
  if (!object.is_object())
    return base::invalidArgument("Invalid schema: a field must be an object");
  PENSTOCK_ASSIGN_OR_RETURN(field.name,
                            textMember(object, "name", parent.empty() ? "schema" : parent));
  PENSTOCK_RETURN_IF_ERROR(checkName(field.name));
  const std::string path = parent.empty() ? field.name : parent + "." + field.name;
  PENSTOCK_RETURN_IF_ERROR(readTypeAndMode(object, path, field));
  PENSTOCK_ASSIGN_OR_RETURN(field.maxLength, integerMember(object, "maxLength", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.precision, integerMember(object, "precision", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.scale, integerMember(object, "scale", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.timestampPrecision,
                            integerMember(object, "timestampPrecision", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.description, textMember(object, "description", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.defaultValueExpression,
                            textMember(object, "defaultValueExpression", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.roundingMode, textMember(object, "roundingMode", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.collation, textMember(object, "collation", path));
  PENSTOCK_ASSIGN_OR_RETURN(field.policyTags, policyTagsOf(object, path));
  PENSTOCK_RETURN_IF_ERROR(checkTypeParameters(field, path));
  PENSTOCK_RETURN_IF_ERROR(readRangeElementType(object, path, field));

  const auto children = object.find("fields");
  const bool hasChildren = children != object.end() && !children->is_null() && !children->empty();
  if (field.type == FieldType::kStruct) {
    if (!hasChildren)
      return base::invalidArgument("Field {} is type RECORD but has no schema", path);
    return readFields(*children, path, depth + 1, columns, field.fields);
  }
  if (hasChildren) {
    return base::invalidArgument("Field {} is type {} but has a schema; only RECORD has fields",
                                 path, restTypeName(field.type));
  }
  return absl::OkStatus();
}

absl::Status readFields(const json& list, const std::string& parent, int depth, size_t& columns,
                        std::vector<Field>& fields) {
  if (!list.is_array()) return base::invalidArgument("Invalid schema: fields must be a list");
  if (depth > kMaxRecordDepth) {
    return base::invalidArgument("Schema has more than {} nested levels of RECORD at field {}",
                                 kMaxRecordDepth, parent);
  }
  columns += list.size();
  if (columns > kMaxColumns) {
    return base::invalidArgument("Too many total leaf fields: a table has at most {} columns",
                                 kMaxColumns);
  }
  std::set<std::string> names;
  for (const json& object : list) {
    Field& field = fields.emplace_back();
    PENSTOCK_RETURN_IF_ERROR(readField(object, parent, depth, columns, field));
    if (!names.insert(foldedName(field.name)).second) {
      return base::invalidArgument("Field {} already exists in schema",
                                   parent.empty() ? field.name : parent + "." + field.name);
    }
  }
  return absl::OkStatus();
}

json fieldJson(const Field& field) {
  json object = {
      {"name", field.name}, {"type", restTypeName(field.type)}, {"mode", restModeName(field.mode)}};
  const auto setInteger = [&](const char* key, int64_t value) {
    if (value != 0) object[key] = std::to_string(value);
  };
  const auto setText = [&](const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  setInteger("maxLength", field.maxLength);
  setInteger("precision", field.precision);
  setInteger("scale", field.scale);
  setInteger("timestampPrecision", field.timestampPrecision);
  setText("description", field.description);
  setText("defaultValueExpression", field.defaultValueExpression);
  setText("roundingMode", field.roundingMode);
  setText("collation", field.collation);
  if (!field.policyTags.empty()) object["policyTags"] = json::parse(field.policyTags);
  if (field.rangeElementType)
    object["rangeElementType"] = {{"type", restTypeName(*field.rangeElementType)}};
  if (!field.fields.empty()) {
    json& children = object["fields"] = json::array();
    for (const Field& child : field.fields) children.push_back(fieldJson(child));
  }
  return object;
}

}  // namespace

absl::StatusOr<Schema> parseSchema(const json& schema) {
  Schema result;
  if (schema.is_null()) return result;
  if (!schema.is_object())
    return base::invalidArgument("Invalid schema: must be an object with fields");
  const auto fields = schema.find("fields");
  if (fields == schema.end() || fields->is_null()) return result;
  size_t columns = 0;
  PENSTOCK_RETURN_IF_ERROR(readFields(*fields, "", 1, columns, result.fields));
  return result;
}

json schemaJson(const Schema& schema) {
  json fields = json::array();
  for (const Field& field : schema.fields) fields.push_back(fieldJson(field));
  return {{"fields", std::move(fields)}};
}

}  // namespace penstock::emulator
