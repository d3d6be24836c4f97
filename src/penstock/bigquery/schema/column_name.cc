#include "penstock/bigquery/schema/column_name.h"

#include <array>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cwctype>
#include <optional>

#include "penstock/base/text.h"
#include "penstock/bigquery/encoding/base64.h"

namespace penstock::bigquery {
namespace {

using base::isDigit;
using base::isLetter;

constexpr char lowerAscii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// A character of a UTF-8 text and how many bytes it takes.
struct Decoded {
  uint32_t character;
  size_t size;
};

/// The character at the front of `text`, which starts with a byte of 0x80 or more.
std::optional<Decoded> decodeMultibyte(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return std::nullopt;
  uint32_t character = lead & (0xFFU >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return std::nullopt;
    character = character << 6 | (next & 0x3FU);
  }
  return Decoded{character, size};
}

void appendUtf8(uint32_t character, std::string* text) {
  if (character < 0x80) {
    text->push_back(static_cast<char>(character));
    return;
  }
  const size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  constexpr std::array<uint8_t, 5> kLead = {0, 0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(kLead[size] | character >> (6 * (size - 1))));
  for (size_t i = size - 1; i-- > 0;) {
    text->push_back(static_cast<char>(0x80 | (character >> (6 * i) & 0x3F)));
  }
}

/// glibc's Unicode tables, the same in every environment; without them only ASCII letters change.
uint32_t lowerUnicode(uint32_t character) {
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (unicode == nullptr) return character;
  return static_cast<uint32_t>(::towlower_l(static_cast<wint_t>(character), unicode));
}

bool startsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (lowerAscii(text[i]) != lowerAscii(prefix[i])) return false;
  }
  return true;
}

size_t countCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

std::string lowerCase(std::string_view name) {
  std::string lower;
  lower.reserve(name.size());
  while (!name.empty()) {
    if (static_cast<unsigned char>(name.front()) < 0x80) {
      lower.push_back(lowerAscii(name.front()));
      name.remove_prefix(1);
    } else if (const auto decoded = decodeMultibyte(name)) {
      appendUtf8(lowerUnicode(decoded->character), &lower);
      name.remove_prefix(decoded->size);
    } else {
      lower.push_back(name.front());
      name.remove_prefix(1);
    }
  }
  return lower;
}

bool isPlainName(std::string_view name) {
  if (name.empty() || isDigit(name.front())) return false;
  for (const char c : name) {
    if (!isLetter(c) && !isDigit(c) && c != '_') return false;
  }
  return true;
}

std::string rowFieldName(std::string_view columnName) {
  std::string lower = lowerCase(columnName);
  if (isPlainName(columnName)) return lower;
  std::string name = "col_" + encodeBase64Url(lower);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

std::string_view whyColumnNameIsRefused(std::string_view name) {
  constexpr size_t kMaxCharacters = 300;
  constexpr std::string_view kForbidden = "!\"$()*,./;?@[\\]^`{}~";
  constexpr std::array<std::string_view, 9> kReserved = {
      "_TABLE_",        "_FILE_",       "_PARTITION",        "_ROW_TIMESTAMP",         "__ROOT__",
      "_COLIDENTIFIER", "_CHANGE_TYPE", "_CHANGE_TIMESTAMP", "_CHANGE_SEQUENCE_NUMBER"};
  if (name.empty()) return "is empty";
  if (countCharacters(name) > kMaxCharacters) return "has more than 300 characters";
  for (const std::string_view prefix : kReserved) {
    if (startsWithIgnoringCase(name, prefix)) return "begins with a prefix that BigQuery reserves";
  }
  for (const char c : name) {
    if (kForbidden.find(c) != std::string_view::npos) {
      return "has a character that BigQuery does not allow in names (one of "
             "!\"$()*,./;?@[\\]^`{}~)";
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "has a control character";
  }
  return {};
}

}  // namespace penstock::bigquery
