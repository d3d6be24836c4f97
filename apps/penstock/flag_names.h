#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::command {

/// An option of the C++ API and the flag by which the command offers it.
struct FlagName {
  std::string_view option;
  std::string_view flag;
};

/// The library's messages name options as the C++ API does. `message` with those names as the
/// command's flags: `maxAppendRequestBytes` is `--max-append-request-bytes`. Only whole words that
/// are no one's data: what stands in quotes or behind a dot (a column's path) is left alone, and so
/// are options whose name is a plain word.
[[nodiscard]] std::string withFlagNames(std::string_view message);

/// The same for `names` alone, plain words too.
[[nodiscard]] std::string withFlagNames(std::string_view message, std::span<const FlagName> names);

}  // namespace penstock::command
