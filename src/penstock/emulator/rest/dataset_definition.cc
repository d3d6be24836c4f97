#include "penstock/emulator/rest/dataset_definition.h"

#include <array>
#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/api_call.h"
#include "penstock/emulator/rest/kept_members.h"
#include "penstock/emulator/rest/resource_rules.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using MemberKind = KeptMember::Kind;

constexpr int64_t kMinTableExpirationMillis = 3600000;

/// Beside these, name, location and times are kept.
constexpr std::array<KeptMember, 14> kDatasetMembers{
    {{"description", MemberKind::kText},
     {"friendlyName", MemberKind::kText},
     {"labels", MemberKind::kObject},
     {"access", MemberKind::kList},
     {"defaultTableExpirationMs", MemberKind::kInteger},
     {"defaultPartitionExpirationMs", MemberKind::kInteger},
     {"defaultEncryptionConfiguration", MemberKind::kObject},
     {"isCaseInsensitive", MemberKind::kBoolean},
     {"defaultCollation", MemberKind::kText},
     {"defaultRoundingMode", MemberKind::kText},
     {"maxTimeTravelHours", MemberKind::kInteger},
     {"storageBillingModel", MemberKind::kText},
     {"resourceTags", MemberKind::kObject},
     {"externalCatalogDatasetOptions", MemberKind::kObject}}};

absl::StatusOr<json> checkedMembers(const json& body) {
  PENSTOCK_ASSIGN_OR_RETURN(json members, keptMembers(body, kDatasetMembers));
  if (present(members, "labels")) PENSTOCK_RETURN_IF_ERROR(checkLabels(members["labels"]));
  if (present(members, "defaultTableExpirationMs")) {
    PENSTOCK_ASSIGN_OR_RETURN(const int64_t millis, integerOf(members["defaultTableExpirationMs"],
                                                              "defaultTableExpirationMs"));
    if (millis < kMinTableExpirationMillis) {
      return base::invalidArgument(
          "Invalid value for defaultTableExpirationMs: {} is less than one hour ({})", millis,
          kMinTableExpirationMillis);
    }
  }
  if (present(members, "defaultPartitionExpirationMs")) {
    PENSTOCK_RETURN_IF_ERROR(
        positiveIntegerOf(members["defaultPartitionExpirationMs"], "defaultPartitionExpirationMs")
            .status());
  }
  return members;
}

}  // namespace

absl::StatusOr<DatasetDefinition> parseDatasetDefinition(const DatasetReference& reference,
                                                         const json& body,
                                                         const std::string& defaultLocation) {
  PENSTOCK_RETURN_IF_ERROR(checkDatasetId(reference.dataset));
  PENSTOCK_RETURN_IF_ERROR(checkTextMembers(body, {"location"}));
  PENSTOCK_ASSIGN_OR_RETURN(const json members, checkedMembers(body));
  DatasetDefinition definition;
  definition.reference = reference;
  const std::string location = textOf(body, "location");
  PENSTOCK_ASSIGN_OR_RETURN(definition.location,
                            canonicalLocation(location.empty() ? defaultLocation : location));
  definition.properties = storedMembers(members);
  return definition;
}

absl::StatusOr<std::string> changedDataset(const Dataset& live, const json& body, bool patch) {
  PENSTOCK_RETURN_IF_ERROR(checkTextMembers(body, {"location"}));
  if (const std::string location = textOf(body, "location"); !location.empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string wanted, canonicalLocation(location));
    PENSTOCK_ASSIGN_OR_RETURN(const std::string current, canonicalLocation(live.location));
    if (wanted != current) {
      return base::invalidArgument("Cannot change the location of dataset {} from {} to {}",
                                   live.reference.text(), live.location, wanted);
    }
  }
  PENSTOCK_ASSIGN_OR_RETURN(
      const json members,
      checkedMembers(patch ? patchedMembers(live.properties, body, kDatasetMembers) : body));
  return storedMembers(members);
}

}  // namespace penstock::emulator
