// The values of JsonRowWriter: one token, or a container that stands for one value, to the bytes of
// one field (BQT-054, BQT-090 to BQT-095).
#include <charconv>
#include <system_error>

#include "penstock/bigquery/encoding/base64.h"
#include "penstock/bigquery/encoding/civil_time.h"
#include "penstock/bigquery/encoding/number_text.h"
#include "penstock/bigquery/encoding/wire.h"
#include "penstock/bigquery/serializers/json_fast_values.h"
#include "penstock/bigquery/serializers/json_row_writer.h"
#include "penstock/formats/json/json_string.h"

namespace penstock::bigquery {
namespace {

using formats::JsonLiteral;
using formats::JsonNumber;

constexpr size_t kTagRoom = sizeof(JsonField::tag);
constexpr size_t kInt64Digits = 20;

/// The service's limit on the nesting of a JSON value.
constexpr size_t kMaxJsonColumnDepth = 500;

/// Copied at a time, past the end of a string: what a string takes is rounded up to it.
constexpr size_t kBlockBytes = 16;
using Block [[gnu::vector_size(kBlockBytes)]] = unsigned char;

/// Copies `size` bytes in whole blocks; answers whether a backslash was among them, or close
/// behind.
inline bool copyAndFindBackslash(const char* from, size_t size, char* to) {
  Block found = {};
  for (size_t at = 0; at < size; at += kBlockBytes) {
    Block block;
    std::memcpy(&block, from + at, kBlockBytes);
    std::memcpy(to + at, &block, kBlockBytes);
    found |= static_cast<Block>(block == static_cast<unsigned char>('\\'));
  }
  uint64_t halves[2];
  std::memcpy(halves, &found, sizeof found);
  return (halves[0] | halves[1]) != 0;
}

bool isNumberStart(char c) { return c == '-' || formats::isDigit(c); }

}  // namespace

bool JsonRowWriter::writeValue(const JsonField& field) {
  switch (field.conversion) {
    case JsonConversion::kString:
      return writeString(field);
    case JsonConversion::kInt64:
      return writeInt64(field);
    case JsonConversion::kDouble:
      return writeDouble(field);
    case JsonConversion::kBool:
      return writeBool(field);
    case JsonConversion::kTimestamp:
      return writeTimestamp(field);
    case JsonConversion::kTimestampText:
      return writeTimestampText(field);
    case JsonConversion::kDate:
      return writeDate(field);
    case JsonConversion::kTime:
      return writeTime(field);
    case JsonConversion::kDatetime:
      return writeDatetime(field);
    case JsonConversion::kNumeric:
      return writeNumeric(field);
    case JsonConversion::kBignumeric:
      return writeDecimal(field, DecimalKind::kBignumeric);
    case JsonConversion::kBytes:
      return writeBytes(field);
    case JsonConversion::kJson:
      return writeJson(field);
    case JsonConversion::kGeography:
      return writeGeography(field);
    case JsonConversion::kStruct:
    case JsonConversion::kRange:
      return writeStruct(field);
  }
  return failKind(field);
}

inline void JsonRowWriter::putLength(size_t bytes) { to_ = writeVarint(to_, bytes); }

inline bool JsonRowWriter::putVarint(const JsonField& field, uint64_t value) {
  ensure(kTagRoom + kMaxVarintBytes);
  putTag(field);
  to_ = writeVarint(to_, value);
  ++cursor_.next;
  return true;
}

void JsonRowWriter::putBytes(const JsonField& field, std::string_view bytes) {
  ensure(kTagRoom + kMaxLengthBytes + bytes.size());
  putTag(field);
  to_ = writeLengthDelimited(to_, bytes);
}

bool JsonRowWriter::readText(std::string_view* text) {
  *text = formats::rawString(cursor_);
  if (!formats::hasEscape(*text)) return true;
  if (!formats::unescapeString(*text, &text_, &fault_)) return failFault();
  *text = text_;
  return true;
}

// --- Strings ---

inline bool JsonRowWriter::writeStringToken(const JsonField& field) {
  const std::string_view raw = formats::rawString(cursor_);
  ensure(kTagRoom + kMaxLengthBytes + raw.size() + kBlockBytes);
  char* const begin = to_;
  putTag(field);
  putLength(raw.size());
  if (copyAndFindBackslash(raw.data(), raw.size(), to_)) [[unlikely]] {
    to_ = begin;
    return writeEscapedString(field, raw);
  }
  to_ += raw.size();
  ++cursor_.next;
  return true;
}

bool JsonRowWriter::writeEscapedString(const JsonField& field, std::string_view raw) {
  // There is room for `raw` with a length of five bytes.
  putTag(field);
  const size_t lengthAt = offset();
  const size_t laidOut = varintSize(raw.size());
  to_ += laidOut;
  size_t size = 0;
  if (!formats::unescapeString(raw, to_, &size, &fault_)) return failFault();
  to_ += size;
  resizeLength(lengthAt, laidOut, size);
  ++cursor_.next;
  return true;
}

/// Writes the length of the bytes behind `lengthAt + laidOut`, moving them if it takes another
/// number of bytes.
void JsonRowWriter::resizeLength(size_t lengthAt, size_t laidOut, size_t size) {
  if (varintSize(size) != laidOut) ensure(kMaxLengthBytes);
  to_ = writeLengthBefore(row_->rowData() + lengthAt, laidOut, size);
}

bool JsonRowWriter::writeString(const JsonField& field) {
  const char c = cursor_.peek();
  if (c == '"') return writeStringToken(field);
  if (isNumberStart(c)) {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty() || !number.isInteger) return failKind(field);
    int64_t value;
    if (!check(field, parseInt64(number.text, &value))) return false;
    char digits[kInt64Digits];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    putBytes(field, {digits, static_cast<size_t>(end - digits)});
    ++cursor_.next;
    return true;
  }
  const JsonLiteral literal = formats::readLiteral(cursor_);
  if (literal != JsonLiteral::kTrue && literal != JsonLiteral::kFalse) return failKind(field);
  putBytes(field, literal == JsonLiteral::kTrue ? "true" : "false");
  ++cursor_.next;
  return true;
}

bool JsonRowWriter::writeJson(const JsonField& field) {
  const char c = cursor_.peek();
  if (c == '"') return writeStringToken(field);
  if (c == '{' || c == '[') return writeContainerText(field);
  if (isNumberStart(c)) {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty()) return failKind(field);
    putBytes(field, number.text);
    ++cursor_.next;
    return true;
  }
  return writeString(field);
}

bool JsonRowWriter::writeGeography(const JsonField& field) {
  const char c = cursor_.peek();
  if (c == '"') return writeStringToken(field);
  return c == '{' ? writeContainerText(field) : failKind(field);
}

/// An object or array as it is written.
bool JsonRowWriter::writeContainerText(const JsonField& field) {
  const char* const begin = cursor_.at();
  if (!checker_.check(&cursor_, depth_, &fault_)) return failFault();
  if (checker_.levels() > kMaxJsonColumnDepth) {
    return failUnusable(begin, "nested deeper than the 500 levels that a column takes");
  }
  const char* const last = cursor_.text + cursor_.next[-1];
  putBytes(field, {begin, static_cast<size_t>(last - begin + 1)});
  return true;
}

// --- Numbers and booleans ---

bool JsonRowWriter::writeInt64(const JsonField& field) {
  int64_t value;
  if (readShortInteger(cursor_.at(), cursor_.following(), &value)) [[likely]] {
    return putVarint(field, static_cast<uint64_t>(value));
  }
  std::string_view text;
  if (cursor_.peek() == '"') {
    if (!readText(&text)) return false;
  } else {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty() || !number.isInteger) return failKind(field);
    text = number.text;
  }
  if (!check(field, parseInt64(text, &value))) return false;
  return putVarint(field, static_cast<uint64_t>(value));
}

bool JsonRowWriter::writeDouble(const JsonField& field) {
  double value;
  ShortDecimal decimal;
  if (!readShortDecimal(cursor_.at(), cursor_.following(), &decimal) ||
      !toDouble(decimal, &value)) {
    if (!readLongDouble(field, &value)) return false;
  }
  ensure(kTagRoom + sizeof value);
  putTag(field);
  to_ = bigquery::writeDouble(to_, value);
  ++cursor_.next;
  return true;
}

bool JsonRowWriter::readLongDouble(const JsonField& field, double* value) {
  if (cursor_.peek() == '"') {
    std::string_view text;
    return readText(&text) && check(field, parseDouble(text, value));
  }
  const JsonNumber number = formats::readNumber(cursor_);
  if (number.text.empty()) return failKind(field);
  const char* const end = number.text.data() + number.text.size();
  // What the token's grammar admits, this reads whole; the range is parseDouble's to judge.
  if (std::from_chars(number.text.data(), end, *value).ec != std::errc()) {
    if (!check(field, parseDouble(number.text, value))) return false;
  }
  // The integer token -0 is the integer 0 (BQT-052).
  if (number.isInteger && *value == 0) *value = 0;
  return true;
}

bool JsonRowWriter::writeBool(const JsonField& field) {
  const JsonLiteral literal = formats::readLiteral(cursor_);
  if (literal == JsonLiteral::kTrue) return putVarint(field, 1);
  if (literal == JsonLiteral::kFalse) return putVarint(field, 0);
  if (cursor_.peek() != '"') return failKind(field);
  std::string_view text;
  if (!readText(&text)) return false;
  const auto spells = [text](std::string_view word) {
    return text.size() == word.size() &&
           std::equal(text.begin(), text.end(), word.begin(),
                      [](char a, char b) { return (a | 0x20) == b && a != b - 0x40; });
  };
  if (spells("true")) return putVarint(field, 1);
  if (spells("false")) return putVarint(field, 0);
  return failValue(field, "neither true nor false");
}

bool JsonRowWriter::writeNumeric(const JsonField& field) {
  ShortDecimal decimal;
  const char* begin = cursor_.at();
  const char* end = cursor_.following();
  if (*begin == '"') {
    const std::string_view raw = formats::rawString(cursor_);
    begin = raw.data();
    end = begin + raw.size();
  }
  constexpr size_t kRoom = 16;
  ensure(kTagRoom + 1 + kRoom);
  size_t size = 0;
  char* const valueAt = to_ + field.tagSize + 1;
  if (readShortDecimal(begin, end, &decimal) && bigquery::writeNumeric(decimal, valueAt, &size))
      [[likely]] {
    std::memcpy(to_, field.tag.data(), field.tagSize);
    to_[field.tagSize] = static_cast<char>(size);
    to_ = valueAt + size;
    ++cursor_.next;
    return true;
  }
  return writeDecimal(field, DecimalKind::kNumeric);
}

bool JsonRowWriter::writeDecimal(const JsonField& field, DecimalKind kind) {
  std::string_view text;
  if (cursor_.peek() == '"') {
    if (!readText(&text)) return false;
  } else {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty()) return failKind(field);
    text = number.text;
  }
  char bytes[kDecimalBufferBytes];
  size_t size = 0;
  if (!check(field, encodeDecimal(text, kind, bytes, &size))) return false;
  putBytes(field, {bytes, size});
  ++cursor_.next;
  return true;
}

// --- Dates and times ---

bool JsonRowWriter::writeTimestamp(const JsonField& field) {
  int64_t micros;
  std::string_view text;
  if (cursor_.peek() == '"') {
    const std::string_view raw = formats::rawString(cursor_);
    if (readPlainTimestamp(raw.data(), raw.size(), &micros)) [[likely]] {
      return putVarint(field, static_cast<uint64_t>(micros));
    }
    if (!readText(&text)) return false;
  } else {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty()) return failKind(field);
    text = number.text;
  }
  if (!check(field, parseTimestampOrMicros(text, &micros))) return false;
  return putVarint(field, static_cast<uint64_t>(micros));
}

/// A TIMESTAMP of picoseconds goes as text. Numbers stay microseconds (BQT-059).
bool JsonRowWriter::writeTimestampText(const JsonField& field) {
  int64_t micros;
  std::string_view text;
  std::string formatted;
  if (cursor_.peek() == '"') {
    if (!readText(&text)) return false;
    if (isDecimal(text)) {
      if (!check(field, parseTimestampOrMicros(text, &micros))) return false;
      formatted = formatTimestamp(micros);
      text = formatted;
    } else if (!check(field, checkPicosecondTimestamp(text))) {
      return false;
    }
  } else {
    const JsonNumber number = formats::readNumber(cursor_);
    if (number.text.empty()) return failKind(field);
    if (!check(field, parseTimestampOrMicros(number.text, &micros))) return false;
    formatted = formatTimestamp(micros);
    text = formatted;
  }
  putBytes(field, text);
  ++cursor_.next;
  return true;
}

/// The timestamp grammar with up to twelve digits of fraction.
ParseResult JsonRowWriter::checkPicosecondTimestamp(std::string_view text) {
  int64_t micros;
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return parseTimestamp(text, &micros);
  size_t end = point + 1;
  while (end < text.size() && formats::isDigit(text[end])) ++end;
  constexpr size_t kPicoDigits = 12;
  constexpr size_t kNanoDigits = 9;
  const size_t digits = end - point - 1;
  if (digits <= kNanoDigits) return parseTimestamp(text, &micros);
  if (digits > kPicoDigits) return ParseResult("more than 12 digits of fraction");
  std::string shorter(text.substr(0, point + 1 + kNanoDigits));
  shorter += text.substr(end);
  return parseTimestamp(shorter, &micros);
}

bool JsonRowWriter::writeDate(const JsonField& field) {
  int32_t days;
  if (cursor_.peek() == '"') {
    const std::string_view raw = formats::rawString(cursor_);
    if (!readPlainDate(raw.data(), raw.size(), &days)) {
      std::string_view text;
      if (!readText(&text) || !check(field, parseDate(text, &days))) return false;
    }
    return putVarint(field, static_cast<uint64_t>(int64_t{days}));
  }
  const JsonNumber number = formats::readNumber(cursor_);
  if (number.text.empty() || !number.isInteger) return failKind(field);
  int64_t value;
  if (!check(field, parseInt64(number.text, &value))) return false;
  if (!isDateInRange(value)) return failValue(field, "days beyond 0001-01-01 to 9999-12-31");
  return putVarint(field, static_cast<uint64_t>(value));
}

bool JsonRowWriter::writeTime(const JsonField& field) {
  int64_t packed;
  if (cursor_.peek() == '"') {
    const std::string_view raw = formats::rawString(cursor_);
    if (!readPlainTime(raw.data(), raw.size(), &packed)) {
      std::string_view text;
      if (!readText(&text) || !check(field, parseTime(text, &packed))) return false;
    }
    return putVarint(field, static_cast<uint64_t>(packed));
  }
  const JsonNumber number = formats::readNumber(cursor_);
  if (number.text.empty() || !number.isInteger) return failKind(field);
  if (!check(field, parseInt64(number.text, &packed))) return false;
  CivilTime time;
  if (!unpackTime(packed, &time)) return failValue(field, "not a packed TIME");
  return putVarint(field, static_cast<uint64_t>(packed));
}

bool JsonRowWriter::writeDatetime(const JsonField& field) {
  int64_t packed;
  if (cursor_.peek() == '"') {
    const std::string_view raw = formats::rawString(cursor_);
    if (!readPlainDatetime(raw.data(), raw.size(), &packed)) {
      std::string_view text;
      if (!readText(&text) || !check(field, parseDatetime(text, &packed))) return false;
    }
    return putVarint(field, static_cast<uint64_t>(packed));
  }
  const JsonNumber number = formats::readNumber(cursor_);
  if (number.text.empty() || !number.isInteger) return failKind(field);
  if (!check(field, parseInt64(number.text, &packed))) return false;
  CivilDate date;
  CivilTime time;
  if (!unpackDatetime(packed, &date, &time)) return failValue(field, "not a packed DATETIME");
  return putVarint(field, static_cast<uint64_t>(packed));
}

// --- Bytes and structures ---

bool JsonRowWriter::writeBytes(const JsonField& field) {
  if (cursor_.peek() == '[') return writeByteArray(field);
  if (cursor_.peek() != '"') return failKind(field);
  std::string_view text;
  if (!readText(&text)) return false;
  const size_t bound = decodedBase64Bound(text.size());
  ensure(kTagRoom + kMaxLengthBytes + bound);
  putTag(field);
  const size_t lengthAt = offset();
  const size_t laidOut = varintSize(text.size() / 4 * 3);
  to_ += laidOut;
  size_t size = 0;
  if (!check(field, decodeBase64(text, to_, &size))) return false;
  to_ += size;
  resizeLength(lengthAt, laidOut, size);
  ++cursor_.next;
  return true;
}

/// `[104,105]`: a byte each, signed or not.
bool JsonRowWriter::writeByteArray(const JsonField& field) {
  if (!openContainer()) return false;
  text_.clear();
  if (cursor_.peek() != ']') {
    for (;;) {
      if (cursor_.exhausted()) return failEnd();
      const JsonNumber number = formats::readNumber(cursor_);
      if (number.text.empty() || !number.isInteger) return failKind(field);
      int64_t value = 0;
      if (!parseInt64(number.text, &value).ok() || value < -128 || value > 255) {
        return failValue(field, "a byte is an integer from -128 to 255");
      }
      text_.push_back(static_cast<char>(value));
      ++cursor_.next;
      if (cursor_.peek() == ']') break;
      if (cursor_.peek() != ',') return failSyntax(cursor_.at(), "',' or ']' is expected here");
      ++cursor_.next;
    }
  }
  ++cursor_.next;
  --depth_;
  putBytes(field, text_);
  return true;
}

/// A STRUCT or RANGE: a message, whose length is known only behind it. The last one's length tells
/// how many bytes to leave for it.
bool JsonRowWriter::writeStruct(const JsonField& field) {
  if (cursor_.peek() != '{') return failKind(field);
  ensure(kTagRoom + kMaxLengthBytes);
  putTag(field);
  const size_t lengthAt = offset();
  const size_t laidOut = lengthBytes_[field.id];
  to_ += laidOut;
  if (!writeLevel(*field.level)) return false;
  const size_t size = offset() - lengthAt - laidOut;
  resizeLength(lengthAt, laidOut, size);
  lengthBytes_[field.id] = static_cast<uint8_t>(varintSize(size));
  return true;
}

}  // namespace penstock::bigquery
