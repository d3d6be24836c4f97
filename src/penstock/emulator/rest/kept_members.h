#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// A member of a resource that the emulator keeps and gives back without a use for it of its own.
struct KeptMember {
  enum class Kind : uint8_t { kText, kInteger, kBoolean, kObject, kList };
  const char* name;
  Kind kind;
};

/// Whether the member is there and not null.
[[nodiscard]] bool present(const nlohmann::json& object, const char* key);

/// An int64, which the API takes as a number or a string. kInvalidArgument names it.
[[nodiscard]] absl::StatusOr<int64_t> integerOf(const nlohmann::json& value, std::string_view name);
/// The same, above zero.
[[nodiscard]] absl::StatusOr<int64_t> positiveIntegerOf(const nlohmann::json& value,
                                                        std::string_view name);

/// Those members of a body that are kept, each checked to be of its kind; integers become strings,
/// which is how the service answers them. Nulls and empty objects are left out.
[[nodiscard]] absl::StatusOr<nlohmann::json> keptMembers(const nlohmann::json& body,
                                                         std::span<const KeptMember> members);

/// What a resource's kept members become by a PATCH: a member that is null goes, objects are
/// changed member by member, everything else is replaced (RFC 7396).
[[nodiscard]] nlohmann::json patchedMembers(const std::string& kept, const nlohmann::json& patch,
                                            std::span<const KeptMember> members);

/// Kept members as the catalog stores them, and back.
[[nodiscard]] std::string storedMembers(const nlohmann::json& members);
[[nodiscard]] nlohmann::json membersOf(const std::string& stored);

}  // namespace penstock::emulator
