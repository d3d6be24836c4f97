#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/bigquery/serializers/protobuf_json_plan.h"

namespace penstock::bigquery {

/// Writes the bytes of a message as canonical protobuf JSON without whitespace (BQT-018).
class ProtobufJsonWriter {
 public:
  /// Appends the message to `json`. False: `isNotCanonical()`, or `reason()` and `path()` say why.
  /// `isCanonical`: the bytes are protobuf's own serialization.
  [[nodiscard]] bool write(const ProtobufJsonLevel& level, std::string_view content,
                           bool isCanonical, std::string* json);

  /// Fields are out of order or twice: what the message means is for protobuf to say.
  [[nodiscard]] bool isNotCanonical() const { return isNotCanonical_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Innermost first: "a", "b[2]".
  [[nodiscard]] const std::vector<std::string>& path() const { return path_; }

 private:
  using Level = ProtobufJsonLevel;
  using Field = ProtobufJsonField;
  /// What is left of a message.
  struct Input {
    const char* at;
    const char* end;
  };
  /// The field that is being written, and how many of its values have been.
  struct Progress {
    const Field* field = nullptr;
    size_t numValues = 0;
  };
  /// One value of a field as it stands in the input.
  struct Value {
    uint64_t number = 0;    // of a scalar
    std::string_view text;  // of a string, bytes, message or group: its content
  };

  bool writeMessage(const Level& level, std::string_view content);
  bool writeForm(const Level& level, std::string_view content);
  bool writeObject(const Level& level, std::string_view content);
  bool writeTimestamp(const Level& level, std::string_view content);
  bool writeDuration(const Level& level, std::string_view content);
  bool writeFieldMask(const Level& level, std::string_view content);
  bool writeAny(const Level& level, std::string_view content);
  /// The value of the message's one field, or of the one that is set; `ifUnset` without any.
  bool writeMembers(const Level& level, std::string_view content, std::string_view ifUnset);

  bool writeFields(const Level& level, std::string_view content, bool withKeys, bool* isAny);
  bool writeOccurrence(const Field& field, uint32_t tag, Input* in, bool withKeys,
                       Progress* progress, bool* isAny);
  bool writePlain(const Field& field, const Value& value, bool withKeys, Progress* progress,
                  bool* isAny);
  bool writeEntry(const Field& map, std::string_view content);
  bool writeValue(const Field& field, const Value& value);
  bool writeReal(double value, bool isFloat, bool isOfValue);
  bool writeEnum(const Field& field, int32_t number);
  void writeKey(const Field& field, const Value& value);
  bool readValue(const Field& field, uint32_t wireType, Input* in, Value* value);
  bool readSecondsAndNanos(const Level& level, std::string_view content, int64_t* seconds,
                           int32_t* nanos);
  static bool isDefault(const Field& field, const Value& value);
  static bool isDroppedEnum(const Field& field, const Value& value);
  void closeField(const Progress& progress);
  void appendQuoted(std::string_view text);
  void appendFraction(int32_t nanos);
  bool checkKeys(size_t from);

  bool fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  bool failWire(const Level& level) { return fail("malformed bytes of message " + level.typeName); }
  bool notCanonical() {
    isNotCanonical_ = true;
    return false;
  }

  std::string* out_ = nullptr;
  bool isCanonical_ = false;
  bool isNotCanonical_ = false;
  int depth_ = 0;
  std::vector<uint64_t> keys_;  // hashes of the keys of the maps that are being written
  std::string reason_;
  std::vector<std::string> path_;
};

}  // namespace penstock::bigquery
