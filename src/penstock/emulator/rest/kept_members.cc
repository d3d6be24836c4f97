#include "penstock/emulator/rest/kept_members.h"

#include <absl/strings/numbers.h>

#include <nlohmann/json.hpp>

#include "penstock/emulator/json_dump.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using MemberKind = KeptMember::Kind;

absl::Status wrongKind(std::string_view name, std::string_view wanted) {
  return base::invalidArgument("Invalid value for {}: must be {}", name, wanted);
}

absl::StatusOr<json> checkedMember(const json& value, const KeptMember& member) {
  switch (member.kind) {
    case MemberKind::kText:
      if (!value.is_string()) return wrongKind(member.name, "a string");
      return value;
    case MemberKind::kInteger: {
      PENSTOCK_ASSIGN_OR_RETURN(const int64_t number, integerOf(value, member.name));
      return json(std::to_string(number));
    }
    case MemberKind::kBoolean:
      if (!value.is_boolean()) return wrongKind(member.name, "true or false");
      return value;
    case MemberKind::kObject:
      if (!value.is_object()) return wrongKind(member.name, "an object");
      return value;
    case MemberKind::kList:
      if (!value.is_array()) return wrongKind(member.name, "a list");
      return value;
  }
  return value;
}

}  // namespace

bool present(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

absl::StatusOr<int64_t> integerOf(const json& value, std::string_view name) {
  int64_t number = 0;
  const bool tooLarge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if (value.is_number_integer() && !tooLarge) return value.get<int64_t>();
  if (value.is_string() && absl::SimpleAtoi(value.get<std::string>(), &number)) return number;
  return wrongKind(name, "an integer");
}

absl::StatusOr<int64_t> positiveIntegerOf(const json& value, std::string_view name) {
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t number, integerOf(value, name));
  if (number <= 0) return wrongKind(name, "a positive integer");
  return number;
}

absl::StatusOr<json> keptMembers(const json& body, std::span<const KeptMember> members) {
  json kept = json::object();
  for (const KeptMember& member : members) {
    if (!present(body, member.name)) continue;
    PENSTOCK_ASSIGN_OR_RETURN(json value, checkedMember(body[member.name], member));
    if (value.is_object() && value.empty()) continue;
    kept[member.name] = std::move(value);
  }
  return kept;
}

json patchedMembers(const std::string& kept, const json& patch,
                    std::span<const KeptMember> members) {
  json known = json::object();
  for (const KeptMember& member : members) {
    if (const auto found = patch.find(member.name); found != patch.end())
      known[member.name] = *found;
  }
  json patched = membersOf(kept);
  patched.merge_patch(known);
  return patched;
}

std::string storedMembers(const json& members) { return dumped(members); }

json membersOf(const std::string& stored) {
  json members = json::parse(stored, nullptr, false);
  return members.is_object() ? members : json::object();
}

}  // namespace penstock::emulator
