#include "penstock/bigquery/serializers/protobuf_row_writer.h"

#include <algorithm>
#include <cstdint>

#include "penstock/bigquery/encoding/time_units.h"
#include "penstock/bigquery/serializers/protobuf_time_bounds.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

constexpr uint32_t kUnseen = UINT32_MAX;

}  // namespace

ProtobufRowWriter::ProtobufRowWriter(const ProtobufPlan& plan, bool rejectUnknownFields)
    : plan_(plan),
      rejectUnknownFields_(rejectUnknownFields),
      messages_(plan.deepest()),
      spans_(plan.deepestShuffled()) {}

ProtobufRowWriter::Outcome ProtobufRowWriter::write(std::string_view message, bool isCanonical,
                                                    connector::RowEncoder& row) {
  message_ = message.data();
  isCanonical_ = isCanonical;
  isNotCanonical_ = false;
  row_ = &row;
  to_ = row.cursor();
  limit_ = row.limit();
  runBegin_ = message.data();
  depth_ = 0;
  numOpened_ = 0;
  numSpans_ = 0;
  keys_.clear();
  isDropped_ = false;
  isInPacked_ = false;
  failurePath_.clear();
  failureType_.clear();
  const char* const end = message.data() + message.size();
  if (!writeLevel(plan_.root(), message.data(), end)) {
    return isNotCanonical_ ? Outcome::kNotCanonical : Outcome::kFailed;
  }
  copyRun(end);
  row.setCursor(to_);
  return Outcome::kWritten;
}

void ProtobufRowWriter::grow(size_t bytes) {
  row_->setCursor(to_);
  to_ = row_->reserve(bytes);
  limit_ = row_->limit();
}

/// The messages around the walk will not be copied as they are: writes their tags and leaves room
/// for their lengths.
void ProtobufRowWriter::openMessages() {
  for (; numOpened_ != depth_; ++numOpened_) {
    OpenMessage& message = messages_[numOpened_];
    const auto before = static_cast<size_t>(message.tagBegin - runBegin_);
    ensure(before + kTagRoom + kMaxLengthBytes);
    if (before != 0) std::memcpy(to_, runBegin_, before);
    to_ += before;
    putTag(*message.field);
    message.lengthBytes =
        varintSize(static_cast<size_t>(message.contentEnd - message.contentBegin));
    message.lengthAt = offset();
    to_ += message.lengthBytes;
    runBegin_ = message.contentBegin;
  }
}

/// Writes the length of what stands behind it, moving that if the length takes other room.
void ProtobufRowWriter::setLength(size_t lengthAt, size_t laidOut) {
  const size_t size = offset() - lengthAt - laidOut;
  if (varintSize(size) != laidOut) ensure(kMaxLengthBytes);
  to_ = writeLengthBefore(row_->rowData() + lengthAt, laidOut, size);
}

inline const char* ProtobufRowWriter::writeField(const ProtobufField& field, uint32_t tag,
                                                 const char* fieldBegin, const char* at,
                                                 const char* end) {
  if (tag == field.wireTag) [[likely]] {
    return writeValue(field, field.passes, fieldBegin, at, end);
  }
  if (tag == field.packedTag) return writePacked(field, fieldBegin, at, end);
  return failWireType(field, tag, fieldBegin);
}

/// One value. `mayPass`: if it has the row's form it can stay where it is, tag and all.
const char* ProtobufRowWriter::writeValue(const ProtobufField& field, bool mayPass,
                                          const char* fieldBegin, const char* at, const char* end) {
  switch (field.conversion) {
    case ProtobufConversion::kBytes:
    case ProtobufConversion::kString: {
      size_t size;
      const char* const text = readLength(at, end, &size);
      if (text == nullptr) return failTruncated(field, fieldBegin);
      if (field.conversion == ProtobufConversion::kString && !isUtf8(text, size)) {
        return failUtf8(field, {text, size});
      }
      if (mayPass) return text + size;
      return writeLooseBytes(field, fieldBegin, {text, size});
    }
    case ProtobufConversion::kDouble: {
      uint64_t bits;
      at = readFixed(at, end, &bits);
      if (at == nullptr) return failTruncated(field, fieldBegin);
      if (!mayPass) putDouble(field, fieldBegin, bits, at);
      return at;
    }
    case ProtobufConversion::kInt64:
      if (mayPass) {
        at = skipVarint(at, end);
        return at != nullptr ? at : failTruncated(field, fieldBegin);
      }
      [[fallthrough]];
    case ProtobufConversion::kInt32:
    case ProtobufConversion::kUint32:
    case ProtobufConversion::kUint64: {
      uint64_t found;
      at = readVarint(at, end, &found);
      if (at == nullptr) return failTruncated(field, fieldBegin);
      uint64_t value = found;
      if (field.conversion == ProtobufConversion::kInt32) {
        value = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(found)));
      } else if (field.conversion == ProtobufConversion::kUint32) {
        value = static_cast<uint32_t>(found);
      } else if (field.conversion == ProtobufConversion::kUint64 && found > INT64_MAX) {
        return failTooLarge(field, found);
      }
      if (mayPass && value == found) return at;
      return writeInteger(field, fieldBegin, value, at);
    }
    case ProtobufConversion::kTimestamp:
    case ProtobufConversion::kDuration:
    case ProtobufConversion::kFieldMask:
    case ProtobufConversion::kWrapper:
    case ProtobufConversion::kJson:
    case ProtobufConversion::kMessage:
      return takeMessage(field, fieldBegin, at, end);
    case ProtobufConversion::kEnum:
      return writeEnum(field, fieldBegin, at, end);
    default:
      return writeOtherNumber(field, fieldBegin, at, end);
  }
}

/// What is frequent, without a question: null for all else and for what is wrong.
inline const char* ProtobufRowWriter::takeShortcut(const ProtobufField& field,
                                                   const char* fieldBegin, const char* at,
                                                   const char* end) {
  size_t size;
  switch (field.shortcut) {
    case ProtobufShortcut::kPassString:
      at = readLength(at, end, &size);
      return at != nullptr && isUtf8(at, size) ? at + size : nullptr;
    case ProtobufShortcut::kPassBytes:
      at = readLength(at, end, &size);
      return at != nullptr ? at + size : nullptr;
    case ProtobufShortcut::kPassVarint:
      return skipVarint(at, end);
    case ProtobufShortcut::kPassDouble:
      return static_cast<size_t>(end - at) >= sizeof(double) ? at + sizeof(double) : nullptr;
    case ProtobufShortcut::kTimestamp:
      return writeTimestamp(field, fieldBegin, at, end);
    case ProtobufShortcut::kNone:
      break;
  }
  return nullptr;
}

/// A Timestamp as it mostly is: both parts, in order and in range.
inline const char* ProtobufRowWriter::writeTimestamp(const ProtobufField& field,
                                                     const char* fieldBegin, const char* at,
                                                     const char* end) {
  size_t size;
  at = readLength(at, end, &size);
  if (at == nullptr || size < 4) return nullptr;
  const char* const after = at + size;
  uint64_t seconds;
  uint64_t nanos;
  // Both may look as far as the message around goes; where they end tells whether they should.
  if (static_cast<uint8_t>(*at) != field.secondsTag) return nullptr;
  at = readVarint(at + 1, end, &seconds);
  if (at == nullptr || at >= after || static_cast<uint8_t>(*at) != field.nanosTag) return nullptr;
  at = readVarint(at + 1, end, &nanos);
  if (at != after || nanos > kMaxNanos || seconds > kMaxTimestampSeconds) return nullptr;
  putVarint(field, fieldBegin, seconds * kMicrosPerSecond + nanos / kNanosPerMicro, after);
  return after;
}

bool ProtobufRowWriter::writeLevel(const ProtobufLevel& level, const char* at, const char* end) {
  if (level.isShuffled) return writeShuffledLevel(level, at, end);
  const char* const begin = at;
  const size_t keysBefore = keys_.size();
  uint64_t oneofs = 0;
  // Fields before it are done; itself may have elements already.
  const ProtobufField* next = level.fields.data();
  while (at != end) {
    const char* const fieldBegin = at;
    const ProtobufField* field = next;
    uint32_t tag = static_cast<uint8_t>(*at);
    if (tag == next->shortTag) [[likely]] {
      ++at;
    } else {
      at = readTag(at, end, &tag);
      if (at == nullptr) return failWire(fieldBegin, "no field begins here");
      field = tag == next->wireTag ? next : level.find(fieldNumberOf(tag));
      if (next->nextFill < field->index && field->conversion != ProtobufConversion::kDropped &&
          !fillGap(level, next->index, field->index, fieldBegin)) {
        return false;
      }
    }
    if (!field->isSpecial && field >= next) [[likely]] {
      next = field + (field->isRepeated ? 0 : 1);
      if (tag == field->wireTag) {
        const char* const after = takeShortcut(*field, fieldBegin, at, end);
        if (after != nullptr) {
          at = after;
          continue;
        }
      }
      at = writeField(*field, tag, fieldBegin, at, end);
      if (at == nullptr) return blame(*field, begin, fieldBegin);
      continue;
    }
    if ((field->oneofBit & oneofs) != 0 && !isCanonical_) return notCanonical();
    oneofs |= field->oneofBit;
    if (field->conversion == ProtobufConversion::kDropped) {
      at = dropField(level, *field, tag, fieldBegin, at, end);
      if (at == nullptr) return false;
      continue;
    }
    if (field < next) return notCanonical();
    next = field;
    at = writeField(*field, tag, fieldBegin, at, end);
    if (at == nullptr) return blame(*field, begin, fieldBegin);
    if (isDropped_) {
      isDropped_ = level.isMapEntry;  // a map's whole entry is
    } else if (!field->isRepeated) {
      next = field + 1;
    }
  }
  if (next->nextFill < level.size() && !fillGap(level, next->index, level.size(), end)) {
    return false;
  }
  return keys_.size() == keysBefore || checkKeys(keysBefore);
}

/// A level whose columns have another order than the message's fields: the fields are written as
/// they come and put in order at the end.
bool ProtobufRowWriter::writeShuffledLevel(const ProtobufLevel& level, const char* at,
                                           const char* end) {
  const char* const begin = at;
  const size_t keysBefore = keys_.size();
  const size_t spansBefore = numSpans_;
  Span* const spans = spans_.data() + numSpans_;
  numSpans_ += level.byColumn.back()->column + 1;
  std::fill(spans, spans_.data() + numSpans_, Span{kUnseen, kUnseen});
  copyRun(at);
  runBegin_ = at;
  const size_t rowBegin = offset();
  uint64_t oneofs = 0;
  while (at != end) {
    const char* const fieldBegin = at;
    uint32_t tag;
    at = readTag(at, end, &tag);
    if (at == nullptr) return failWire(fieldBegin, "no field begins here");
    const ProtobufField& field = *level.find(fieldNumberOf(tag));
    if ((field.oneofBit & oneofs) != 0 && !isCanonical_) return notCanonical();
    oneofs |= field.oneofBit;
    if (field.conversion == ProtobufConversion::kDropped) {
      at = dropField(level, field, tag, fieldBegin, at, end);
      if (at == nullptr) return false;
      continue;
    }
    Span& span = spans[field.column];
    const bool isFirst = span.begin == kUnseen;
    if (!isFirst && (!field.isRepeated || span.end != offset())) return notCanonical();
    const auto valueBegin = static_cast<uint32_t>(offset());
    at = writeField(field, tag, fieldBegin, at, end);
    if (at == nullptr) return blame(field, begin, fieldBegin);
    copyRun(at);
    runBegin_ = at;
    if (field.isClosedEnum && isDropped_) {
      isDropped_ = level.isMapEntry;
      continue;
    }
    if (isFirst) span.begin = valueBegin;
    span.end = static_cast<uint32_t>(offset());
  }
  if (!putInOrder(level, rowBegin, spans, end)) return false;
  numSpans_ = spansBefore;
  return keys_.size() == keysBefore || checkKeys(keysBefore);
}

/// Adds what is missing, and moves what is there into the order of the columns.
bool ProtobufRowWriter::putInOrder(const ProtobufLevel& level, size_t rowBegin, Span* spans,
                                   const char* at) {
  for (const ProtobufField* field : level.byColumn) {
    Span& span = spans[field->column];
    if (span.begin != kUnseen) continue;
    span.begin = static_cast<uint32_t>(offset());
    if (field->fill != ProtobufFill::kNothing && !fill(*field, at)) {
      failurePath_.push_back(field->name);
      return false;
    }
    span.end = static_cast<uint32_t>(offset());
  }
  char* to = row_->rowData() + rowBegin;
  rowCopy_.assign(to, offset() - rowBegin);
  for (const ProtobufField* field : level.byColumn) {
    const Span span = spans[field->column];
    const size_t size = span.end - span.begin;
    std::memcpy(to, rowCopy_.data() + (span.begin - rowBegin), size);
    to += size;
  }
  return true;
}

/// Writes what fields that are not there have to leave in the row.
bool ProtobufRowWriter::fillGap(const ProtobufLevel& level, uint32_t from, uint32_t to,
                                const char* at) {
  for (uint32_t index = level.fields[from].nextFill; index < to;
       index = level.fields[index + 1].nextFill) {
    const ProtobufField& field = level.fields[index];
    if (fill(field, at)) continue;
    failurePath_.push_back(field.name);
    return false;
  }
  return true;
}

bool ProtobufRowWriter::fill(const ProtobufField& field, const char* at) {
  switch (field.fill) {
    case ProtobufFill::kNothing:
      return true;
    case ProtobufFill::kDefault:
      copyRun(at);
      runBegin_ = at;
      ensure(field.defaultBytes.size());
      std::memcpy(to_, field.defaultBytes.data(), field.defaultBytes.size());
      to_ += field.defaultBytes.size();
      return true;
    case ProtobufFill::kMessage:
      return writeContent(field, {at, at, at, at});
    case ProtobufFill::kMissing:
      return failMissing(field);
  }
  return true;
}

/// Passes over a field that has no column. Where the message has no such field either: an unknown
/// one.
const char* ProtobufRowWriter::dropField(const ProtobufLevel& level, const ProtobufField& field,
                                         uint32_t tag, const char* fieldBegin, const char* at,
                                         const char* end) {
  if (field.wireTag == 0 && rejectUnknownFields_) return failUnknown(level, tag, fieldBegin);
  if (field.wireTag != 0 && tag != field.wireTag && tag != field.packedTag) {
    failWireType(field, tag, fieldBegin);
    failurePath_.push_back(field.name);
    return nullptr;
  }
  copyRun(fieldBegin);
  at = skipValue(at, end, tag);
  if (at == nullptr) return failWire(fieldBegin, "the value of the field goes on behind the end");
  runBegin_ = at;
  return at;
}

const char* ProtobufRowWriter::writePacked(const ProtobufField& field, const char* fieldBegin,
                                           const char* at, const char* end) {
  size_t size;
  at = readLength(at, end, &size);
  if (at == nullptr) return failWire(fieldBegin, "the values of the field go on behind the end");
  copyRun(fieldBegin);
  const char* const packedEnd = at + size;
  runBegin_ = at;
  isInPacked_ = true;
  for (packedIndex_ = 0; at != packedEnd; ++packedIndex_) {
    runBegin_ = at;
    at = writeValue(field, /*mayPass=*/false, at, at, packedEnd);
    if (at == nullptr) return nullptr;
  }
  isInPacked_ = false;
  runBegin_ = packedEnd;
  return packedEnd;
}

/// A message field: its content, then what becomes of it.
const char* ProtobufRowWriter::takeMessage(const ProtobufField& field, const char* fieldBegin,
                                           const char* at, const char* end) {
  if (wireTypeOf(field.wireTag) == kStartGroup) {
    const char* contentEnd = nullptr;
    const char* const after = skipValue(at, end, field.wireTag, kMaxGroupDepth, &contentEnd);
    if (after == nullptr) return failWire(fieldBegin, "the group does not end");
    return writeContent(field, {fieldBegin, at, contentEnd, after}) ? after : nullptr;
  }
  size_t size;
  at = readLength(at, end, &size);
  if (at == nullptr) return failWire(fieldBegin, "the message goes on behind the end");
  return writeContent(field, {fieldBegin, at, at + size, at + size}) ? at + size : nullptr;
}

/// A message that becomes a STRUCT.
bool ProtobufRowWriter::writeNested(const ProtobufField& field, const Content& content) {
  const ProtobufLevel& level = *field.level;
  // Nothing to copy the tag from: it is not in the message, or has another form there.
  const bool isFilledIn = content.fieldBegin == content.after;
  const bool mustOpen = !field.passes || isFilledIn || level.isShuffled || level.mayDropEntry;
  if (mustOpen) {
    copyRun(content.fieldBegin);
    runBegin_ = content.fieldBegin;
  }
  const size_t rowBefore = offset();
  messages_[depth_++] = {&field, content.fieldBegin, content.begin, content.end, 0, 0};
  if (mustOpen) openMessages();
  if (level.isMapEntry) noteKey(field, content);
  if (!writeLevel(level, content.begin, content.end)) return false;
  if (level.mayDropEntry && isDropped_) {
    isDropped_ = false;
    to_ = row_->rowData() + rowBefore;
    --numOpened_;
    runBegin_ = content.after;
  } else if (numOpened_ == depth_) {
    copyRun(content.end);
    const OpenMessage& message = messages_[depth_ - 1];
    setLength(message.lengthAt, message.lengthBytes);
    --numOpened_;
    runBegin_ = content.after;
  }
  --depth_;
  return true;
}

/// Keys of a map are remembered to be compared when its message has been written.
void ProtobufRowWriter::noteKey(const ProtobufField& field, const Content& content) {
  if (!isCanonical_) keys_.push_back(hashMapKey(field.wireTag, content.begin, content.end));
}

bool ProtobufRowWriter::checkKeys(size_t from) {
  return takeDistinctKeys(keys_, from) || notCanonical();
}

}  // namespace penstock::bigquery
