#include "penstock/bigquery/serializers/protobuf_json_writer.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "penstock/bigquery/encoding/base64.h"
#include "penstock/bigquery/encoding/civil_time.h"
#include "penstock/bigquery/encoding/time_units.h"
#include "penstock/bigquery/serializers/protobuf_time_bounds.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

/// Messages may stand in each other this deep: protobuf's own limit.
constexpr int kMaxDepth = 100;
constexpr auto kLengthDelimited = static_cast<uint32_t>(WireType::kLengthDelimited);

bool isSigned32(ProtobufKind kind) {
  return kind == ProtobufKind::kInt32 || kind == ProtobufKind::kSint32 ||
         kind == ProtobufKind::kSfixed32;
}

/// The integer as text. `number`: as `readValue` leaves it.
std::string integerText(ProtobufKind kind, uint64_t number) {
  const bool isUnsigned = kind == ProtobufKind::kUint32 || kind == ProtobufKind::kUint64 ||
                          kind == ProtobufKind::kFixed32 || kind == ProtobufKind::kFixed64;
  return isUnsigned ? fmt::format("{}", number) : fmt::format("{}", static_cast<int64_t>(number));
}

/// `foo_bar.b` as `fooBar.b`; false: the way back would be another path.
bool appendCamelCase(std::string_view path, std::string* to) {
  for (size_t at = 0; at < path.size(); ++at) {
    const char c = path[at];
    if (c >= 'A' && c <= 'Z') return false;
    if (c != '_') {
      *to += c;
      continue;
    }
    ++at;
    if (at == path.size() || path[at] < 'a' || path[at] > 'z') return false;
    *to += static_cast<char>(path[at] - 'a' + 'A');
  }
  return true;
}

}  // namespace

bool ProtobufJsonWriter::write(const Level& level, std::string_view content, bool isCanonical,
                               std::string* json) {
  out_ = json;
  isCanonical_ = isCanonical;
  isNotCanonical_ = false;
  depth_ = 0;
  keys_.clear();
  path_.clear();
  return writeMessage(level, content);
}

bool ProtobufJsonWriter::writeMessage(const Level& level, std::string_view content) {
  if (++depth_ > kMaxDepth) return fail("messages stand in each other more than 100 levels deep");
  if (!writeForm(level, content)) return false;
  --depth_;
  return true;
}

bool ProtobufJsonWriter::writeForm(const Level& level, std::string_view content) {
  switch (level.form) {
    case ProtobufJsonForm::kObject:
      return writeObject(level, content);
    case ProtobufJsonForm::kTimestamp:
      return writeTimestamp(level, content);
    case ProtobufJsonForm::kDuration:
      return writeDuration(level, content);
    case ProtobufJsonForm::kFieldMask:
      return writeFieldMask(level, content);
    case ProtobufJsonForm::kStruct:
      return writeMembers(level, content, "{}");
    case ProtobufJsonForm::kListValue:
      return writeMembers(level, content, "[]");
    case ProtobufJsonForm::kValue:
      return writeMembers(level, content, "null");
    case ProtobufJsonForm::kWrapper: {
      const size_t before = out_->size();
      if (!writeMembers(level, content, "")) return false;
      return out_->size() != before || writeValue(level.fields[0], Value{});
    }
    case ProtobufJsonForm::kAny:
      return writeAny(level, content);
  }
  return true;
}

bool ProtobufJsonWriter::writeObject(const Level& level, std::string_view content) {
  *out_ += '{';
  bool isAny = false;
  if (!writeFields(level, content, /*withKeys=*/true, &isAny)) return false;
  *out_ += '}';
  return true;
}

bool ProtobufJsonWriter::writeMembers(const Level& level, std::string_view content,
                                      std::string_view ifUnset) {
  bool isAny = false;
  if (!writeFields(level, content, /*withKeys=*/false, &isAny)) return false;
  if (!isAny) *out_ += ifUnset;
  return true;
}

bool ProtobufJsonWriter::writeFields(const Level& level, std::string_view content, bool withKeys,
                                     bool* isAny) {
  Input in{content.data(), content.data() + content.size()};
  const size_t keysBefore = keys_.size();
  uint64_t oneofs = 0;
  Progress progress;
  while (in.at != in.end) {
    uint32_t tag;
    in.at = readTag(in.at, in.end, &tag);
    if (in.at == nullptr) return failWire(level);
    const Field* field = level.find(fieldNumberOf(tag));
    if (field == nullptr) {
      in.at = skipValue(in.at, in.end, tag);
      if (in.at == nullptr) return failWire(level);
      continue;
    }
    if (progress.field != field) {
      if (progress.field != nullptr && progress.field->number > field->number) {
        return notCanonical();
      }
      closeField(progress);
      progress = {field, 0};
    } else if (!field->isRepeated) {
      return notCanonical();
    }
    if ((field->oneofBit & oneofs) != 0 && !isCanonical_) return notCanonical();
    oneofs |= field->oneofBit;
    if (!writeOccurrence(*field, tag, &in, withKeys, &progress, isAny)) {
      if (reason_.empty() && !isNotCanonical_) failWire(level);
      path_.push_back(field->isRepeated ? fmt::format("{}[{}]", field->name, progress.numValues)
                                        : field->name);
      return false;
    }
  }
  closeField(progress);
  return keys_.size() == keysBefore || checkKeys(keysBefore);
}

/// What stands behind one tag: a value, or several packed ones.
bool ProtobufJsonWriter::writeOccurrence(const Field& field, uint32_t tag, Input* in, bool withKeys,
                                         Progress* progress, bool* isAny) {
  reason_.clear();
  Value value;
  const uint32_t wireType = wireTypeOf(tag);
  const bool isPacked = wireType == kLengthDelimited && wireType != field.wireType;
  if (!isPacked || !field.isRepeated || !canBePacked(field.kind)) {
    return readValue(field, wireType, in, &value) &&
           writePlain(field, value, withKeys, progress, isAny);
  }
  size_t size;
  const char* at = readLength(in->at, in->end, &size);
  if (at == nullptr) return false;
  Input packed{at, at + size};
  while (packed.at != packed.end) {
    if (!readValue(field, field.wireType, &packed, &value) ||
        !writePlain(field, value, withKeys, progress, isAny)) {
      return false;
    }
  }
  in->at = packed.end;
  return true;
}

bool ProtobufJsonWriter::writePlain(const Field& field, const Value& value, bool withKeys,
                                    Progress* progress, bool* isAny) {
  if (isDroppedEnum(field, value)) return true;
  if (!field.isRepeated && !field.hasPresence && withKeys && isDefault(field, value)) return true;
  if (progress->numValues == 0) {
    if (withKeys) {
      if (*isAny) *out_ += ',';
      *out_ += field.key;
    }
    *isAny = true;
    if (field.isMap) *out_ += '{';
    if (field.isRepeated && !field.isMap) *out_ += '[';
  } else if (!field.isMap || out_->back() != '{') {
    *out_ += ',';
  }
  const bool isWritten = field.isMap ? writeEntry(field, value.text) : writeValue(field, value);
  if (isWritten) ++progress->numValues;
  return isWritten;
}

void ProtobufJsonWriter::closeField(const Progress& progress) {
  if (progress.numValues == 0 || !progress.field->isRepeated) return;
  *out_ += progress.field->isMap ? '}' : ']';
}

/// One entry of a map, as a member of an object.
bool ProtobufJsonWriter::writeEntry(const Field& map, std::string_view content) {
  const char* const end = content.data() + content.size();
  if (!isCanonical_) keys_.push_back(hashMapKey(map.number, content.data(), end));
  const Field* const keyField = map.level->find(1);
  const Field* const valueField = map.level->find(2);
  Value key;
  Value value;
  for (Input in{content.data(), end}; in.at != in.end;) {
    uint32_t tag;
    in.at = readTag(in.at, in.end, &tag);
    if (in.at == nullptr) return false;
    const Field* const field = map.level->find(fieldNumberOf(tag));
    if (field == nullptr) {
      in.at = skipValue(in.at, in.end, tag);
      if (in.at == nullptr) return false;
    } else if (!readValue(*field, wireTypeOf(tag), &in, field == keyField ? &key : &value)) {
      return false;
    }
  }
  if (isDroppedEnum(*valueField, value)) {
    if (out_->back() == ',') out_->pop_back();
    return true;
  }
  if (!isUtf8(key.text.data(), key.text.size())) return fail("a key of the map is not UTF-8");
  writeKey(*keyField, key);
  *out_ += ':';
  return writeValue(*valueField, value);
}

void ProtobufJsonWriter::writeKey(const Field& field, const Value& value) {
  if (field.kind == ProtobufKind::kString) return appendQuoted(value.text);
  *out_ += '"';
  if (field.kind == ProtobufKind::kBool) {
    *out_ += value.number != 0 ? "true" : "false";
  } else {
    *out_ += integerText(field.kind, value.number);
  }
  *out_ += '"';
}

bool ProtobufJsonWriter::writeValue(const Field& field, const Value& value) {
  switch (field.kind) {
    case ProtobufKind::kInt32:
    case ProtobufKind::kUint32:
    case ProtobufKind::kSint32:
    case ProtobufKind::kFixed32:
    case ProtobufKind::kSfixed32:
      *out_ += integerText(field.kind, value.number);
      return true;
    case ProtobufKind::kInt64:
    case ProtobufKind::kUint64:
    case ProtobufKind::kSint64:
    case ProtobufKind::kFixed64:
    case ProtobufKind::kSfixed64:
      *out_ += '"' + integerText(field.kind, value.number) + '"';
      return true;
    case ProtobufKind::kFloat:
      return writeReal(std::bit_cast<float>(static_cast<uint32_t>(value.number)),
                       /*isFloat=*/true, /*isOfValue=*/false);
    case ProtobufKind::kDouble:
      return writeReal(std::bit_cast<double>(value.number), /*isFloat=*/false, field.isOfValue);
    case ProtobufKind::kBool:
      *out_ += value.number != 0 ? "true" : "false";
      return true;
    case ProtobufKind::kString:
      if (!isUtf8(value.text.data(), value.text.size())) return fail("the text is not UTF-8");
      appendQuoted(value.text);
      return true;
    case ProtobufKind::kBytes:
      *out_ += '"' + encodeBase64(value.text) + '"';
      return true;
    case ProtobufKind::kEnum:
      return writeEnum(field, static_cast<int32_t>(value.number));
    case ProtobufKind::kNull:
      *out_ += "null";
      return true;
    case ProtobufKind::kMessage:
    case ProtobufKind::kGroup:
      return writeMessage(*field.level, value.text);
  }
  return true;
}

bool ProtobufJsonWriter::writeReal(double value, bool isFloat, bool isOfValue) {
  if (!std::isfinite(value)) {
    if (isOfValue) return fail("a google.protobuf.Value cannot be NaN or infinite in JSON");
    *out_ += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return true;
  }
  const auto to = std::back_inserter(*out_);
  if (isFloat) {
    fmt::format_to(to, "{}", static_cast<float>(value));
  } else {
    fmt::format_to(to, "{}", value);
  }
  return true;
}

bool ProtobufJsonWriter::writeEnum(const Field& field, int32_t number) {
  const std::string_view name = field.enumNames->find(number);
  if (name.empty()) {
    *out_ += fmt::format("{}", number);
  } else {
    appendQuoted(name);
  }
  return true;
}

bool ProtobufJsonWriter::readValue(const Field& field, uint32_t wireType, Input* in, Value* value) {
  if (wireType != field.wireType) {
    return fail(fmt::format("the wire type of field {} is {}, and should be {}", field.number,
                            wireType, field.wireType));
  }
  const char* const begin = in->at;
  size_t size = 0;
  uint32_t half = 0;
  switch (field.kind) {
    case ProtobufKind::kString:
    case ProtobufKind::kBytes:
    case ProtobufKind::kMessage:
      in->at = readLength(in->at, in->end, &size);
      if (in->at == nullptr) return false;
      value->text = {in->at, size};
      in->at += size;
      return true;
    case ProtobufKind::kGroup: {
      const char* contentEnd = nullptr;
      in->at =
          skipValue(begin, in->end, field.number << 3 | kStartGroup, kMaxGroupDepth, &contentEnd);
      if (in->at == nullptr) return false;
      value->text = {begin, static_cast<size_t>(contentEnd - begin)};
      return true;
    }
    case ProtobufKind::kFixed32:
    case ProtobufKind::kSfixed32:
    case ProtobufKind::kFloat:
      in->at = readFixed(in->at, in->end, &half);
      value->number = half;
      break;
    case ProtobufKind::kFixed64:
    case ProtobufKind::kSfixed64:
    case ProtobufKind::kDouble:
      in->at = readFixed(in->at, in->end, &value->number);
      break;
    default:
      in->at = readVarint(in->at, in->end, &value->number);
      break;
  }
  if (in->at == nullptr) return false;
  if (field.kind == ProtobufKind::kSint32 || field.kind == ProtobufKind::kUint32) {
    value->number = static_cast<uint32_t>(value->number);
  }
  if (field.kind == ProtobufKind::kSint32 || field.kind == ProtobufKind::kSint64) {
    value->number = static_cast<uint64_t>(decodeZigzag(value->number));
  }
  if (isSigned32(field.kind)) {
    value->number =
        static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value->number)));
  }
  return true;
}

bool ProtobufJsonWriter::isDefault(const Field& field, const Value& value) {
  if (field.level != nullptr) return false;
  return value.number == 0 && value.text.empty();
}

bool ProtobufJsonWriter::isDroppedEnum(const Field& field, const Value& value) {
  return field.isClosedEnum && field.enumNames->find(static_cast<int32_t>(value.number)).empty();
}

bool ProtobufJsonWriter::readSecondsAndNanos(const Level& level, std::string_view content,
                                             int64_t* seconds, int32_t* nanos) {
  for (Input in{content.data(), content.data() + content.size()}; in.at != in.end;) {
    uint32_t tag;
    in.at = readTag(in.at, in.end, &tag);
    if (in.at == nullptr) return failWire(level);
    const Field* const field = level.find(fieldNumberOf(tag));
    Value value;
    if (field == nullptr || (field->name != "seconds" && field->name != "nanos")) {
      in.at = skipValue(in.at, in.end, tag);
      if (in.at == nullptr) return failWire(level);
    } else if (!readValue(*field, wireTypeOf(tag), &in, &value)) {
      return failWire(level);
    } else if (field->name == "seconds") {
      *seconds = static_cast<int64_t>(value.number);
    } else {
      *nanos = static_cast<int32_t>(value.number);
    }
  }
  return true;
}

/// `"2026-01-02T03:04:05.500Z"`: 0, 3, 6 or 9 digits of fraction.
bool ProtobufJsonWriter::writeTimestamp(const Level& level, std::string_view content) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  if (!readSecondsAndNanos(level, content, &seconds, &nanos)) return false;
  if (seconds < kMinTimestampSeconds || seconds > kMaxTimestampSeconds || nanos < 0 ||
      nanos > kMaxNanos) {
    return fail(
        fmt::format("a Timestamp is in the years 1 to 9999 and has 0 to 999999999 nanos; "
                    "found seconds {}, nanos {}",
                    seconds, nanos));
  }
  int64_t days = seconds / kSecondsPerDay;
  int64_t rest = seconds % kSecondsPerDay;
  if (rest < 0) {
    --days;
    rest += kSecondsPerDay;
  }
  const CivilDate date = toCivilDate(static_cast<int32_t>(days));
  fmt::format_to(std::back_inserter(*out_), "\"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.year,
                 date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60);
  appendFraction(nanos);
  *out_ += "Z\"";
  return true;
}

/// `"-1.500s"`.
bool ProtobufJsonWriter::writeDuration(const Level& level, std::string_view content) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  if (!readSecondsAndNanos(level, content, &seconds, &nanos)) return false;
  if (seconds < -kMaxDurationSeconds || seconds > kMaxDurationSeconds || nanos < -kMaxNanos ||
      nanos > kMaxNanos || (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0)) {
    return fail(
        fmt::format("a Duration has at most 315576000000 seconds and 999999999 nanos, of "
                    "one sign; found seconds {}, nanos {}",
                    seconds, nanos));
  }
  *out_ += seconds < 0 || nanos < 0 ? "\"-" : "\"";
  fmt::format_to(std::back_inserter(*out_), "{}", std::abs(seconds));
  appendFraction(std::abs(nanos));
  *out_ += "s\"";
  return true;
}

void ProtobufJsonWriter::appendFraction(int32_t nanos) {
  const auto to = std::back_inserter(*out_);
  if (nanos == 0) return;
  if (nanos % 1'000'000 == 0) {
    fmt::format_to(to, ".{:03}", nanos / 1'000'000);
  } else if (nanos % 1000 == 0) {
    fmt::format_to(to, ".{:06}", nanos / 1000);
  } else {
    fmt::format_to(to, ".{:09}", nanos);
  }
}

/// `"fooBar,b.c"`.
bool ProtobufJsonWriter::writeFieldMask(const Level& level, std::string_view content) {
  std::string paths;
  for (Input in{content.data(), content.data() + content.size()}; in.at != in.end;) {
    uint32_t tag;
    in.at = readTag(in.at, in.end, &tag);
    if (in.at == nullptr) return failWire(level);
    const Field* const field = level.find(fieldNumberOf(tag));
    Value value;
    if (field == nullptr || field->name != "paths") {
      in.at = skipValue(in.at, in.end, tag);
      if (in.at == nullptr) return failWire(level);
      continue;
    }
    if (!readValue(*field, wireTypeOf(tag), &in, &value)) return failWire(level);
    if (value.text.empty()) continue;
    if (!paths.empty()) paths += ',';
    if (!appendCamelCase(value.text, &paths)) {
      return fail(fmt::format("the path \"{}\" of a FieldMask has no form in JSON", value.text));
    }
  }
  if (!isUtf8(paths.data(), paths.size())) return fail("the text is not UTF-8");
  appendQuoted(paths);
  return true;
}

/// Only an empty one: what else it holds is never looked up among the types that happen to be
/// linked in.
bool ProtobufJsonWriter::writeAny(const Level& level, std::string_view content) {
  for (Input in{content.data(), content.data() + content.size()}; in.at != in.end;) {
    uint32_t tag;
    in.at = readTag(in.at, in.end, &tag);
    if (in.at == nullptr) return failWire(level);
    const Field* const field = level.find(fieldNumberOf(tag));
    Value value;
    if (field == nullptr) {
      in.at = skipValue(in.at, in.end, tag);
      if (in.at == nullptr) return failWire(level);
    } else if (!readValue(*field, wireTypeOf(tag), &in, &value)) {
      return failWire(level);
    } else if (!value.text.empty()) {
      return fail("a google.protobuf.Any that holds something cannot be written as JSON");
    }
  }
  *out_ += "{}";
  return true;
}

void ProtobufJsonWriter::appendQuoted(std::string_view text) {
  std::string& out = *out_;
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) >= 0x20) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out += '"';
}

bool ProtobufJsonWriter::checkKeys(size_t from) {
  return takeDistinctKeys(keys_, from) || notCanonical();
}

}  // namespace penstock::bigquery
