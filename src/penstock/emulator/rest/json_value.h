#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

/// Scalars in the forms that tabledata.insertAll takes, which are wider than those of
/// tabledata.list: most types as JSON's own kind or as a string. Nothing where the service refuses
/// the value.
namespace penstock::emulator {

/// An integer, a number without a fraction, or either as a string.
[[nodiscard]] std::optional<int64_t> integerFromJson(const nlohmann::json& value);
/// A number, or a string that holds one, "NaN", "Infinity" or "-Infinity" in any case.
[[nodiscard]] std::optional<double> realFromJson(const nlohmann::json& value);
/// true and false, or a string of either in any case.
[[nodiscard]] std::optional<bool> booleanFromJson(const nlohmann::json& value);
/// A string, or the text of a number or of true and false.
[[nodiscard]] std::optional<std::string> textFromJson(const nlohmann::json& value);
/// Base64 in the standard or the URL-safe alphabet, with or without padding.
[[nodiscard]] std::optional<std::string> bytesFromJson(const nlohmann::json& value);
/// A TIMESTAMP literal, or seconds since the epoch as a number or a string; as a literal.
[[nodiscard]] std::optional<std::string> timestampFromJson(const nlohmann::json& value);

/// A value as error messages show it, cut where it is long.
[[nodiscard]] std::string shownValue(const nlohmann::json& value);

}  // namespace penstock::emulator
