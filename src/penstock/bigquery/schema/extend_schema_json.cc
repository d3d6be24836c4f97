#include "penstock/bigquery/schema/extend_schema_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/base/text.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/schema_json_value.h"
#include "penstock/bigquery/schema/type_name.h"

namespace penstock::bigquery {
namespace {

using nlohmann::json;

bool isNamed(const json& object, const std::string& name) {
  if (!object.is_object()) return false;
  const auto found = object.find("name");
  return found != object.end() && found->is_string() &&
         lowerCase(found->get<std::string>()) == lowerCase(name);
}

bool isRequired(const json& object) {
  const auto mode = object.find("mode");
  return mode != object.end() && mode->is_string() &&
         base::toUpper(mode->get<std::string>()) == nameOf(ColumnMode::kRequired);
}

/// `holder` is an object with `fields`: the schema or a STRUCT.
absl::Status extendLevel(json& holder, const std::vector<Column>& columns) {
  json& fields = holder["fields"];
  if (fields.is_null()) fields = json::array();
  if (!fields.is_array() || fields.size() > columns.size()) {
    return absl::InternalError("the table's columns are not those that were united");
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!isNamed(fields[i], columns[i].name)) {
      return base::makeStatus(absl::StatusCode::kInternal,
                              "column \"{}\" is not where it was when the columns were united",
                              columns[i].name);
    }
    if (isRequired(fields[i]) && columns[i].mode == ColumnMode::kNullable) {
      fields[i]["mode"] = nameOf(ColumnMode::kNullable);
    }
    if (!columns[i].fields.empty()) {
      PENSTOCK_RETURN_IF_ERROR(extendLevel(fields[i], columns[i].fields));
    }
  }
  const auto added = columns.begin() + static_cast<std::ptrdiff_t>(fields.size());
  json document = schemaToJsonValue({std::vector<Column>(added, columns.end())});
  for (json& column : document["fields"]) fields.push_back(std::move(column));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> extendSchemaJson(std::string_view live, const TableSchema& united) {
  json schema = live.empty() ? json::object() : json::parse(live, nullptr, false);
  if (!schema.is_object()) return absl::InternalError("the table's schema is no JSON object");
  PENSTOCK_RETURN_IF_ERROR(extendLevel(schema, united.columns));
  return schema.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace penstock::bigquery
