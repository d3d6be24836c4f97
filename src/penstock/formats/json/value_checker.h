#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/formats/json/json_cursor.h"

namespace penstock::formats {

/// The keys of one or more open objects, to find one that stands there twice (BQT-050). Keys that
/// differ only in how they are escaped are equal. Keeps its memory.
class KeyLog {
 public:
  /// Where an object's own keys begin: remember it at the object's start.
  [[nodiscard]] size_t mark() const { return keys_.size(); }

  /// Adds the key whose inside of the quotes is `raw`, which stays readable until `rewind`. False:
  /// a bad escape.
  [[nodiscard]] bool add(std::string_view raw, JsonFault* fault);

  /// Whether two keys added since `mark` are equal; `*key` is then one of them. May reorder them.
  [[nodiscard]] bool findDuplicate(size_t mark, std::string_view* key);

  /// Forgets the keys added since `mark`.
  void rewind(size_t mark);

 private:
  std::vector<std::string_view> keys_;
  std::deque<std::string> unescaped_;  // a deque, since keys_ points into its strings
};

/// Walks a value that nobody needs and checks it like any other: a JSON column's text, or the value
/// of an unknown field. Without recursion. Keeps its memory; one thread at a time.
class ValueChecker {
 public:
  /// Takes the value at `cursor` and leaves it behind it. `depth` is the number of containers
  /// around the value. On false `fault` says what is wrong.
  [[nodiscard]] bool check(JsonCursor* cursor, size_t depth, JsonFault* fault);

  /// How many containers stood in each other in the value that was checked last; 0 for a scalar.
  [[nodiscard]] size_t levels() const { return levels_; }

 private:
  struct Container {
    bool isObject;
    size_t firstKey;
  };

  [[nodiscard]] bool openContainer(JsonCursor* cursor, size_t depth, JsonFault* fault);
  [[nodiscard]] bool takeKey(JsonCursor* cursor, JsonFault* fault);
  [[nodiscard]] bool closeContainer(JsonCursor* cursor, JsonFault* fault);
  [[nodiscard]] bool finishValue(JsonCursor* cursor, bool* valueFollows, JsonFault* fault);

  std::vector<Container> open_;
  size_t levels_ = 0;
  KeyLog keys_;
};

/// Takes the string, number or literal at `cursor`.
[[nodiscard]] bool checkScalar(JsonCursor* cursor, JsonFault* fault);

}  // namespace penstock::formats
