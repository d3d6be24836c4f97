#include "penstock/bigquery/schema/inferred_field.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/base/status.h"
#include "penstock/bigquery/encoding/civil_time.h"
#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/schema/validate_schema.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;
using Category = InferredValues::Category;
namespace kind = value_kind;

constexpr uint32_t kNumberKinds =
    kind::kInt64 | kind::kNumeric | kind::kBignumeric | kind::kDecimal;

constexpr std::array<uint32_t, InferredValues::kCategories> kKindsOf = {
    kind::kBool, kNumberKinds, kind::kString, kind::kObject, kind::kArray};

/// Spellings of one name that are remembered beside the first one: data may bring any number.
constexpr size_t kMaxSpellings = 20'000;

constexpr const char* kSchemaInstead = "give a schema instead of inferring one";

ColumnType typeOfNumbers(uint32_t kinds) {
  if ((kinds & kind::kDecimal) != 0) return ColumnType::kDouble;
  if ((kinds & kind::kBignumeric) != 0) return ColumnType::kBignumeric;
  if ((kinds & kind::kNumeric) != 0) return ColumnType::kNumeric;
  return ColumnType::kInt64;
}

ColumnType typeOfStrings(uint8_t forms) {
  if ((forms & string_form::kDate) != 0) return ColumnType::kDate;
  if ((forms & string_form::kTime) != 0) return ColumnType::kTime;
  if ((forms & string_form::kDatetime) != 0) return ColumnType::kDatetime;
  if ((forms & string_form::kTimestamp) != 0) return ColumnType::kTimestamp;
  return ColumnType::kString;
}

/// What a message calls the values of a category.
std::string_view nameOf(Category category, const InferredValues& values) {
  switch (category) {
    case Category::kBools:
      return "BOOL";
    case Category::kNumbers:
      return nameOf(typeOfNumbers(values.kinds));
    case Category::kStrings:
      return "STRING";
    case Category::kObjects:
      return "STRUCT (an object)";
    case Category::kArrays:
      return "REPEATED (an array)";
    case Category::kCategories:
      break;
  }
  return "";
}

/// The type of a schema file that would take values of both categories.
std::string_view wayOut(uint32_t kinds) {
  const bool decimals = (kinds & (kNumberKinds & ~kind::kInt64)) != 0;
  const bool nested = (kinds & (kind::kObject | kind::kArray)) != 0;
  const bool strings = (kinds & kind::kString) != 0;
  if (nested && !strings) return ", with type JSON for this column: it takes all of them";
  if (!nested && !decimals) return ", with type STRING for this column: it takes all of them";
  return "";
}

}  // namespace

uint8_t matchingForms(std::string_view text, uint8_t candidates) {
  constexpr size_t kShortest = 8;  // 12:34:56
  if (text.size() < kShortest || text.front() < '0' || text.front() > '9') return 0;
  int32_t days = 0;
  int64_t value = 0;
  uint8_t forms = 0;
  const bool hasTime = std::memchr(text.data(), ':', text.size()) != nullptr;
  if (!hasTime) {
    // A day alone is a DATETIME as well, midnight, where other values of the field have a time.
    constexpr uint8_t kDays = string_form::kDate | string_form::kDatetime;
    return (candidates & kDays) != 0 && parseDate(text, &days).ok() ? candidates & kDays : 0;
  }
  if ((candidates & string_form::kTime) != 0 && parseTime(text, &value).ok()) {
    forms |= string_form::kTime;
  }
  if ((candidates & string_form::kDatetime) != 0 && parseDatetime(text, &value).ok()) {
    forms |= string_form::kDatetime;
  }
  if ((candidates & string_form::kTimestamp) != 0 && parseTimestamp(text, &value).ok()) {
    forms |= string_form::kTimestamp;
  }
  return forms;
}

uint32_t integerKind(std::string_view digits) {
  constexpr size_t kAlwaysInt64 = 18;
  if (digits.size() <= kAlwaysInt64) return kind::kInt64;
  int64_t value = 0;
  if (truncateToInt64(digits, &value).ok()) return kind::kInt64;
  std::array<char, kDecimalBufferBytes> bytes;
  size_t size = 0;
  if (encodeDecimal(digits, DecimalKind::kNumeric, bytes.data(), &size).ok()) return kind::kNumeric;
  if (encodeDecimal(digits, DecimalKind::kBignumeric, bytes.data(), &size).ok()) {
    return kind::kBignumeric;
  }
  return kind::kDecimal;
}

InferredField* InferredMembers::find(std::string_view key) {
  if (const auto found = bySpelling_.find(key); found != bySpelling_.end()) return found->second;
  const auto found = byLowerCase_.find(lowerCase(key));
  if (found == byLowerCase_.end()) return nullptr;
  if (bySpelling_.size() < kMaxSpellings) bySpelling_.emplace(key, found->second);
  return found->second;
}

InferredField& InferredMembers::add(std::string_view key) {
  InferredField& field = *fields_.emplace_back(std::make_unique<InferredField>(key, this));
  bySpelling_.emplace(key, &field);
  byLowerCase_.emplace(lowerCase(key), &field);
  return field;
}

std::string InferredField::path() const {
  const InferredField* owner = parent_->owner();
  return owner == nullptr ? name_ : owner->path() + "." + name_;
}

absl::Status InferredField::learn(bool element, uint32_t kinds, uint8_t forms,
                                  const std::function<const std::string&()>& place) {
  if (!announced_) PENSTOCK_RETURN_IF_ERROR(announce(place));
  InferredValues& values = element ? elements_ : own_;
  values.kinds |= kinds;
  values.forms &= forms;
  for (size_t category = 0; category < kKindsOf.size(); ++category) {
    if ((kinds & kKindsOf[category]) == 0 || !values.places[category].empty()) continue;
    values.places[category] = place();
  }
  if ((kinds & kind::kNestedArray) != 0) {
    return invalidArgument(
        "field \"{}\": an array stands in an array ({}), and BigQuery has no arrays of arrays; {}, "
        "with "
        "type JSON for this column",
        path(), place(), kSchemaInstead);
  }
  if ((kinds & kind::kTooDeep) != 0) {
    return invalidArgument(
        "field \"{}\": objects stand in each other more than {} levels deep ({}), BigQuery's limit "
        "for "
        "STRUCT; {}, with type JSON for a column above it",
        path(), kMaxSchemaDepth, place(), kSchemaInstead);
  }
  return check(element);
}

absl::Status InferredField::announce(const std::function<const std::string&()>& place) {
  if (const std::string_view reason = whyColumnNameIsRefused(name_); !reason.empty()) {
    const InferredField* owner = parent_->owner();
    return invalidArgument(
        "field \"{}\" ({}) cannot be a column: its name {}; rename it in the data, or {}, {}",
        path(), place(), reason, kSchemaInstead,
        owner == nullptr ? "without this field, and ignore unknown fields"
                         : fmt::format("with type JSON for \"{}\"", owner->path()));
  }
  announced_ = true;
  parent_->announce(*this);
  return absl::OkStatus();
}

absl::Status InferredField::check(bool element) const {
  const InferredValues& values = this->values(element);
  size_t first = InferredValues::kCategories;
  for (size_t category = 0; category < kKindsOf.size(); ++category) {
    if ((values.kinds & kKindsOf[category]) == 0) continue;
    if (first != InferredValues::kCategories) {
      return conflict(element, static_cast<Category>(first), static_cast<Category>(category));
    }
    first = category;
  }
  return absl::OkStatus();
}

absl::Status InferredField::conflict(bool element, Category one, Category other) const {
  const InferredValues& values = this->values(element);
  return invalidArgument(
      "field \"{}\"{} is {} in one place ({}) and {} in another ({}), and a column has one type; "
      "correct "
      "the data, or {}{}",
      path(), element ? ": an element of its array" : "", nameOf(one, values), values.places[one],
      nameOf(other, values), values.places[other], kSchemaInstead, wayOut(values.kinds));
}

absl::Status InferredField::merge(InferredField& later) {
  if (!announced_ && later.announced_) {
    announced_ = true;
    parent_->announce(*this);
  }
  for (const bool element : {false, true}) {
    InferredValues& mine = element ? elements_ : own_;
    const InferredValues& theirs = later.values(element);
    mine.kinds |= theirs.kinds;
    mine.forms &= theirs.forms;
    for (size_t category = 0; category < mine.places.size(); ++category) {
      if (mine.places[category].empty()) mine.places[category] = theirs.places[category];
    }
    PENSTOCK_RETURN_IF_ERROR(check(element));
  }
  return mergeMembers(members_, later.members_);
}

Column InferredField::toColumn() const {
  const bool repeated = (own_.kinds & kind::kArray) != 0;
  const InferredValues& values = this->values(repeated);
  Column column{.name = name_, .mode = repeated ? ColumnMode::kRepeated : ColumnMode::kNullable};
  if ((values.kinds & kind::kObject) != 0) {
    column.fields = toColumns(members_);
    // There is no STRUCT without fields; a JSON column takes {} as it is.
    column.type = column.fields.empty() ? ColumnType::kJson : ColumnType::kStruct;
  } else if ((values.kinds & kNumberKinds) != 0) {
    column.type = typeOfNumbers(values.kinds);
  } else if ((values.kinds & kind::kBool) != 0) {
    column.type = ColumnType::kBool;
  } else if ((values.kinds & kind::kString) != 0) {
    column.type = typeOfStrings(values.forms);
  } else {
    column.type = ColumnType::kString;  // nothing but null and []
  }
  return column;
}

absl::Status mergeMembers(InferredMembers& members, const InferredMembers& later) {
  for (InferredField* field : later.announced()) {
    InferredField* mine = members.find(field->name());
    if (mine == nullptr) mine = &members.add(field->name());
    PENSTOCK_RETURN_IF_ERROR(mine->merge(*field));
  }
  return absl::OkStatus();
}

std::vector<Column> toColumns(const InferredMembers& members) {
  std::vector<Column> columns;
  columns.reserve(members.announced().size());
  for (const InferredField* field : members.announced()) columns.push_back(field->toColumn());
  return columns;
}

}  // namespace penstock::bigquery
