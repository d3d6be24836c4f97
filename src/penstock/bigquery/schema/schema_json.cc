#include "penstock/bigquery/schema/schema_json.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/base/text.h"
#include "penstock/bigquery/schema/schema_json_value.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/schema/validate_schema.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;
using nlohmann::json;

constexpr std::string_view kKnownTypes =
    "STRING, BYTES, INTEGER (INT64), FLOAT (FLOAT64), BOOLEAN (BOOL), TIMESTAMP, DATE, TIME, "
    "DATETIME, NUMERIC, BIGNUMERIC, GEOGRAPHY, JSON, INTERVAL, RANGE and RECORD (STRUCT)";

constexpr std::string_view kForms =
    "a schema is an array of columns, an object with \"fields\", or a table with \"schema\" as `bq "
    "show "
    "--format=prettyjson` prints it";

/// The attributes of a column that are read, as BigQuery spells them.
constexpr std::string_view kAttributes[] = {"name",
                                            "type",
                                            "mode",
                                            "fields",
                                            "precision",
                                            "scale",
                                            "maxLength",
                                            "description",
                                            "defaultValueExpression",
                                            "rangeElementType",
                                            "timestampPrecision"};

/// "name" for "Name", "maxLength" for "max_length": an attribute that would be overlooked
/// otherwise.
std::optional<std::string_view> misspelt(std::string_view key) {
  std::string letters = base::toLower(key);
  std::erase(letters, '_');
  for (const std::string_view attribute : kAttributes) {
    if (key == attribute) return std::nullopt;
    if (letters == base::toLower(attribute)) return attribute;
  }
  return std::nullopt;
}

/// Reads the attributes of one column. `where` names it in errors: `column "address.city"`.
class ColumnReader {
 public:
  ColumnReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  /// The attribute's text; empty if it is absent or null.
  absl::StatusOr<std::string> text(const char* attribute) const {
    const json* value = find(attribute);
    if (value == nullptr) return std::string();
    if (value->is_string()) return value->get<std::string>();
    return invalidArgument("{}: \"{}\" must be a string, and is {}", where_, attribute,
                           shown(*value));
  }

  /// The attribute's number, which JSON may have as a string; 0 if it is absent or null.
  absl::StatusOr<int64_t> number(const char* attribute, int64_t minimum) const {
    const json* value = find(attribute);
    if (value == nullptr) return 0;
    int64_t number = -1;
    if (value->is_number_integer()) {
      number = value->get<int64_t>();
    } else if (value->is_string()) {
      const auto& digits = value->get_ref<const std::string&>();
      const char* const end = digits.data() + digits.size();
      const auto [stop, error] = std::from_chars(digits.data(), end, number);
      if (error != std::errc() || stop != end) number = -1;
    }
    if (number < minimum || number > kLargest) {
      return invalidArgument("{}: \"{}\" must be a whole number from {}, and is {}", where_,
                             attribute, minimum, shown(*value));
    }
    return number;
  }

  absl::StatusOr<ColumnType> type(const char* attribute) const {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string name, text(attribute));
    return typeNamed(name);
  }

  absl::StatusOr<ColumnMode> mode() const {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string name, text("mode"));
    if (name.empty()) return ColumnMode::kNullable;
    if (const auto mode = parseColumnMode(name)) return *mode;
    return invalidArgument("{}: unknown mode \"{}\"; it is NULLABLE, REQUIRED or REPEATED", where_,
                           name);
  }

  /// `{"type": "DATE"}`, or just "DATE".
  absl::StatusOr<ColumnType> rangeElementType() const {
    const json* value = find("rangeElementType");
    if (value == nullptr) return ColumnType::kUnset;
    if (value->is_object()) return ColumnReader(*value, where_ + ", rangeElementType").type("type");
    return type("rangeElementType");
  }

  absl::Status checkSpelling() const {
    for (const auto& [key, value] : object_.items()) {
      if (const auto attribute = misspelt(key)) {
        return invalidArgument("{}: \"{}\" is not an attribute; write \"{}\"", where_, key,
                               *attribute);
      }
    }
    return absl::OkStatus();
  }

  [[nodiscard]] const json* find(const char* attribute) const {
    const auto found = object_.find(attribute);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

 private:
  static constexpr int64_t kLargest = int64_t{1} << 53;

  static std::string shown(const json& value) {
    constexpr size_t kMost = 60;
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
    return text;
  }

  absl::StatusOr<ColumnType> typeNamed(const std::string& name) const {
    if (name.empty()) return invalidArgument("{} has no \"type\"", where_);
    if (const auto type = parseColumnType(name)) return *type;
    if (name.find('(') != std::string::npos) {
      return invalidArgument(
          "{}: type \"{}\": parameters are attributes of their own: \"precision\" and \"scale\", "
          "or "
          "\"maxLength\"",
          where_, name);
    }
    if (base::toUpper(name).starts_with("ARRAY")) {
      return invalidArgument("{}: type \"{}\": an array is the element's type with mode REPEATED",
                             where_, name);
    }
    return invalidArgument("{}: unknown type \"{}\"; the types are {}", where_, name, kKnownTypes);
  }

  const json& object_;
  std::string where_;
};

absl::StatusOr<std::vector<Column>> readColumns(const json& array, const std::string& parent,
                                                int depth);

absl::StatusOr<Column> readColumn(const json& object, const std::string& parent, size_t position,
                                  int depth) {
  std::string where = "column " + std::to_string(position + 1);
  if (!parent.empty()) where += " of \"" + parent.substr(0, parent.size() - 1) + "\"";
  if (!object.is_object()) {
    return invalidArgument("{} is not a JSON object like {{\"name\": ..., \"type\": ...}}", where);
  }
  PENSTOCK_RETURN_IF_ERROR(ColumnReader(object, where).checkSpelling());
  Column column;
  PENSTOCK_ASSIGN_OR_RETURN(column.name, ColumnReader(object, where).text("name"));
  if (column.name.empty()) return invalidArgument("{} has no \"name\"", where);

  const std::string path = parent + column.name;
  const ColumnReader reader(object, "column \"" + path + "\"");
  PENSTOCK_ASSIGN_OR_RETURN(column.type, reader.type("type"));
  PENSTOCK_ASSIGN_OR_RETURN(column.mode, reader.mode());
  PENSTOCK_ASSIGN_OR_RETURN(column.precision, reader.number("precision", 1));
  PENSTOCK_ASSIGN_OR_RETURN(column.scale, reader.number("scale", 0));
  PENSTOCK_ASSIGN_OR_RETURN(column.maxLength, reader.number("maxLength", 1));
  PENSTOCK_ASSIGN_OR_RETURN(column.timestampPrecision, reader.number("timestampPrecision", 0));
  PENSTOCK_ASSIGN_OR_RETURN(column.description, reader.text("description"));
  PENSTOCK_ASSIGN_OR_RETURN(column.defaultValueExpression, reader.text("defaultValueExpression"));
  PENSTOCK_ASSIGN_OR_RETURN(column.rangeElementType, reader.rangeElementType());
  if (const json* fields = reader.find("fields")) {
    if (!fields->is_array()) {
      return invalidArgument("column \"{}\": \"fields\" must be an array of columns", path);
    }
    PENSTOCK_ASSIGN_OR_RETURN(column.fields, readColumns(*fields, path + ".", depth + 1));
  }
  return column;
}

absl::StatusOr<std::vector<Column>> readColumns(const json& array, const std::string& parent,
                                                int depth) {
  if (depth > kMaxSchemaDepth + 1) {
    return invalidArgument("column \"{}\": STRUCTs stand in each other more than {} levels deep",
                           parent.substr(0, parent.size() - 1), kMaxSchemaDepth);
  }
  std::vector<Column> columns;
  columns.reserve(array.size());
  for (const json& object : array) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, readColumn(object, parent, columns.size(), depth));
    columns.push_back(std::move(column));
  }
  return columns;
}

/// The array of columns inside any of the accepted forms; null if there is none.
const json* findColumns(const json& document) {
  if (document.is_array()) return &document;
  if (!document.is_object()) return nullptr;
  if (const auto schema = document.find("schema"); schema != document.end()) {
    return schema->is_array() || schema->is_object() ? findColumns(*schema) : nullptr;
  }
  const auto fields = document.find("fields");
  return fields != document.end() && fields->is_array() ? &*fields : nullptr;
}

void setNumber(json& object, const char* attribute, int64_t value) {
  if (value != 0) object[attribute] = std::to_string(value);  // as the REST API writes int64
}

void setText(json& object, const char* attribute, const std::string& value) {
  if (!value.empty()) object[attribute] = value;
}

json columnsToJson(const std::vector<Column>& columns) {
  json array = json::array();
  for (const Column& column : columns) {
    json object = {
        {"name", column.name}, {"type", restNameOf(column.type)}, {"mode", nameOf(column.mode)}};
    setNumber(object, "precision", column.precision);
    setNumber(object, "scale", column.scale);
    setNumber(object, "maxLength", column.maxLength);
    setNumber(object, "timestampPrecision", column.timestampPrecision);
    setText(object, "description", column.description);
    setText(object, "defaultValueExpression", column.defaultValueExpression);
    if (column.rangeElementType != ColumnType::kUnset) {
      object["rangeElementType"] = {{"type", restNameOf(column.rangeElementType)}};
    }
    if (!column.fields.empty()) object["fields"] = columnsToJson(column.fields);
    array.push_back(std::move(object));
  }
  return array;
}

/// The parser's message without its own prefix: "[json.exception.parse_error.101] parse error at
/// line 1...".
std::string withoutPrefix(std::string_view message) {
  const size_t bracket = message.find("] ");
  if (bracket != std::string_view::npos) message.remove_prefix(bracket + 2);
  constexpr std::string_view kPrefix = "parse error at ";
  if (message.starts_with(kPrefix)) message.remove_prefix(kPrefix.size());
  return std::string(message);
}

}  // namespace

absl::StatusOr<TableSchema> schemaFromJson(const json& document) {
  const json* columns = findColumns(document);
  if (columns == nullptr) return invalidArgument("this JSON holds no schema: {}", kForms);
  TableSchema schema;
  PENSTOCK_ASSIGN_OR_RETURN(schema.columns, readColumns(*columns, "", 1));
  PENSTOCK_RETURN_IF_ERROR(validateSchema(schema));
  return schema;
}

json schemaToJsonValue(const TableSchema& schema) {
  return json{{"fields", columnsToJson(schema.columns)}};
}

absl::StatusOr<TableSchema> parseSchemaJson(std::string_view text) {
  if (base::isBlank(text))
    return invalidArgument("there is no schema, only blank space; {}", kForms);
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    return invalidArgument("not valid JSON: {}", withoutPrefix(error.what()));
  }
  return schemaFromJson(document);
}

std::string schemaToJson(const TableSchema& schema, int indent) {
  return schemaToJsonValue(schema).dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace penstock::bigquery
