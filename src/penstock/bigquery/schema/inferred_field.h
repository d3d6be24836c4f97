#pragma once

#include <absl/status/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/bigquery/schema/table_schema.h"

/// What schema inference remembers of the fields of JSON documents.
namespace penstock::bigquery {

/// The kinds of values of a field, as a set.
namespace value_kind {
inline constexpr uint32_t kNull = 1U << 0;
inline constexpr uint32_t kBool = 1U << 1;
inline constexpr uint32_t kInt64 = 1U << 2;
inline constexpr uint32_t kNumeric = 1U << 3;     ///< an integer beyond int64, of at most 29 digits
inline constexpr uint32_t kBignumeric = 1U << 4;  ///< an integer that only BIGNUMERIC holds
inline constexpr uint32_t kDecimal = 1U << 5;     ///< any other number
inline constexpr uint32_t kString = 1U << 6;
inline constexpr uint32_t kObject = 1U << 7;
inline constexpr uint32_t kArray = 1U << 8;
inline constexpr uint32_t kNestedArray = 1U << 9;  ///< an array as an element of an array
inline constexpr uint32_t kTooDeep = 1U << 10;     ///< an object below the deepest level of STRUCTs
}  // namespace value_kind

/// The types whose grammar all strings of a field follow, as a set.
namespace string_form {
inline constexpr uint8_t kDate = 1U << 0;
inline constexpr uint8_t kTime = 1U << 1;
inline constexpr uint8_t kDatetime = 1U << 2;
inline constexpr uint8_t kTimestamp = 1U << 3;
inline constexpr uint8_t kAll = kDate | kTime | kDatetime | kTimestamp;
}  // namespace string_form

/// Those of `candidates` whose grammar `text` follows.
[[nodiscard]] uint8_t matchingForms(std::string_view text, uint8_t candidates);

/// The kind of an integer token of JSON.
[[nodiscard]] uint32_t integerKind(std::string_view digits);

/// The values of a field, or the elements of its arrays, taken together.
struct InferredValues {
  /// Kinds that no column holds side by side.
  enum Category : size_t { kBools, kNumbers, kStrings, kObjects, kArrays, kCategories };

  uint32_t kinds = 0;                 ///< 0: none seen
  uint8_t forms = string_form::kAll;  ///< of the strings
  /// Where each category was seen first; empty = not seen.
  std::array<std::string, kCategories> places;
};

class InferredField;

/// The members of an object, by their names.
class InferredMembers {
 public:
  explicit InferredMembers(InferredField* owner) : owner_(owner) {}

  /// The field that `key` means, whatever its case; null: there is none yet.
  [[nodiscard]] InferredField* find(std::string_view key);
  /// A new field, unknown to the schema until it is `announced`.
  InferredField& add(std::string_view key);
  void announce(InferredField& field) { announced_.push_back(&field); }

  /// The fields of the schema, in its order.
  [[nodiscard]] const std::vector<InferredField*>& announced() const { return announced_; }
  /// The object that has these members; null: the document.
  [[nodiscard]] InferredField* owner() const { return owner_; }

  /// The field that a document began with the last time.
  InferredField* first = nullptr;

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Index = std::unordered_map<std::string, InferredField*, Hash, std::equal_to<>>;

  InferredField* owner_;
  std::vector<std::unique_ptr<InferredField>> fields_;
  std::vector<InferredField*> announced_;
  Index bySpelling_;
  Index byLowerCase_;
};

/// One field, on any level.
class InferredField {
 public:
  InferredField(std::string_view name, InferredMembers* parent) : name_(name), parent_(parent) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// "a.b.c": its name for people.
  [[nodiscard]] std::string path() const;
  /// Whether `rawKey`, a key as it stands between its quotes, is this field's name for sure.
  [[nodiscard]] bool matches(std::string_view rawKey) const {
    return rawKey == name_ && !hasBackslash_;
  }

  [[nodiscard]] const InferredValues& values(bool element) const {
    return element ? elements_ : own_;
  }
  [[nodiscard]] InferredMembers& members() { return members_; }

  /// Whether a value of these kinds and forms would leave everything as it is.
  [[nodiscard]] bool knows(bool element, uint32_t kinds, uint8_t forms) const {
    const InferredValues& known = values(element);
    return (known.kinds & kinds) == kinds && (known.forms & forms) == known.forms;
  }
  /// Adds a value. `place` is asked for when it is the first of its category.
  absl::Status learn(bool element, uint32_t kinds, uint8_t forms,
                     const std::function<const std::string&()>& place);
  /// Adds what `later` has learnt, with all below it.
  absl::Status merge(InferredField& later);

  [[nodiscard]] Column toColumn() const;

  InferredField* follower = nullptr;  ///< the field that came after this one the last time
  uint64_t seenIn = 0;                ///< number of the last object that has it

 private:
  absl::Status announce(const std::function<const std::string&()>& place);
  [[nodiscard]] absl::Status check(bool element) const;
  [[nodiscard]] absl::Status conflict(bool element, InferredValues::Category one,
                                      InferredValues::Category other) const;

  const std::string name_;
  InferredMembers* const parent_;
  const bool hasBackslash_ = name_.find('\\') != std::string::npos;
  bool announced_ = false;
  InferredValues own_;
  InferredValues elements_;
  InferredMembers members_{this};
};

/// Merges `later` into `members`, field by field.
absl::Status mergeMembers(InferredMembers& members, const InferredMembers& later);

/// The columns of the announced fields.
[[nodiscard]] std::vector<Column> toColumns(const InferredMembers& members);

}  // namespace penstock::bigquery
