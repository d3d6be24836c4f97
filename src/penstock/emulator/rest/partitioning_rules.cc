#include "penstock/emulator/rest/partitioning_rules.h"

#include <nlohmann/json.hpp>
#include <set>

#include "penstock/emulator/rest/api_call.h"
#include "penstock/emulator/rest/kept_members.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr size_t kMaxClusteringColumns = 4;
constexpr int64_t kMaxPartitions = 10000;

absl::StatusOr<const Field*> topLevelColumn(const Schema& schema, const std::string& name,
                                            std::string_view use) {
  const Field* field = findField(schema.fields, name);
  if (field == nullptr) {
    return base::invalidArgument(
        "The field specified for {} cannot be found in the schema. Field: {}.", use, name);
  }
  if (field->mode == FieldMode::kRepeated) {
    return base::invalidArgument("The field specified for {} must not be REPEATED. Field: {}.", use,
                                 name);
  }
  return field;
}

/// A negative one takes the expiration away, which is what bq sends.
absl::Status readExpiration(json& partitioning) {
  if (!present(partitioning, "expirationMs")) return absl::OkStatus();
  constexpr std::string_view kName = "timePartitioning.expirationMs";
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t millis, integerOf(partitioning["expirationMs"], kName));
  if (millis < 0) {
    partitioning.erase("expirationMs");
    return absl::OkStatus();
  }
  PENSTOCK_RETURN_IF_ERROR(positiveIntegerOf(millis, kName).status());
  partitioning["expirationMs"] = std::to_string(millis);
  return absl::OkStatus();
}

absl::Status checkTimePartitioning(json& partitioning, const Schema& schema) {
  const std::string unit = textOf(partitioning, "type");
  if (unit != "DAY" && unit != "HOUR" && unit != "MONTH" && unit != "YEAR") {
    return base::invalidArgument(
        "Invalid value for timePartitioning.type: '{}' is not one of HOUR, DAY, MONTH and YEAR",
        unit);
  }
  PENSTOCK_RETURN_IF_ERROR(readExpiration(partitioning));
  const std::string column = textOf(partitioning, "field");
  if (column.empty()) return absl::OkStatus();  // by time of ingestion
  PENSTOCK_ASSIGN_OR_RETURN(const Field* field,
                            topLevelColumn(schema, column, "time partitioning"));
  if (field->type != FieldType::kTimestamp && field->type != FieldType::kDate &&
      field->type != FieldType::kDatetime) {
    return base::invalidArgument(
        "The field specified for time partitioning must be of type TIMESTAMP, DATE or DATETIME. "
        "The type found is: {}.",
        restTypeName(field->type));
  }
  if (unit == "HOUR" && field->type == FieldType::kDate) {
    return base::invalidArgument("The field {} of type DATE cannot be partitioned by HOUR", column);
  }
  return absl::OkStatus();
}

absl::Status checkRange(json& range) {
  int64_t bounds[3] = {};
  constexpr const char* kNames[3] = {"start", "end", "interval"};
  for (size_t i = 0; i < 3; ++i) {
    if (!present(range, kNames[i])) {
      return base::invalidArgument("Required parameter is missing: rangePartitioning.range.{}",
                                   kNames[i]);
    }
    PENSTOCK_ASSIGN_OR_RETURN(
        bounds[i],
        integerOf(range[kNames[i]], fmt::format("rangePartitioning.range.{}", kNames[i])));
    range[kNames[i]] = std::to_string(bounds[i]);
  }
  const auto [start, end, interval] = bounds;
  if (interval <= 0 || start >= end) {
    return base::invalidArgument(
        "Invalid value for rangePartitioning.range: start must be below end and interval above 0, "
        "found start {}, end {} and interval {}",
        start, end, interval);
  }
  const uint64_t width = static_cast<uint64_t>(end) - static_cast<uint64_t>(start);
  const uint64_t partitions = (width - 1) / static_cast<uint64_t>(interval) + 1;
  if (partitions > static_cast<uint64_t>(kMaxPartitions)) {
    return base::invalidArgument(
        "Invalid value for rangePartitioning.range: a table has at most {} partitions, found {}",
        kMaxPartitions, partitions);
  }
  return absl::OkStatus();
}

absl::Status checkRangePartitioning(json& partitioning, const Schema& schema) {
  const std::string column = textOf(partitioning, "field");
  if (column.empty())
    return base::invalidArgument("Required parameter is missing: rangePartitioning.field");
  PENSTOCK_ASSIGN_OR_RETURN(const Field* field,
                            topLevelColumn(schema, column, "range partitioning"));
  if (field->type != FieldType::kInt64) {
    return base::invalidArgument(
        "The field specified for range partitioning must be of type INTEGER. The type found is: "
        "{}.",
        restTypeName(field->type));
  }
  if (!present(partitioning, "range") || !partitioning["range"].is_object()) {
    return base::invalidArgument("Required parameter is missing: rangePartitioning.range");
  }
  return checkRange(partitioning["range"]);
}

bool canCluster(FieldType type) {
  switch (type) {
    case FieldType::kBytes:
    case FieldType::kFloat64:
    case FieldType::kTime:
    case FieldType::kInterval:
    case FieldType::kJson:
    case FieldType::kStruct:
      return false;
    default:
      return true;
  }
}

absl::Status checkClustering(const json& clustering, const Schema& schema) {
  const json columns = clustering.value("fields", json());
  if (!columns.is_array() || columns.empty()) {
    return base::invalidArgument("Required parameter is missing: clustering.fields");
  }
  if (columns.size() > kMaxClusteringColumns) {
    return base::invalidArgument("Too many clustering fields: a table has at most {}, found {}",
                                 kMaxClusteringColumns, columns.size());
  }
  std::set<const Field*> seen;
  for (const json& name : columns) {
    if (!name.is_string())
      return base::invalidArgument("Invalid value for clustering.fields: must be strings");
    PENSTOCK_ASSIGN_OR_RETURN(const Field* field,
                              topLevelColumn(schema, name.get<std::string>(), "clustering"));
    if (!canCluster(field->type)) {
      return base::invalidArgument("Clustering is not supported on column {} of type {}",
                                   field->name, restTypeName(field->type));
    }
    if (!seen.insert(field).second) {
      return base::invalidArgument("Clustering field {} is named more than once", field->name);
    }
  }
  return absl::OkStatus();
}

/// What cannot change in a partitioning.
json fixedPartOf(const json& members) {
  json fixed = json::object();
  if (const auto found = members.find("timePartitioning"); found != members.end()) {
    const std::string field = textOf(*found, "field");
    fixed["time"] = {textOf(*found, "type"), foldedName(field)};
  }
  if (const auto found = members.find("rangePartitioning"); found != members.end()) {
    const std::string field = textOf(*found, "field");
    fixed["range"] = {foldedName(field), found->value("range", json())};
  }
  return fixed;
}

}  // namespace

absl::Status checkPartitioning(json& members, const Schema& schema) {
  const bool byTime = present(members, "timePartitioning");
  const bool byRange = present(members, "rangePartitioning");
  if (byTime && byRange) {
    return base::invalidArgument(
        "Only one of timePartitioning and rangePartitioning may be specified");
  }
  if (byTime) PENSTOCK_RETURN_IF_ERROR(checkTimePartitioning(members["timePartitioning"], schema));
  if (byRange) {
    PENSTOCK_RETURN_IF_ERROR(checkRangePartitioning(members["rangePartitioning"], schema));
  }
  if (!present(members, "clustering")) return absl::OkStatus();
  return checkClustering(members["clustering"], schema);
}

absl::Status checkSamePartitioning(const json& live, const json& changed) {
  const json before = fixedPartOf(live);
  if (before == fixedPartOf(changed)) return absl::OkStatus();
  if (before.empty()) {
    return base::invalidArgument("Cannot convert non partitioned table to partitioned table.");
  }
  return base::invalidArgument("Cannot change partitioning spec for a partitioned table.");
}

}  // namespace penstock::emulator
