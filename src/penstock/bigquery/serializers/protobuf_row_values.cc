// Values that ProtobufRowWriter does not find in the form of the row (BQT-016).
#include <bit>
#include <limits>
#include <utility>

#include "penstock/bigquery/encoding/civil_time.h"
#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/encoding/time_units.h"
#include "penstock/bigquery/serializers/protobuf_row_writer.h"
#include "penstock/bigquery/serializers/protobuf_time_bounds.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

bool isTimestamp(int64_t seconds, int32_t nanos) {
  return seconds >= kMinTimestampSeconds && seconds <= kMaxTimestampSeconds && nanos >= 0 &&
         nanos <= kMaxNanos;
}

bool isDuration(int64_t seconds, int32_t nanos) {
  return seconds >= -kMaxDurationSeconds && seconds <= kMaxDurationSeconds && nanos >= -kMaxNanos &&
         nanos <= kMaxNanos && !(seconds < 0 && nanos > 0) && !(seconds > 0 && nanos < 0);
}

}  // namespace

void ProtobufRowWriter::putDouble(const ProtobufField& field, const char* fieldBegin, uint64_t bits,
                                  const char* after) {
  copyRun(fieldBegin);
  ensure(kTagRoom + sizeof bits);
  putTag(field);
  to_ = writeFixed64(to_, bits);
  runBegin_ = after;
}

void ProtobufRowWriter::putBytes(const ProtobufField& field, const char* fieldBegin,
                                 std::string_view bytes, const char* after) {
  copyRun(fieldBegin);
  ensure(kTagRoom + kMaxLengthBytes + bytes.size());
  putTag(field);
  to_ = writeLengthDelimited(to_, bytes);
  runBegin_ = after;
}

/// A string or bytes under another tag, or in a column that "" is no value of.
const char* ProtobufRowWriter::writeLooseBytes(const ProtobufField& field, const char* fieldBegin,
                                               std::string_view bytes) {
  const char* const after = bytes.data() + bytes.size();
  if (bytes.empty() && field.omitsEmpty) {
    if (field.isRequired) return failValue(field, "the column is REQUIRED and the text is empty");
    copyRun(fieldBegin);
    runBegin_ = after;
    return after;
  }
  putBytes(field, fieldBegin, bytes, after);
  return after;
}

const char* ProtobufRowWriter::writeInteger(const ProtobufField& field, const char* fieldBegin,
                                            uint64_t value, const char* after) {
  if (field.columnType == ColumnType::kBool) value = value != 0 ? 1 : 0;
  if (field.isRangeChecked) {
    const auto number = static_cast<int64_t>(value);
    if (field.columnType == ColumnType::kDate && !isDateInRange(number)) {
      return failValue(field, fmt::format("days from 1970-01-01 to a day of the years 1 to 9999 "
                                          "are expected; found {}",
                                          number));
    }
    if (field.columnType == ColumnType::kTimestamp && !isTimestampInRange(number)) {
      return failValue(field, fmt::format("microseconds from 1970-01-01 to an instant of the years "
                                          "1 to 9999 are expected; found {}",
                                          number));
    }
  }
  putVarint(field, fieldBegin, value, after);
  return after;
}

/// Numbers that have another form on the wire.
const char* ProtobufRowWriter::writeOtherNumber(const ProtobufField& field, const char* fieldBegin,
                                                const char* at, const char* end) {
  uint64_t word = 0;
  uint32_t half = 0;
  switch (field.conversion) {
    case ProtobufConversion::kSint32:
    case ProtobufConversion::kSint64:
      at = readVarint(at, end, &word);
      if (field.conversion == ProtobufConversion::kSint32) word = static_cast<uint32_t>(word);
      word = static_cast<uint64_t>(decodeZigzag(word));
      break;
    case ProtobufConversion::kFixed64:
    case ProtobufConversion::kSfixed64:
      at = readFixed(at, end, &word);
      break;
    case ProtobufConversion::kFixed32:
      at = readFixed(at, end, &half);
      word = half;
      break;
    case ProtobufConversion::kSfixed32:
      at = readFixed(at, end, &half);
      word = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(half)));
      break;
    case ProtobufConversion::kFloat:
      at = readFixed(at, end, &half);
      if (at == nullptr) return failTruncated(field, fieldBegin);
      word = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(half)));
      putDouble(field, fieldBegin, word, at);
      return at;
    default:
      return writeText(field, fieldBegin, at, end);
  }
  if (at == nullptr) return failTruncated(field, fieldBegin);
  if (field.conversion == ProtobufConversion::kFixed64 && word > INT64_MAX) {
    return failTooLarge(field, word);
  }
  return writeInteger(field, fieldBegin, word, at);
}

const char* ProtobufRowWriter::writeText(const ProtobufField& field, const char* fieldBegin,
                                         const char* at, const char* end) {
  size_t size;
  at = readLength(at, end, &size);
  if (at == nullptr) return failTruncated(field, fieldBegin);
  const char* const after = at + size;
  if (size == 0 && field.omitsEmpty) return writeLooseBytes(field, fieldBegin, {at, size});
  return putText(field, fieldBegin, {at, size}, after) ? after : nullptr;
}

/// Text as a value of the column: the grammars of BQT-055.
bool ProtobufRowWriter::putText(const ProtobufField& field, const char* fieldBegin,
                                std::string_view text, const char* after) {
  char decimal[kDecimalBufferBytes];
  size_t size = 0;
  int32_t days = 0;
  int64_t value = 0;
  ParseResult result;
  switch (field.columnType) {
    case ColumnType::kNumeric:
      result = encodeDecimal(text, DecimalKind::kNumeric, decimal, &size);
      break;
    case ColumnType::kBignumeric:
      result = encodeDecimal(text, DecimalKind::kBignumeric, decimal, &size);
      break;
    case ColumnType::kDate:
      result = parseDate(text, &days);
      value = days;
      break;
    case ColumnType::kTime:
      result = parseTime(text, &value);
      break;
    case ColumnType::kDatetime:
      result = parseDatetime(text, &value);
      break;
    default:
      result = parseTimestampOrMicros(text, &value);
      break;
  }
  if (!result.ok()) return failText(field, result.reason(), text);
  if (size != 0) {
    putBytes(field, fieldBegin, {decimal, size}, after);
  } else {
    putVarint(field, fieldBegin, static_cast<uint64_t>(value), after);
  }
  return true;
}

const char* ProtobufRowWriter::writeEnum(const ProtobufField& field, const char* fieldBegin,
                                         const char* at, const char* end) {
  uint64_t found;
  at = readVarint(at, end, &found);
  if (at == nullptr) return failTruncated(field, fieldBegin);
  const auto number = static_cast<int32_t>(found);
  std::string_view name = field.enumNames->find(number);
  if (name.empty()) {
    if (field.isClosedEnum) {
      copyRun(fieldBegin);
      runBegin_ = at;
      isDropped_ = !field.isRepeated;
      return at;
    }
    text_ = field.enumNames->unknownName(number);
    name = text_;
  }
  if (field.columnType == ColumnType::kInt64) {
    putVarint(field, fieldBegin, static_cast<uint64_t>(static_cast<int64_t>(number)), at);
    return at;
  }
  putBytes(field, fieldBegin, name, at);
  return at;
}

bool ProtobufRowWriter::writeContent(const ProtobufField& field, const Content& content) {
  switch (field.conversion) {
    case ProtobufConversion::kMessage:
      return writeNested(field, content);
    case ProtobufConversion::kFieldMask:
      return writeFieldMask(field, content);
    case ProtobufConversion::kWrapper:
      return writeWrapper(field, content);
    case ProtobufConversion::kJson:
      return writeJson(field, content);
    default:
      return writeInstant(field, content);
  }
}

/// A Timestamp or Duration: microseconds.
bool ProtobufRowWriter::writeInstant(const ProtobufField& field, const Content& content) {
  uint64_t seconds = 0;
  uint64_t nanosWord = 0;
  for (const char* at = content.begin; at != content.end;) {
    const char* const partBegin = at;
    uint32_t tag;
    at = readTag(at, content.end, &tag);
    if (at != nullptr && tag == field.secondsTag) {
      at = readVarint(at, content.end, &seconds);
    } else if (at != nullptr && tag == field.nanosTag) {
      at = readVarint(at, content.end, &nanosWord);
    } else if (at != nullptr) {
      at = skipValue(at, content.end, tag);
    }
    if (at == nullptr) return failTruncated(field, partBegin) != nullptr;
  }
  const auto whole = static_cast<int64_t>(seconds);
  const auto nanos = static_cast<int32_t>(nanosWord);
  const bool isInstant = field.conversion == ProtobufConversion::kTimestamp;
  if (!(isInstant ? isTimestamp(whole, nanos) : isDuration(whole, nanos))) {
    return failInstant(field, whole, nanos);
  }
  const int64_t micros = whole * kMicrosPerSecond + nanos / kNanosPerMicro;
  putVarint(field, content.fieldBegin, static_cast<uint64_t>(micros), content.after);
  return true;
}

bool ProtobufRowWriter::writeFieldMask(const ProtobufField& field, const Content& content) {
  text_.clear();
  for (const char* at = content.begin; at != content.end;) {
    const char* const partBegin = at;
    uint32_t tag;
    at = readTag(at, content.end, &tag);
    if (at == nullptr) return failTruncated(field, partBegin) != nullptr;
    const char* const value = at;
    at = skipValue(at, content.end, tag);
    if (at == nullptr) return failTruncated(field, partBegin) != nullptr;
    if (tag != field.innerTag) continue;
    size_t size = 0;
    const char* const path = readLength(value, at, &size);
    if (size == 0) continue;
    if (!text_.empty()) text_ += ',';
    text_.append(path, size);
  }
  if (!isUtf8(text_.data(), text_.size())) return failUtf8(field, text_) != nullptr;
  putBytes(field, content.fieldBegin, text_, content.after);
  return true;
}

/// The wrapped value as the column's own; the default if the wrapper is empty.
bool ProtobufRowWriter::writeWrapper(const ProtobufField& field, const Content& content) {
  const ProtobufField& inner = field.level->fields[0];
  const char* value = nullptr;
  for (const char* at = content.begin; at != content.end;) {
    const char* const partBegin = at;
    uint32_t tag;
    at = readTag(at, content.end, &tag);
    if (at == nullptr) return failTruncated(field, partBegin) != nullptr;
    if (tag == inner.wireTag) value = at;
    at = skipValue(at, content.end, tag);
    if (at == nullptr) return failTruncated(field, partBegin) != nullptr;
  }
  copyRun(content.fieldBegin);
  if (value != nullptr) {
    runBegin_ = value;
    if (writeValue(inner, /*mayPass=*/false, value, value, content.end) == nullptr) return false;
  } else if (inner.conversion == ProtobufConversion::kText) {
    runBegin_ = content.after;
    if (!putText(inner, content.after, "", content.after)) return false;
  } else {
    ensure(inner.defaultBytes.size());
    to_ = bigquery::writeBytes(to_, inner.defaultBytes);
  }
  runBegin_ = content.after;
  return true;
}

bool ProtobufRowWriter::writeJson(const ProtobufField& field, const Content& content) {
  text_.clear();
  const std::string_view bytes(content.begin, static_cast<size_t>(content.end - content.begin));
  if (!json_.write(*field.json, bytes, isCanonical_, &text_)) {
    if (json_.isNotCanonical()) return notCanonical();
    failurePath_ = json_.path();
    return failValue(field, json_.reason()) != nullptr;
  }
  putBytes(field, content.fieldBegin, text_, content.after);
  return true;
}

}  // namespace penstock::bigquery
