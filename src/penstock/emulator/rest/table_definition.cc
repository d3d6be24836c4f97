#include "penstock/emulator/rest/table_definition.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_change.h"
#include "penstock/emulator/catalog/schema_json.h"
#include "penstock/emulator/json_dump.h"
#include "penstock/emulator/rest/api_call.h"
#include "penstock/emulator/rest/kept_members.h"
#include "penstock/emulator/rest/partitioning_rules.h"
#include "penstock/emulator/rest/resource_rules.h"
#include "penstock/emulator/rows/default_value.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using MemberKind = KeptMember::Kind;

constexpr size_t kMaxKeyColumns = 16;

// Without maxStaleness: [M] the service takes it and never gives it back.
constexpr std::array<KeptMember, 13> kTableMembers{
    {{"description", MemberKind::kText},
     {"friendlyName", MemberKind::kText},
     {"labels", MemberKind::kObject},
     {"expirationTime", MemberKind::kInteger},
     {"timePartitioning", MemberKind::kObject},
     {"rangePartitioning", MemberKind::kObject},
     {"clustering", MemberKind::kObject},
     {"requirePartitionFilter", MemberKind::kBoolean},
     {"encryptionConfiguration", MemberKind::kObject},
     {"tableConstraints", MemberKind::kObject},
     {"defaultCollation", MemberKind::kText},
     {"defaultRoundingMode", MemberKind::kText},
     {"resourceTags", MemberKind::kObject}}};

struct OtherKind {
  const char* member;
  std::string_view name;
};
constexpr std::array<OtherKind, 5> kOtherKinds{{{"view", "A view"},
                                                {"materializedView", "A materialized view"},
                                                {"externalDataConfiguration", "An external table"},
                                                {"snapshotDefinition", "A table snapshot"},
                                                {"model", "A model"}}};

absl::Status refuseOtherKinds(const json& body) {
  for (const OtherKind& kind : kOtherKinds) {
    if (present(body, kind.member)) {
      return base::notSupported("{} is not supported yet by the Penstock emulator", kind.name);
    }
  }
  return absl::OkStatus();
}

absl::Status checkNoDefaults(const std::vector<Field>& fields, const std::string& parent) {
  for (const Field& field : fields) {
    const std::string path = parent + "." + field.name;
    if (!field.defaultValueExpression.empty()) {
      return base::invalidArgument(
          "Invalid default value expression for field {}: only columns at the top of a table have "
          "default values",
          path);
    }
    PENSTOCK_RETURN_IF_ERROR(checkNoDefaults(field.fields, path));
  }
  return absl::OkStatus();
}

absl::Status checkDefaults(const Schema& schema) {
  for (const Field& field : schema.fields) {
    if (!field.defaultValueExpression.empty()) {
      PENSTOCK_RETURN_IF_ERROR(DefaultValue::parse(field).status());
    }
    PENSTOCK_RETURN_IF_ERROR(checkNoDefaults(field.fields, field.name));
  }
  return absl::OkStatus();
}

absl::Status checkPrimaryKey(const json& members, const Schema& schema) {
  if (!present(members, "tableConstraints")) return absl::OkStatus();
  const json& constraints = members["tableConstraints"];
  if (!present(constraints, "primaryKey")) return absl::OkStatus();
  const json key = constraints["primaryKey"];
  const json columns = key.is_object() ? key.value("columns", json()) : json();
  if (!columns.is_array() || columns.empty() || columns.size() > kMaxKeyColumns) {
    return base::invalidArgument(
        "Invalid value for tableConstraints.primaryKey.columns: must be a list of 1 to {} columns",
        kMaxKeyColumns);
  }
  for (const json& name : columns) {
    const Field* field =
        name.is_string() ? findField(schema.fields, name.get<std::string>()) : nullptr;
    if (field == nullptr || field->mode == FieldMode::kRepeated ||
        field->type == FieldType::kStruct) {
      return base::invalidArgument(
          "Invalid value for tableConstraints.primaryKey.columns: {} is not a column of the table "
          "that a key can have",
          dumped(name));
    }
  }
  return absl::OkStatus();
}

/// 0 = never.
absl::StatusOr<int64_t> expirationOf(const json& members) {
  if (!present(members, "expirationTime")) return 0;
  return positiveIntegerOf(members["expirationTime"], "expirationTime");
}

absl::Status checkExpiration(const json& members, int64_t nowMillis) {
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t millis, expirationOf(members));
  if (millis == 0 || millis > nowMillis) return absl::OkStatus();
  return base::invalidArgument(
      "Invalid value for expirationTime: {} is not in the future (milliseconds since the epoch)",
      millis);
}

absl::Status checkMembers(json& members, const Schema& schema, int64_t nowMillis) {
  PENSTOCK_RETURN_IF_ERROR(checkDefaults(schema));
  if (present(members, "labels")) PENSTOCK_RETURN_IF_ERROR(checkLabels(members["labels"]));
  PENSTOCK_RETURN_IF_ERROR(checkPartitioning(members, schema));
  PENSTOCK_RETURN_IF_ERROR(checkPrimaryKey(members, schema));
  return checkExpiration(members, nowMillis);
}

absl::Status applyDatasetDefaults(const Dataset& dataset, int64_t nowMillis, json& members) {
  const json defaults = membersOf(dataset.properties);
  if (present(defaults, "defaultTableExpirationMs") && !present(members, "expirationTime") &&
      !present(members, "timePartitioning")) {
    PENSTOCK_ASSIGN_OR_RETURN(const int64_t millis, integerOf(defaults["defaultTableExpirationMs"],
                                                              "defaultTableExpirationMs"));
    const int64_t longest = std::numeric_limits<int64_t>::max() - nowMillis;
    members["expirationTime"] = std::to_string(nowMillis + std::min(millis, longest));
  }
  if (present(defaults, "defaultPartitionExpirationMs") && present(members, "timePartitioning") &&
      !present(members["timePartitioning"], "expirationMs")) {
    members["timePartitioning"]["expirationMs"] = defaults["defaultPartitionExpirationMs"];
  }
  return absl::OkStatus();
}

/// What a PATCH leaves of clustering may be an empty list, by which it is taken away too.
void dropEmptyClustering(json& members) {
  if (!present(members, "clustering")) return;
  const json fields = members["clustering"].value("fields", json());
  if (fields.is_array() && fields.empty()) members.erase("clustering");
}

}  // namespace

absl::StatusOr<TableDefinition> parseTableDefinition(const TableReference& reference,
                                                     const json& body, const Dataset& dataset,
                                                     int64_t nowMillis) {
  PENSTOCK_RETURN_IF_ERROR(refuseOtherKinds(body));
  PENSTOCK_RETURN_IF_ERROR(checkTableId(reference.table));
  TableDefinition definition;
  definition.reference = reference;
  definition.creationMillis = nowMillis;
  if (present(body, "schema")) {
    PENSTOCK_ASSIGN_OR_RETURN(definition.schema, parseSchema(body["schema"]));
  }
  PENSTOCK_ASSIGN_OR_RETURN(json members, keptMembers(body, kTableMembers));
  PENSTOCK_RETURN_IF_ERROR(checkMembers(members, definition.schema, nowMillis));
  PENSTOCK_RETURN_IF_ERROR(applyDatasetDefaults(dataset, nowMillis, members));
  PENSTOCK_ASSIGN_OR_RETURN(definition.expirationMillis, expirationOf(members));
  definition.properties = storedMembers(members);
  return definition;
}

absl::StatusOr<TableDefinition> changedTable(const Table& live, const json& body, ChangeKind kind,
                                             int64_t nowMillis) {
  PENSTOCK_RETURN_IF_ERROR(refuseOtherKinds(body));
  TableDefinition definition;
  definition.reference = live.reference;
  definition.schema = live.schema;
  if (present(body, "schema")) {
    PENSTOCK_ASSIGN_OR_RETURN(const Schema wanted, parseSchema(body["schema"]));
    PENSTOCK_ASSIGN_OR_RETURN(definition.schema,
                              changedSchema(live.reference.text(), live.schema, wanted));
  }
  const json before = membersOf(live.properties);
  json wanted = body;
  if (kind == ChangeKind::kPatch) {
    wanted = patchedMembers(live.properties, body, kTableMembers);
  } else {
    for (const char* partitioning : {"timePartitioning", "rangePartitioning"}) {
      if (!body.contains(partitioning) && before.contains(partitioning))
        wanted[partitioning] = before[partitioning];
    }
  }
  PENSTOCK_ASSIGN_OR_RETURN(json members, keptMembers(wanted, kTableMembers));
  dropEmptyClustering(members);
  PENSTOCK_RETURN_IF_ERROR(checkMembers(members, definition.schema, nowMillis));
  PENSTOCK_RETURN_IF_ERROR(checkSamePartitioning(before, members));
  PENSTOCK_ASSIGN_OR_RETURN(definition.expirationMillis, expirationOf(members));
  definition.properties = storedMembers(members);
  return definition;
}

}  // namespace penstock::emulator
