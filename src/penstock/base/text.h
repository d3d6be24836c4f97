#pragma once

#include <string>
#include <string_view>

/// The little that option parsing needs to know about ASCII text.
namespace penstock::base {

/// ASCII whitespace, whatever the locale says.
[[nodiscard]] constexpr bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

[[nodiscard]] constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// ASCII letters only.
[[nodiscard]] constexpr bool isLetter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// True if there is nothing but whitespace.
[[nodiscard]] bool isBlank(std::string_view text);

/// `text` without whitespace at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// ASCII letters only.
[[nodiscard]] std::string toLower(std::string_view text);
[[nodiscard]] std::string toUpper(std::string_view text);

/// The head of a text for a message: at most `maxBytes`, cut between UTF-8 characters, and "..." if
/// it is cut.
[[nodiscard]] std::string excerpt(std::string_view text, size_t maxBytes = 48);

/// How many single-character insertions, removals and replacements lie between two words.
[[nodiscard]] size_t editDistance(std::string_view a, std::string_view b);

}  // namespace penstock::base
