#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/penstock/destination_template.h"
#include "penstock/formats/json/json_batch.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::command {

/// Reads a few fields of JSON records, without looking at more of a record than is needed. One
/// thread at a time; keeps its memory.
class RecordFields {
 public:
  explicit RecordFields(std::span<const DestinationTemplate::FieldPath> fields);
  ~RecordFields();

  /// Announces records, as JsonDocumentSerializer::beginBatch does.
  void beginBatch(std::span<const std::string_view> records) { batch_.reset(records); }

  /// The values of one record as text: a string's characters, a number as it is written, `true`,
  /// `false`. Valid until the next call. Where a field has no such value, empty with `why` saying
  /// so.
  [[nodiscard]] std::span<const std::string> read(size_t record, std::string& why);

 private:
  /// The names looked for in one object.
  struct Level;

  [[nodiscard]] bool walkObject(formats::JsonCursor& cursor, const Level& level, size_t depth);
  [[nodiscard]] bool takeValue(formats::JsonCursor& cursor, size_t field);
  [[nodiscard]] bool fail(std::string why);

  std::vector<std::string> names_;  // of the fields, for messages
  std::unique_ptr<Level> root_;
  formats::JsonBatch batch_;
  formats::ValueChecker checker_;
  formats::JsonFault fault_;
  const char* recordEnd_ = nullptr;
  std::string key_;  // reused for keys with escapes
  std::vector<std::string> values_;
  std::vector<bool> found_;
  size_t missing_ = 0;
  std::string why_;
};

}  // namespace penstock::command
