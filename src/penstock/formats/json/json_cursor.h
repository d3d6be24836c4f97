#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "penstock/base/text.h"

/// The walk over a structural index: what a token is and where it ends. The index says only where
/// tokens begin, so each function here looks at all of the bytes up to the next token. Everything
/// is strict RFC 8259.
namespace penstock::formats {

/// Objects and arrays may stand in each other this deep; the document itself is level 1 (BQT-050).
inline constexpr size_t kMaxJsonDepth = 512;

/// What is wrong with a JSON text, and where.
struct JsonFault {
  const char* at = nullptr;      ///< into the text
  const char* reason = nullptr;  ///< a literal: "a value is missing"
  bool isSyntax = true;          ///< the text is no JSON; false: it is, and cannot be used

  bool operator()(const char* place, const char* why) {
    at = place;
    reason = why;
    isSyntax = true;
    return false;
  }
  bool unusable(const char* place, const char* why) {
    (*this)(place, why);
    isSyntax = false;
    return false;
  }
};

/// A place in a structural index. Whoever loops over tokens asks `exhausted()` once per member or
/// element; between two such questions up to four tokens may be looked at, thanks to the index's
/// sentinels. A walk that ends well must check that the last token it took lies inside the text.
struct JsonCursor {
  const char* text = nullptr;      ///< the indexed text
  const uint32_t* next = nullptr;  ///< the token to look at next
  const uint32_t* end = nullptr;   ///< one past the last token

  [[nodiscard]] bool exhausted() const { return next >= end; }
  /// First byte of the next token.
  [[nodiscard]] const char* at() const { return text + next[0]; }
  [[nodiscard]] char peek() const { return text[next[0]]; }
  /// First byte of the token after the next one; the text's end behind the last one.
  [[nodiscard]] const char* following() const { return text + next[1]; }
};

constexpr bool isJsonWhitespace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

using base::isDigit;

/// The last byte of the next token, which is not whitespace: what lies between is.
inline const char* lastByte(const JsonCursor& cursor) {
  const char* last = cursor.following() - 1;
  while (last > cursor.at() && isJsonWhitespace(*last)) --last;
  return last;
}

/// The bytes between the quotes of the string at `cursor`, escapes and all.
inline std::string_view rawString(const JsonCursor& cursor) {
  const char* open = cursor.at();
  const char* close = lastByte(cursor);
  return {open + 1, close > open ? static_cast<size_t>(close - open - 1) : 0};
}

/// Whether a scalar that has been read up to `end` is over there: the next token or whitespace
/// follows.
inline bool endsScalar(const JsonCursor& cursor, const char* end) {
  const char* const following = cursor.following();
  return end == following || (end < following && isJsonWhitespace(*end));
}

/// All of the next token, for messages: `tru`, `"abc"`, `{`.
inline std::string_view tokenText(const JsonCursor& cursor) {
  const char c = cursor.peek();
  if (std::strchr("{}[],:", c) != nullptr && c != '\0') return {cursor.at(), 1};
  return {cursor.at(), static_cast<size_t>(lastByte(cursor) - cursor.at() + 1)};
}

enum class JsonLiteral { kNone, kNull, kTrue, kFalse };

/// The literal at `cursor`, whole and in lower case, or kNone.
inline JsonLiteral readLiteral(const JsonCursor& cursor) {
  const char* at = cursor.at();
  if (std::memcmp(at, "null", 4) == 0) {
    return endsScalar(cursor, at + 4) ? JsonLiteral::kNull : JsonLiteral::kNone;
  }
  if (std::memcmp(at, "true", 4) == 0) {
    return endsScalar(cursor, at + 4) ? JsonLiteral::kTrue : JsonLiteral::kNone;
  }
  if (std::memcmp(at, "false", 5) == 0) {
    return endsScalar(cursor, at + 5) ? JsonLiteral::kFalse : JsonLiteral::kNone;
  }
  return JsonLiteral::kNone;
}

/// A number token: its exact text, never turned into binary (BQT-052).
struct JsonNumber {
  std::string_view text;  ///< empty: not a number
  bool isInteger = true;  ///< no point and no exponent
};

/// The number at `cursor`: `-? (0|[1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?` and nothing behind
/// it.
inline JsonNumber readNumber(const JsonCursor& cursor) {
  const char* const begin = cursor.at();
  const char* const stop = cursor.following();
  const auto skipDigits = [stop](const char* from) {
    while (from < stop && isDigit(*from)) ++from;
    return from;
  };
  // Behind the last token there may be anything.
  const auto isAt = [stop](const char* place, char one, char other) {
    return place < stop && (*place == one || *place == other);
  };
  const char* at = *begin == '-' ? begin + 1 : begin;
  const char* digits = at;
  at = isAt(at, '0', '0') ? at + 1 : skipDigits(at);
  if (at == digits) return {};
  bool isInteger = true;
  if (isAt(at, '.', '.')) {
    isInteger = false;
    digits = at + 1;
    at = skipDigits(digits);
    if (at == digits) return {};
  }
  if (isAt(at, 'e', 'E')) {
    isInteger = false;
    ++at;
    digits = isAt(at, '+', '-') ? at + 1 : at;
    at = skipDigits(digits);
    if (at == digits) return {};
  }
  if (!endsScalar(cursor, at)) return {};
  return {{begin, static_cast<size_t>(at - begin)}, isInteger};
}

}  // namespace penstock::formats
