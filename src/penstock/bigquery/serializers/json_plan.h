#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/serializers/json_key.h"

/// What a table schema becomes before the first document: for every object level a table of steps,
/// one per column, with everything that can be known beforehand.
namespace penstock::bigquery {

/// Columns are kept track of in words of so many bits.
inline constexpr size_t kColumnsPerWord = 64;

struct JsonLevel;

/// How a JSON value becomes the value of one column (BQT-054).
enum class JsonConversion : uint8_t {
  kString,  // INTERVAL too
  kInt64,
  kDouble,
  kBool,
  kTimestamp,
  kTimestampText,  // timestamp_precision 12: the row field is a string
  kDate,
  kTime,
  kDatetime,
  kNumeric,
  kBignumeric,
  kBytes,
  kJson,
  kGeography,
  kStruct,
  kRange,
};

/// A column name as a JSON key is compared with it: ASCII letters in any case, in two loads
/// (BQT-053). Names that do not fit, and keys with escapes or other letters, go by way of
/// `JsonLevel::find`.
class KeyPattern {
 public:
  static constexpr size_t kBytes = 16;

  /// Matches nothing.
  KeyPattern() = default;
  explicit KeyPattern(std::string_view lowerCaseName);

  /// Whether the key that begins at `key`, behind its quote, is this name and its closing quote.
  /// Reads `kBytes` bytes.
  [[nodiscard]] bool matches(const char* key) const {
    const uint64_t low = (loadWord(key) | caseLow_) ^ nameLow_;
    const uint64_t high = (loadWord(key + 8) | caseHigh_) ^ nameHigh_;
    return ((low & maskLow_) | (high & maskHigh_)) == 0 && exact_;
  }

 private:
  uint64_t nameLow_ = 0;
  uint64_t nameHigh_ = 0;
  uint64_t caseLow_ = 0;
  uint64_t caseHigh_ = 0;
  uint64_t maskLow_ = 0;
  uint64_t maskHigh_ = 0;
  bool exact_ = false;
};

/// One column of a level.
struct JsonField {
  KeyPattern pattern;
  JsonConversion conversion = JsonConversion::kString;
  bool isRepeated = false;
  bool isRequired = false;
  uint8_t tagSize = 0;
  std::array<char, 8>
      tag{};           ///< the wire tag, as it is written: eight bytes are copied, tagSize count
  uint32_t index = 0;  ///< in its level; the field number less one
  uint32_t id = 0;     ///< in the whole plan, dense from 0
  const JsonLevel* level = nullptr;  ///< of a STRUCT or RANGE
  std::string name;                  ///< as the schema has it
  std::string type;                  ///< for messages: "INT64", "REPEATED STRUCT"
};

/// The columns of a table or of one STRUCT.
struct JsonLevel {
  /// In order of their numbers, and one more that matches no key.
  std::vector<JsonField> fields;
  /// One bit for each column: those that must be there.
  std::vector<uint64_t> required;
  bool hasRequired = false;

  [[nodiscard]] size_t size() const { return fields.size() - 1; }
  /// The column that the text of a key names, if it can be told from its pattern; null: ask `find`.
  /// Reads `KeyPattern::kBytes` bytes.
  [[nodiscard]] const JsonField* findByPattern(std::string_view key) const {
    size_t slot = hashKey(key) & slotMask_;
    for (; slots_[slot] != 0; slot = (slot + 1) & slotMask_) {
      const JsonField& field = fields[slots_[slot] - 1];
      if (field.pattern.matches(key.data())) return &field;
    }
    return nullptr;
  }
  /// The column whose lower-cased name is `lowerCaseKey`; null: none.
  [[nodiscard]] const JsonField* find(std::string_view lowerCaseKey) const;

  void buildIndex(std::vector<std::string> lowerCaseNames);

 private:
  std::vector<std::string> lowerCaseNames_;
  std::vector<uint32_t> slots_;  // by hashKey, open addressing: index + 1, 0 = free
  size_t slotMask_ = 0;
};

/// A compiled schema. Immutable.
class JsonPlan {
 public:
  /// BQT-003 to BQT-006: errors are configuration errors and name the column.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<const JsonPlan>> compile(
      const TableSchema& schema);

  [[nodiscard]] const JsonLevel& root() const { return *root_; }
  /// Fields of all levels.
  [[nodiscard]] size_t fieldCount() const { return fieldCount_; }
  /// The most columns, and words of 64 columns, that levels standing in each other can have
  /// together.
  [[nodiscard]] size_t deepestFields() const { return deepestFields_; }
  [[nodiscard]] size_t deepestWords() const { return deepestWords_; }

 private:
  JsonPlan() = default;
  const JsonLevel* addLevel(const std::vector<Column>& columns, size_t fieldsAbove,
                            size_t wordsAbove);
  JsonField makeField(const Column& column, uint32_t index);

  std::vector<std::unique_ptr<JsonLevel>> levels_;
  const JsonLevel* root_ = nullptr;
  uint32_t fieldCount_ = 0;
  size_t deepestFields_ = 0;
  size_t deepestWords_ = 0;
};

}  // namespace penstock::bigquery
