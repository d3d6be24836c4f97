#include "penstock/bigquery/schema/inference_walk.h"

#include "penstock/bigquery/schema/validate_schema.h"
#include "penstock/formats/json/json_string.h"

namespace penstock::bigquery {
namespace {

namespace kind = value_kind;

constexpr const char* kEndsEarly = "the document ends too early";

}  // namespace

bool InferenceWalk::walk(std::string_view document, formats::JsonCursor* cursor) {
  cursor_ = *cursor;
  depth_ = 0;
  structs_ = 0;
  crowded_ = nullptr;
  observations_.clear();
  if (!walkDocument()) return false;
  const char* const documentEnd = document.data() + document.size();
  const char* const last = cursor_.text + cursor_.next[-1];
  if (last >= documentEnd) return fault_(documentEnd, kEndsEarly);
  if (cursor_.at() < documentEnd) {
    return fault_(cursor_.at(), "more than one JSON value in the document");
  }
  *cursor = cursor_;
  return true;
}

bool InferenceWalk::walkDocument() {
  const char* const begin = cursor_.at();
  if (*begin != '{') return fault_(begin, "a JSON object is expected here");
  const uint32_t* const first = cursor_.next;
  if (!walkObject(root_)) return false;
  const bool isEmpty = cursor_.next - first == 2;
  return !isEmpty || fault_.unusable(begin, "the document is an empty object");
}

bool InferenceWalk::walkObject(InferredMembers& members) {
  if (!openContainer()) return false;
  ++structs_;
  const uint64_t object = ++objects_;
  // As a rule the keys come in the order of the last object: the one after the last is tried first.
  InferredField** expected = &members.first;
  while (cursor_.peek() != '}') {
    if (cursor_.exhausted()) return fault_(cursor_.at(), kEndsEarly);
    InferredField* field = *expected;
    if (!walkMember(members, &field, object)) return false;
    if (field != nullptr) {
      *expected = field;
      expected = &field->follower;
    }
    const char c = cursor_.peek();
    if (c == '}') break;
    if (c != ',') return fault_(cursor_.at(), "',' or '}' is expected here");
    ++cursor_.next;
    if (cursor_.peek() == '}') return fault_(cursor_.at(), "a key in double quotes is expected");
  }
  ++cursor_.next;
  --structs_;
  --depth_;
  return true;
}

/// `*field` is the field that is expected, and then the one that was there; null: too many fields.
inline bool InferenceWalk::walkMember(InferredMembers& members, InferredField** field,
                                      uint64_t object) {
  if (cursor_.peek() != '"') return fault_(cursor_.at(), "a key in double quotes is expected");
  const std::string_view key = formats::rawString(cursor_);
  if (*field == nullptr || !(*field)->matches(key)) {
    if (!findField(members, key, field)) return false;
  }
  ++cursor_.next;
  if (cursor_.peek() != ':') return fault_(cursor_.at(), "':' is expected after a key");
  ++cursor_.next;
  if (*field == nullptr) return skipValue();
  if ((*field)->seenIn == object) {
    return fault_.unusable(key.data(), "two keys of one object name the same column");
  }
  (*field)->seenIn = object;
  return walkValue(**field, false);
}

/// False: the key is no key. A null field: there is no room for another.
bool InferenceWalk::findField(InferredMembers& members, std::string_view rawKey,
                              InferredField** field) {
  std::string_view key = rawKey;
  if (formats::hasEscape(rawKey)) {
    if (!formats::unescapeString(rawKey, &text_, &fault_)) return false;
    key = text_;
  }
  *field = members.find(key);
  if (*field != nullptr) return true;
  if (fields_ >= kMaxFields) {
    crowded_ = &members;
    return true;
  }
  ++fields_;
  *field = &members.add(key);
  return true;
}

bool InferenceWalk::walkValue(InferredField& field, bool element) {
  switch (cursor_.peek()) {
    case '"':
      return walkString(field, element);
    case '{':
    case '[':
      return walkNested(field, element);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return walkNumber(field, element);
    default:
      return walkLiteral(field, element);
  }
}

bool InferenceWalk::walkNested(InferredField& field, bool element) {
  if (cursor_.peek() == '[') {
    if (!element) return walkArray(field);
    observe(field, element, kind::kNestedArray);
    return skipValue();
  }
  // The document is an object, too, but no STRUCT.
  if (structs_ > kMaxSchemaDepth) {
    observe(field, element, kind::kTooDeep);
    return skipValue();
  }
  observe(field, element, kind::kObject);
  return walkObject(field.members());
}

bool InferenceWalk::walkArray(InferredField& field) {
  observe(field, false, kind::kArray);
  if (!openContainer()) return false;
  while (cursor_.peek() != ']') {
    if (cursor_.exhausted()) return fault_(cursor_.at(), kEndsEarly);
    if (!walkValue(field, true)) return false;
    const char c = cursor_.peek();
    if (c == ']') break;
    if (c != ',') return fault_(cursor_.at(), "',' or ']' is expected here");
    ++cursor_.next;
    if (cursor_.peek() == ']') return fault_(cursor_.at(), "a value is expected here");
  }
  ++cursor_.next;
  --depth_;
  return true;
}

bool InferenceWalk::walkString(InferredField& field, bool element) {
  std::string_view text = formats::rawString(cursor_);
  const uint8_t candidates = field.values(element).forms;
  uint8_t forms = 0;
  if (formats::hasEscape(text)) {
    if (!formats::unescapeString(text, &text_, &fault_)) return false;
    text = text_;
  }
  if (candidates != 0) forms = matchingForms(text, candidates);
  observe(field, element, kind::kString, forms);
  ++cursor_.next;
  return true;
}

bool InferenceWalk::walkNumber(InferredField& field, bool element) {
  const formats::JsonNumber number = formats::readNumber(cursor_);
  if (number.text.empty()) return fault_(cursor_.at(), "not a number as JSON writes it");
  observe(field, element, number.isInteger ? integerKind(number.text) : kind::kDecimal);
  ++cursor_.next;
  return true;
}

bool InferenceWalk::walkLiteral(InferredField& field, bool element) {
  switch (formats::readLiteral(cursor_)) {
    case formats::JsonLiteral::kNone:
      return fault_(cursor_.at(), "a value is expected here");
    case formats::JsonLiteral::kNull:
      observe(field, element, kind::kNull);
      break;
    case formats::JsonLiteral::kTrue:
    case formats::JsonLiteral::kFalse:
      observe(field, element, kind::kBool);
      break;
  }
  ++cursor_.next;
  return true;
}

bool InferenceWalk::openContainer() {
  if (++depth_ > formats::kMaxJsonDepth) {
    return fault_.unusable(cursor_.at(), "nested deeper than 512 levels");
  }
  ++cursor_.next;
  return true;
}

bool InferenceWalk::skipValue() { return checker_.check(&cursor_, depth_, &fault_); }

}  // namespace penstock::bigquery
