#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

/// Log lines leave the library through one hook; without one, warnings and errors go to standard
/// error.
namespace penstock::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogHook = std::function<void(LogLevel, std::string_view message)>;

/// Installs the process's hook (an empty one restores the default). Thread-safe; the hook may be
/// called from any thread and must not call back into Penstock.
void setLogHook(LogHook hook);

void logMessage(LogLevel level, std::string_view message);

template <typename... Arguments>
void logInfo(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  logMessage(LogLevel::kInfo, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <typename... Arguments>
void logWarning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  logMessage(LogLevel::kWarning, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <typename... Arguments>
void logError(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  logMessage(LogLevel::kError, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace penstock::base
