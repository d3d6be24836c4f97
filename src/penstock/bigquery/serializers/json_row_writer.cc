#include "penstock/bigquery/serializers/json_row_writer.h"

#include <algorithm>
#include <bit>

#include "penstock/bigquery/serializers/json_key.h"
#include "penstock/formats/json/json_string.h"

namespace penstock::bigquery {

JsonRowWriter::JsonRowWriter(const JsonPlan& plan, bool ignoreUnknownFields)
    : plan_(plan),
      ignoreUnknownFields_(ignoreUnknownFields),
      seenWords_(plan.deepestWords()),
      spans_(plan.deepestFields()),
      lengthBytes_(plan.fieldCount(), 1) {}

bool JsonRowWriter::write(std::string_view document, formats::JsonCursor* cursor,
                          connector::RowEncoder& row) {
  cursor_ = *cursor;
  document_ = document;
  depth_ = 0;
  row_ = &row;
  to_ = row.cursor();
  limit_ = row.limit();
  seenTop_ = seenWords_.data();
  spanTop_ = spans_.data();
  failurePath_.clear();
  endsEarly_ = false;
  if (unknownKeys_.mark() != 0) unknownKeys_.rewind(0);
  if (cursor_.peek() != '{') return failRoot();
  if (!writeLevel(plan_.root())) return false;
  const char* const documentEnd = document.data() + document.size();
  if (hasLeftDocument()) return failEnd();
  if (cursor_.at() < documentEnd) {
    return failSyntax(cursor_.at(), "more than one JSON value in the document");
  }
  const bool isEmpty = cursor_.next - cursor->next == 2;
  if (isEmpty) return failDocument("the document is an empty object");
  row.setCursor(to_);
  *cursor = cursor_;
  return true;
}

void JsonRowWriter::grow(size_t bytes) {
  row_->setCursor(to_);
  to_ = row_->reserve(bytes);
  limit_ = row_->limit();
}

bool JsonRowWriter::openContainer() {
  if (++depth_ > formats::kMaxJsonDepth) {
    return failUnusable(cursor_.at(), "nested deeper than 512 levels");
  }
  ++cursor_.next;
  return true;
}

bool JsonRowWriter::writeLevel(const JsonLevel& level) {
  if (!openContainer()) return false;
  const Frame frame{seenTop_, spanTop_, unknownKeys_.mark(), offset()};
  seenTop_ += level.required.size();
  spanTop_ += level.size();
  std::fill(frame.seen, seenTop_, 0);
  bool isOrdered = true;
  if (cursor_.peek() != '}' && !writeMembers(level, frame, &isOrdered)) return false;
  ++cursor_.next;
  if (!closeLevel(level, frame, isOrdered)) return false;
  seenTop_ = frame.seen;
  spanTop_ = frame.spans;
  --depth_;
  return true;
}

/// Takes everything up to the closing brace.
inline bool JsonRowWriter::writeMembers(const JsonLevel& level, const Frame& frame,
                                        bool* isOrdered) {
  // As a rule the keys come in the order of the columns: the next column is tried first.
  const JsonField* expected = level.fields.data();
  uint32_t reached = 0;
  for (;;) {
    if (cursor_.exhausted()) [[unlikely]]
      return failEnd();
    const JsonField* field = expected;
    if (cursor_.peek() != '"' || !field->pattern.matches(cursor_.at() + 1)) {
      field = findField(level);
    }
    if (field != nullptr) [[likely]] {
      cursor_.next += 2;
      *isOrdered = *isOrdered && field->index >= reached;
      reached = field->index;
      expected = field + 1;
      if (!writeMember(*field, frame)) [[unlikely]] {
        failurePath_.push_back("." + field->name);
        return false;
      }
    } else if (!takeUnknown()) {
      return false;
    }
    const char c = cursor_.peek();
    if (c == '}') return true;
    if (c != ',') [[unlikely]]
      return failSyntax(cursor_.at(), "',' or '}' is expected here");
    ++cursor_.next;
  }
}

inline bool JsonRowWriter::writeMember(const JsonField& field, const Frame& frame) {
  if (cursor_.text[cursor_.next[-1]] != ':') [[unlikely]] {
    return failSyntax(cursor_.text + cursor_.next[-1], "':' is expected after a key");
  }
  uint64_t& word = frame.seen[field.index / kColumnsPerWord];
  const uint64_t bit = uint64_t{1} << (field.index % kColumnsPerWord);
  if ((word & bit) != 0) [[unlikely]] {
    return failValue(field, "the column stands twice in one object");
  }
  word |= bit;
  frame.spans[field.index].begin = static_cast<uint32_t>(offset());
  if (cursor_.peek() == 'n') {
    if (!takeNull(field)) return false;
  } else if (field.isRepeated) {
    if (!writeRepeated(field)) return false;
  } else if (!writeValue(field)) {
    return false;
  }
  frame.spans[field.index].end = static_cast<uint32_t>(offset());
  return true;
}

bool JsonRowWriter::takeNull(const JsonField& field) {
  if (formats::readLiteral(cursor_) != formats::JsonLiteral::kNull) {
    return failSyntax(cursor_.at(), "a value is expected here");
  }
  if (field.isRequired) return failValue(field, "the column is REQUIRED and has no value");
  ++cursor_.next;
  return true;
}

bool JsonRowWriter::writeRepeated(const JsonField& field) {
  if (cursor_.peek() != '[') return failKind(field);
  if (!openContainer()) return false;
  if (cursor_.peek() != ']') {
    for (size_t index = 0;; ++index) {
      if (cursor_.exhausted()) return failEnd();
      if (!writeElement(field)) [[unlikely]] {
        failurePath_.push_back(fmt::format("[{}]", index));
        return false;
      }
      const char c = cursor_.peek();
      if (c == ']') break;
      if (c != ',') return failSyntax(cursor_.at(), "',' or ']' is expected here");
      ++cursor_.next;
    }
  }
  ++cursor_.next;
  --depth_;
  return true;
}

inline bool JsonRowWriter::writeElement(const JsonField& field) {
  if (cursor_.peek() == 'n' && formats::readLiteral(cursor_) == formats::JsonLiteral::kNull) {
    return failValue(field, "an array may not hold null");
  }
  return writeValue(field);
}

bool JsonRowWriter::closeLevel(const JsonLevel& level, const Frame& frame, bool isOrdered) {
  if (level.hasRequired) {
    for (size_t word = 0; word < level.required.size(); ++word) {
      const uint64_t missing = level.required[word] & ~frame.seen[word];
      if (missing == 0) continue;
      const size_t index = word * kColumnsPerWord + static_cast<size_t>(std::countr_zero(missing));
      return failMissing(level.fields[index]);
    }
  }
  if (unknownKeys_.mark() != frame.unknownKeys) {
    std::string_view key;
    if (unknownKeys_.findDuplicate(frame.unknownKeys, &key)) {
      if (hasLeftDocument()) return failEnd();
      return failDocument(fmt::format("the key \"{}\" stands twice in one object", key));
    }
    unknownKeys_.rewind(frame.unknownKeys);
  }
  if (!isOrdered) reorder(level, frame);
  return true;
}

/// Puts the fields of an object in the order of their numbers.
void JsonRowWriter::reorder(const JsonLevel& level, const Frame& frame) {
  char* const begin = row_->rowData() + frame.rowBegin;
  rowCopy_.assign(begin, static_cast<size_t>(to_ - begin));
  char* to = begin;
  for (size_t word = 0; word < level.required.size(); ++word) {
    for (uint64_t left = frame.seen[word]; left != 0; left &= left - 1) {
      const size_t index = word * kColumnsPerWord + static_cast<size_t>(std::countr_zero(left));
      const Span span = frame.spans[index];
      const size_t size = span.end - span.begin;
      std::memcpy(to, rowCopy_.data() + (span.begin - frame.rowBegin), size);
      to += size;
    }
  }
}

/// The column that the key at the cursor names; null: none, or no key.
const JsonField* JsonRowWriter::findField(const JsonLevel& level) {
  if (cursor_.peek() != '"') return nullptr;
  std::string_view key = formats::rawString(cursor_);
  if (const JsonField* field = level.findByPattern(key); field != nullptr) return field;
  if (formats::hasEscape(key)) {
    if (!formats::unescapeString(key, &keyText_, &fault_)) return nullptr;
    key = keyText_;
  }
  keyLower_.clear();
  appendLowerCase(key, &keyLower_);
  return level.find(keyLower_);
}

/// Takes a key that names no column, and its value.
bool JsonRowWriter::takeUnknown() {
  if (cursor_.peek() != '"')
    return failSyntax(cursor_.at(), "a key in double quotes is expected here");
  const std::string_view key = formats::rawString(cursor_);
  if (!unknownKeys_.add(key, &fault_)) return failFault();
  ++cursor_.next;
  if (cursor_.peek() != ':') return failSyntax(cursor_.at(), "':' is expected after a key");
  ++cursor_.next;
  if (!ignoreUnknownFields_) return failUnknownKey(key);
  if (checker_.check(&cursor_, depth_, &fault_)) return true;
  failFault();
  failurePath_.push_back(fmt::format(".{}", key));
  return false;
}

}  // namespace penstock::bigquery
