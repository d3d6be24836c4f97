#include "penstock/bigquery/transport/table_resource.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "penstock/bigquery/schema/schema_json_value.h"
#include "penstock/gcp/http_client.h"

namespace penstock::bigquery {
namespace {

using Json = nlohmann::json;
constexpr Json::error_handler_t kReplace = Json::error_handler_t::replace;

std::string stringIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// 64-bit numbers are strings in this API; some emulators write numbers. Absent = 0.
int64_t numberIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number_integer()) return found->get<int64_t>();
  int64_t value = 0;
  const std::string text = stringIn(object, name);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string tablesPath(const TableName& table) {
  return fmt::format("/bigquery/v2/projects/{}/datasets/{}/tables", gcp::urlEncode(table.project),
                     gcp::urlEncode(table.dataset));
}

std::string tablePath(const TableName& table) {
  return fmt::format("{}/{}", tablesPath(table), gcp::urlEncode(table.table));
}

std::string newTableResource(const TableName& table, const TableSchema& schema,
                             const TableCreateOptions& options) {
  Json resource = {
      {"tableReference",
       {{"projectId", table.project}, {"datasetId", table.dataset}, {"tableId", table.table}}},
      {"schema", schemaToJsonValue(schema)}};
  if (!options.timePartitioningType.empty()) {
    Json partitioning = {{"type", options.timePartitioningType}};
    if (!options.timePartitioningField.empty()) {
      partitioning["field"] = options.timePartitioningField;
    }
    if (options.timePartitioningExpiration.has_value()) {
      const auto expiration = std::chrono::duration_cast<std::chrono::milliseconds>(
          *options.timePartitioningExpiration);
      partitioning["expirationMs"] = std::to_string(expiration.count());
    }
    resource["timePartitioning"] = std::move(partitioning);
  }
  if (!options.clusteredFields.empty()) {
    resource["clustering"] = {{"fields", options.clusteredFields}};
  }
  // Names that are not UTF-8 are the service's to refuse.
  return resource.dump(-1, ' ', false, kReplace);
}

std::string schemaPatch(std::string_view schemaJson) {
  return fmt::format(R"({{"schema":{}}})", schemaJson);
}

absl::StatusOr<TableInfo> parseTableResource(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InternalError("the answer to tables.get is not a JSON object");
  }
  TableInfo table{.type = stringIn(json, "type"),
                  .etag = stringIn(json, "etag"),
                  .location = stringIn(json, "location"),
                  .numRows = numberIn(json, "numRows"),
                  .numBytes = numberIn(json, "numBytes")};
  const auto schema = json.find("schema");
  if (schema != json.end()) table.schemaJson = schema->dump(-1, ' ', false, kReplace);
  if (schema != json.end() && schema->contains("fields") && !(*schema)["fields"].empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(table.schema, schemaFromJson(*schema));
  }
  return table;
}

}  // namespace penstock::bigquery
