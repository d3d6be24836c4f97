#include "penstock/bigquery/sink/table_create_options.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace penstock::bigquery {
namespace {

using Json = nlohmann::json;

absl::Status readString(const Json& value, const std::string& path, std::string& to) {
  if (!value.is_string()) return base::invalidArgument("{} must be a string", path);
  to = value.get<std::string>();
  return absl::OkStatus();
}

/// 64-bit numbers are strings in this API; people write numbers.
absl::Status readMilliseconds(const Json& value, const std::string& path,
                              std::optional<base::Duration>& to) {
  constexpr int64_t kMost = INT64_MAX / 1'000'000;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMost) {
    return base::invalidArgument("{} must be a whole number of milliseconds, from 1 to {}: '{}'",
                                 path, kMost, text);
  }
  to = std::chrono::milliseconds(number);
  return absl::OkStatus();
}

absl::Status readPartitioning(const Json& json, TableCreateOptions& options) {
  const std::string path = "timePartitioning";
  if (!json.is_object()) return base::invalidArgument("{} must be an object", path);
  for (const auto& [name, value] : json.items()) {
    const std::string member = path + "." + name;
    if (name == "type") {
      PENSTOCK_RETURN_IF_ERROR(readString(value, member, options.timePartitioningType));
    } else if (name == "field") {
      PENSTOCK_RETURN_IF_ERROR(readString(value, member, options.timePartitioningField));
    } else if (name == "expirationMs") {
      PENSTOCK_RETURN_IF_ERROR(readMilliseconds(value, member, options.timePartitioningExpiration));
    } else {
      return base::invalidArgument("{} is not supported; type, field and expirationMs are", member);
    }
  }
  return absl::OkStatus();
}

absl::Status readClustering(const Json& json, TableCreateOptions& options) {
  const bool hasFields =
      json.is_object() && json.size() == 1 && json.contains("fields") && json["fields"].is_array();
  if (!hasFields) return base::invalidArgument("clustering must be an object with a list `fields`");
  for (const Json& field : json["fields"]) {
    PENSTOCK_RETURN_IF_ERROR(
        readString(field, "clustering.fields", options.clusteredFields.emplace_back()));
  }
  return absl::OkStatus();
}

}  // namespace

std::string tableCreateOptionsToJson(const TableCreateOptions& options) {
  Json json = Json::object();
  if (!options.timePartitioningType.empty()) {
    Json& partitioning = json["timePartitioning"];
    partitioning["type"] = options.timePartitioningType;
    if (!options.timePartitioningField.empty()) {
      partitioning["field"] = options.timePartitioningField;
    }
    if (options.timePartitioningExpiration.has_value()) {
      const auto expiration = std::chrono::duration_cast<std::chrono::milliseconds>(
          *options.timePartitioningExpiration);
      partitioning["expirationMs"] = std::to_string(expiration.count());
    }
  }
  if (!options.clusteredFields.empty()) json["clustering"]["fields"] = options.clusteredFields;
  // Names that are not UTF-8 are the service's to refuse.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<TableCreateOptions> parseTableCreateOptions(std::string_view text) {
  TableCreateOptions options;
  if (text.empty()) return options;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return base::invalidArgument("creation options must be a JSON object");
  for (const auto& [name, value] : json.items()) {
    if (name == "timePartitioning") {
      PENSTOCK_RETURN_IF_ERROR(readPartitioning(value, options));
    } else if (name == "clustering") {
      PENSTOCK_RETURN_IF_ERROR(readClustering(value, options));
    } else {
      return base::invalidArgument(
          "the creation option {} is not supported; timePartitioning and clustering are", name);
    }
  }
  return options;
}

}  // namespace penstock::bigquery
