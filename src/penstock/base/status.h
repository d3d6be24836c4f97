#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

/// Helpers around absl::Status. Debian's abseil has a string_view type of its own, so messages
/// cross the border here and nowhere else.
namespace penstock::base {

/// The message of `status` as the standard library's view; valid as long as `status` is.
inline std::string_view messageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

/// A status with a formatted message: `makeStatus(absl::StatusCode::kNotFound, "no table {}",
/// name)`.
template <typename... Arguments>
[[nodiscard]] absl::Status makeStatus(absl::StatusCode code,
                                      fmt::format_string<Arguments...> format,
                                      Arguments&&... arguments) {
  return absl::Status(code, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
[[nodiscard]] absl::Status invalidArgument(fmt::format_string<Arguments...> format,
                                           Arguments&&... arguments) {
  return makeStatus(absl::StatusCode::kInvalidArgument, format,
                    std::forward<Arguments>(arguments)...);
}

template <typename... Arguments>
[[nodiscard]] absl::Status notSupported(fmt::format_string<Arguments...> format,
                                        Arguments&&... arguments) {
  return makeStatus(absl::StatusCode::kUnimplemented, format,
                    std::forward<Arguments>(arguments)...);
}

/// `status` with `context` and ": " in front of its message; the code stays, OK stays OK.
[[nodiscard]] absl::Status withContext(const absl::Status& status, std::string_view context);

/// The name of a status code as gRPC spells it: "PERMISSION_DENIED".
[[nodiscard]] std::string_view codeName(absl::StatusCode code);

/// "PERMISSION_DENIED: message", or "OK": what log lines and errors show.
[[nodiscard]] std::string describe(const absl::Status& status);

}  // namespace penstock::base

#define PENSTOCK_CONCAT_INNER(a, b) a##b
#define PENSTOCK_CONCAT(a, b) PENSTOCK_CONCAT_INNER(a, b)

#define PENSTOCK_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                           \
    if (absl::Status penstockStatus = (expression); !penstockStatus.ok()) return penstockStatus; \
  } while (false)

#define PENSTOCK_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                            \
  if (!result.ok()) return std::move(result).status();                   \
  declaration = *std::move(result)

/// `PENSTOCK_ASSIGN_OR_RETURN(auto table, lookUp(name));`
#define PENSTOCK_ASSIGN_OR_RETURN(declaration, expression)                                \
  PENSTOCK_ASSIGN_OR_RETURN_INNER(PENSTOCK_CONCAT(penstockResult, __LINE__), declaration, \
                                  expression)
