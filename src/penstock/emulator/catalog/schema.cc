#include "penstock/emulator/catalog/schema.h"

#include <locale.h>
#include <wctype.h>

#include <array>
#include <utility>

namespace penstock::emulator {
namespace {

constexpr std::array<std::pair<std::string_view, FieldType>, 23> kTypeNames{{
    {"STRING", FieldType::kString},
    {"BYTES", FieldType::kBytes},
    {"INTEGER", FieldType::kInt64},
    {"INT64", FieldType::kInt64},
    {"FLOAT", FieldType::kFloat64},
    {"FLOAT64", FieldType::kFloat64},
    {"BOOLEAN", FieldType::kBool},
    {"BOOL", FieldType::kBool},
    {"TIMESTAMP", FieldType::kTimestamp},
    {"DATE", FieldType::kDate},
    {"TIME", FieldType::kTime},
    {"DATETIME", FieldType::kDatetime},
    {"NUMERIC", FieldType::kNumeric},
    {"DECIMAL", FieldType::kNumeric},
    {"BIGNUMERIC", FieldType::kBignumeric},
    {"BIGDECIMAL", FieldType::kBignumeric},
    {"GEOGRAPHY", FieldType::kGeography},
    {"JSON", FieldType::kJson},
    {"INTERVAL", FieldType::kInterval},
    {"RANGE", FieldType::kRange},
    {"RECORD", FieldType::kStruct},
    {"STRUCT", FieldType::kStruct},
    {"DOUBLE", FieldType::kFloat64},
}};

bool isAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

char asciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char asciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Reads one code point of valid UTF-8 and moves `position` behind it; a byte that starts none is
/// taken as it is, so that folding never loses anything.
uint32_t nextCodePoint(std::string_view text, size_t& position) {
  const auto byte = [&](size_t at) -> uint32_t {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const uint32_t first = byte(position);
  const int extra = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  uint32_t point = extra == 3   ? first & 0x07
                   : extra == 2 ? first & 0x0F
                   : extra == 1 ? first & 0x1F
                                : first;
  for (int i = 1; i <= extra; ++i) point = (point << 6) | (byte(position + i) & 0x3F);
  position += static_cast<size_t>(extra) + 1;
  return point;
}

void appendUtf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

/// The C.UTF-8 locale has Unicode's case mapping and no language's exceptions; it comes with the C
/// library. Never freed: one for the life of the process.
locale_t unicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

}  // namespace

std::optional<FieldType> fieldTypeOf(std::string_view restName) {
  std::string upper(restName);
  for (char& c : upper) c = asciiUpper(c);
  for (const auto& [name, type] : kTypeNames) {
    if (name == upper) return type;
  }
  return std::nullopt;
}

std::string foldedName(std::string_view name) {
  std::string folded;
  folded.reserve(name.size());
  if (isAscii(name) || unicodeLocale() == nullptr) {
    for (const char c : name) folded += asciiLower(c);
    return folded;
  }
  for (size_t position = 0; position < name.size();) {
    const uint32_t point = nextCodePoint(name, position);
    appendUtf8(folded,
               static_cast<uint32_t>(towlower_l(static_cast<wint_t>(point), unicodeLocale())));
  }
  return folded;
}

const Field* findField(const std::vector<Field>& fields, std::string_view name) {
  const std::string folded = foldedName(name);
  for (const Field& field : fields) {
    if (foldedName(field.name) == folded) return &field;
  }
  return nullptr;
}

std::string_view restTypeName(FieldType type) {
  switch (type) {
    case FieldType::kString:
      return "STRING";
    case FieldType::kBytes:
      return "BYTES";
    case FieldType::kInt64:
      return "INTEGER";
    case FieldType::kFloat64:
      return "FLOAT";
    case FieldType::kBool:
      return "BOOLEAN";
    case FieldType::kTimestamp:
      return "TIMESTAMP";
    case FieldType::kDate:
      return "DATE";
    case FieldType::kTime:
      return "TIME";
    case FieldType::kDatetime:
      return "DATETIME";
    case FieldType::kNumeric:
      return "NUMERIC";
    case FieldType::kBignumeric:
      return "BIGNUMERIC";
    case FieldType::kGeography:
      return "GEOGRAPHY";
    case FieldType::kJson:
      return "JSON";
    case FieldType::kInterval:
      return "INTERVAL";
    case FieldType::kRange:
      return "RANGE";
    case FieldType::kStruct:
      return "RECORD";
  }
  return "STRING";
}

std::string_view restModeName(FieldMode mode) {
  switch (mode) {
    case FieldMode::kNullable:
      return "NULLABLE";
    case FieldMode::kRequired:
      return "REQUIRED";
    case FieldMode::kRepeated:
      return "REPEATED";
  }
  return "NULLABLE";
}

}  // namespace penstock::emulator
