#include "apps/penstock/record_fields.h"

#include <algorithm>
#include <optional>

#include "penstock/formats/json/json_string.h"

namespace penstock::command {

using formats::JsonCursor;

struct RecordFields::Level {
  struct Name {
    std::string name;
    std::optional<size_t> field;   // whose value this is
    std::unique_ptr<Level> below;  // looked for inside it
  };
  std::vector<Name> names;

  Name& at(const std::string& name) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Name& each) { return each.name == name; });
    return found != names.end() ? *found : names.emplace_back(Name{name, {}, nullptr});
  }
  [[nodiscard]] const Name* find(std::string_view name) const {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Name& each) { return each.name == name; });
    return found == names.end() ? nullptr : &*found;
  }
};

RecordFields::RecordFields(std::span<const DestinationTemplate::FieldPath> fields)
    : root_(std::make_unique<Level>()), values_(fields.size()), found_(fields.size()) {
  for (size_t field = 0; field < fields.size(); ++field) {
    names_.push_back(DestinationTemplate::nameOf(fields[field]));
    Level* level = root_.get();
    for (size_t step = 0; step < fields[field].size(); ++step) {
      Level::Name& name = level->at(fields[field][step]);
      if (step + 1 == fields[field].size()) {
        name.field = field;
        break;
      }
      if (name.below == nullptr) name.below = std::make_unique<Level>();
      level = name.below.get();
    }
  }
}

RecordFields::~RecordFields() = default;

std::span<const std::string> RecordFields::read(size_t record, std::string& why) {
  const std::string_view text = batch_.text(record);
  recordEnd_ = text.data() + text.size();
  std::fill(found_.begin(), found_.end(), false);
  missing_ = values_.size();
  why_.clear();
  JsonCursor cursor;
  bool isolated = false;
  const formats::IndexError error = batch_.locate(record, &cursor, &isolated);
  bool isRead = false;
  if (error != formats::IndexError::kNone) {
    why_ = fmt::format("the record is malformed: {}", formats::describe(error));
  } else if (cursor.peek() != '{') {
    why_ = "the record is not a JSON object";
  } else {
    isRead = walkObject(cursor, *root_, 1);
  }
  if (isRead && missing_ > 0) {
    const auto first = std::find(found_.begin(), found_.end(), false);
    why_ = fmt::format("the record has no field '{}'",
                       names_[static_cast<size_t>(first - found_.begin())]);
  }
  why = why_;
  if (!why_.empty()) return {};
  return values_;
}

bool RecordFields::fail(std::string why) {
  why_ = std::move(why);
  return false;
}

/// Takes members until every field is found or the object ends.
bool RecordFields::walkObject(JsonCursor& cursor, const Level& level, size_t depth) {
  const auto malformed = [this](std::string_view why) {
    return fail(fmt::format("the record is malformed: {}", why));
  };
  ++cursor.next;
  if (cursor.peek() == '}') {
    ++cursor.next;
    return true;
  }
  while (true) {
    if (cursor.exhausted() || cursor.at() >= recordEnd_) return malformed("it ends too early");
    if (cursor.peek() != '"') return malformed("a key in double quotes is expected");
    std::string_view key = formats::rawString(cursor);
    if (formats::hasEscape(key)) {
      if (!formats::unescapeString(key, &key_, &fault_)) return malformed(fault_.reason);
      key = key_;
    }
    ++cursor.next;
    if (cursor.peek() != ':') return malformed("':' is expected after a key");
    ++cursor.next;
    if (cursor.at() >= recordEnd_) return malformed("it ends too early");
    const Level::Name* name = level.find(key);
    if (name != nullptr && name->field && !found_[*name->field]) {
      if (!takeValue(cursor, *name->field)) return false;
      if (missing_ == 0) return true;
    }
    if (name != nullptr && name->below != nullptr && cursor.peek() == '{') {
      if (!walkObject(cursor, *name->below, depth + 1)) return false;
      if (missing_ == 0) return true;
    } else if (!checker_.check(&cursor, depth, &fault_)) {
      return malformed(fault_.reason);
    }
    const char c = cursor.peek();
    ++cursor.next;
    if (c == '}') return true;
    if (c != ',') return malformed("',' or '}' is expected");
  }
}

/// The value at `cursor`, which stays there.
bool RecordFields::takeValue(JsonCursor& cursor, size_t field) {
  std::string& value = values_[field];
  const auto unusable = [&](std::string_view what) {
    return fail(fmt::format("the field '{}' is {}", names_[field], what));
  };
  const char c = cursor.peek();
  if (c == '{') return unusable("an object");
  if (c == '[') return unusable("an array");
  if (c == '"') {
    if (!formats::unescapeString(formats::rawString(cursor), &value, &fault_)) {
      return fail(fmt::format("the record is malformed: {}", fault_.reason));
    }
  } else if (const formats::JsonNumber number = formats::readNumber(cursor); !number.text.empty()) {
    value = number.text;
  } else {
    switch (formats::readLiteral(cursor)) {
      case formats::JsonLiteral::kTrue:
        value = "true";
        break;
      case formats::JsonLiteral::kFalse:
        value = "false";
        break;
      case formats::JsonLiteral::kNull:
        return unusable("null");
      case formats::JsonLiteral::kNone:
        return fail("the record is malformed: a value is expected");
    }
  }
  if (value.empty()) return unusable("an empty text");
  found_[field] = true;
  --missing_;
  return true;
}

}  // namespace penstock::command
