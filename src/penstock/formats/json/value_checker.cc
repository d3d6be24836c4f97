#include "penstock/formats/json/value_checker.h"

#include <algorithm>

#include "penstock/formats/json/json_string.h"

namespace penstock::formats {
namespace {

constexpr const char* kEndsEarly = "the document ends too early";

}  // namespace

bool KeyLog::add(std::string_view raw, JsonFault* fault) {
  if (hasEscape(raw)) {
    std::string& key = unescaped_.emplace_back();
    if (!unescapeString(raw, &key, fault)) return false;
    raw = key;
  }
  keys_.push_back(raw);
  return true;
}

bool KeyLog::findDuplicate(size_t mark, std::string_view* key) {
  constexpr size_t kFewKeys = 8;
  const auto begin = keys_.begin() + static_cast<ptrdiff_t>(mark);
  const auto end = keys_.end();
  if (static_cast<size_t>(end - begin) <= kFewKeys) {
    for (auto one = begin; one != end; ++one) {
      if (std::find(one + 1, end, *one) == end) continue;
      *key = *one;
      return true;
    }
    return false;
  }
  // Sorted, so that no choice of keys makes this slow.
  std::sort(begin, end);
  const auto twin = std::adjacent_find(begin, end);
  if (twin == end) return false;
  *key = *twin;
  return true;
}

void KeyLog::rewind(size_t mark) {
  keys_.resize(mark);
  if (mark == 0 && !unescaped_.empty()) unescaped_.clear();
}

bool checkScalar(JsonCursor* cursor, JsonFault* fault) {
  const char c = cursor->peek();
  if (c == '"') {
    const std::string_view raw = rawString(*cursor);
    if (hasEscape(raw) && !checkEscapes(raw, fault)) return false;
  } else if (c == '-' || isDigit(c)) {
    if (readNumber(*cursor).text.empty()) {
      return (*fault)(cursor->at(), "not a number as JSON writes it");
    }
  } else if (readLiteral(*cursor) == JsonLiteral::kNone) {
    return (*fault)(cursor->at(), "a value is expected here");
  }
  ++cursor->next;
  return true;
}

bool ValueChecker::check(JsonCursor* cursor, size_t depth, JsonFault* fault) {
  open_.clear();
  levels_ = 0;
  keys_.rewind(0);
  for (;;) {
    if (cursor->exhausted()) return (*fault)(cursor->at(), kEndsEarly);
    bool valueFollows = false;
    const char c = cursor->peek();
    if (c == '{' || c == '[') {
      if (!openContainer(cursor, depth, fault)) return false;
      const bool isEmpty = cursor->peek() == (c == '{' ? '}' : ']');
      if (!isEmpty) {
        if (c == '{' && !takeKey(cursor, fault)) return false;
        continue;
      }
      if (!closeContainer(cursor, fault)) return false;
    } else if (!checkScalar(cursor, fault)) {
      return false;
    }
    if (!finishValue(cursor, &valueFollows, fault)) return false;
    if (valueFollows) continue;
    if (cursor->next <= cursor->end) return true;
    return (*fault)(cursor->at(), kEndsEarly);
  }
}

bool ValueChecker::openContainer(JsonCursor* cursor, size_t depth, JsonFault* fault) {
  if (depth + open_.size() >= kMaxJsonDepth) {
    return fault->unusable(cursor->at(), "nested deeper than 512 levels");
  }
  open_.push_back({cursor->peek() == '{', keys_.mark()});
  levels_ = std::max(levels_, open_.size());
  ++cursor->next;
  return true;
}

bool ValueChecker::takeKey(JsonCursor* cursor, JsonFault* fault) {
  if (cursor->exhausted()) return (*fault)(cursor->at(), kEndsEarly);
  if (cursor->peek() != '"')
    return (*fault)(cursor->at(), "a key in double quotes is expected here");
  if (!keys_.add(rawString(*cursor), fault)) return false;
  ++cursor->next;
  if (cursor->peek() != ':') return (*fault)(cursor->at(), "':' is expected after a key");
  ++cursor->next;
  return true;
}

bool ValueChecker::closeContainer(JsonCursor* cursor, JsonFault* fault) {
  const Container container = open_.back();
  std::string_view key;
  if (container.isObject && keys_.findDuplicate(container.firstKey, &key)) {
    // An unescaped key lies outside the text: the object's end stands for it.
    const bool inText = key.data() >= cursor->text && key.data() < cursor->at();
    return fault->unusable(inText ? key.data() : cursor->at(), "a key stands twice in one object");
  }
  keys_.rewind(container.firstKey);
  open_.pop_back();
  ++cursor->next;
  return true;
}

/// What comes behind a value: the next one of the same container, the ends of some containers, or
/// nothing that concerns this walk.
bool ValueChecker::finishValue(JsonCursor* cursor, bool* valueFollows, JsonFault* fault) {
  *valueFollows = false;
  while (!open_.empty()) {
    if (cursor->exhausted()) return (*fault)(cursor->at(), kEndsEarly);
    const bool isObject = open_.back().isObject;
    const char c = cursor->peek();
    if (c == ',') {
      ++cursor->next;
      *valueFollows = true;
      return !isObject || takeKey(cursor, fault);
    }
    if (c != (isObject ? '}' : ']')) {
      return (*fault)(cursor->at(),
                      isObject ? "',' or '}' is expected here" : "',' or ']' is expected here");
    }
    if (!closeContainer(cursor, fault)) return false;
  }
  return true;
}

}  // namespace penstock::formats
