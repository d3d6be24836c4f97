#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/schema/protobuf_schema_options.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/serializers/protobuf_enum_names.h"
#include "penstock/bigquery/serializers/protobuf_json_plan.h"

/// What a message type and a table's columns become before the first message: for every message
/// level a table of steps, one per field, with everything that can be known beforehand. Descriptors
/// are only looked at here. Internal: it shows protobuf.
namespace penstock::bigquery {

struct ProtobufLevel;

/// How a field's value on the wire becomes the value of its column (BQT-016).
enum class ProtobufConversion : uint8_t {
  kDropped,  ///< no column
  kInt64,    ///< bool too: the same varint
  kInt32,
  kUint32,
  kUint64,
  kSint32,
  kSint64,
  kFixed32,
  kFixed64,
  kSfixed32,
  kSfixed64,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kText,  ///< a string that is read as a value of the column: "12.50" for a NUMERIC
  kEnum,  ///< its name; its number in an INT64 column
  kTimestamp,
  kDuration,
  kFieldMask,
  kWrapper,
  kJson,  ///< a message as protobuf JSON
  kMessage,
};

/// What a level's end finds of a field that was not there.
enum class ProtobufFill : uint8_t {
  kNothing,  ///< NULL
  kDefault,  ///< the bytes of its default
  kMessage,  ///< an empty message: the value of a map entry
  kMissing,  ///< an error: the column is REQUIRED
};

/// What is done at once with a value behind the expected tag.
enum class ProtobufShortcut : uint8_t {
  kNone,
  kPassString,
  kPassBytes,
  kPassVarint,
  kPassDouble,
  kTimestamp,
};

/// One field of a message.
struct ProtobufField {
  uint32_t wireTag = 0;            ///< in the message; 0: the end of the level
  uint32_t shortTag = UINT32_MAX;  ///< wireTag, if that is written as one byte
  uint32_t packedTag = 0;          ///< its elements packed; 0: they cannot be
  uint32_t index = 0;              ///< in its level
  uint32_t nextFill = 0;  ///< index of the first field from here on whose absence means something
  uint32_t column = 0;    ///< index of its column in the row's level
  ProtobufShortcut shortcut = ProtobufShortcut::kNone;
  bool isSpecial = true;  ///< has no column, or belongs to a oneof, or is a closed enum
  ProtobufConversion conversion = ProtobufConversion::kDropped;
  ProtobufFill fill = ProtobufFill::kNothing;
  bool isRepeated = false;
  /// Tag and wire form are those of the row: what the message has can stay as it is.
  bool passes = false;
  /// "" is not written: a text without presence in a column that "" is no value of (BQT-019).
  bool omitsEmpty = false;
  bool isRequired = false;      ///< the column is REQUIRED
  bool isClosedEnum = false;    ///< a number without a name counts as an unknown field
  bool isRangeChecked = false;  ///< an integer of a DATE or TIMESTAMP column
  uint8_t tagSize = 0;
  std::array<char, 8> tag{};  ///< of the row, as it is written: eight bytes are copied
  uint64_t oneofBit = 0;      ///< one of 64 that the members of a oneof share; 0: no member
  ColumnType columnType = ColumnType::kUnset;
  uint32_t secondsTag = 0;  ///< of a Timestamp or Duration
  uint32_t nanosTag = 0;
  uint32_t innerTag = 0;                         ///< of a FieldMask's paths
  const ProtobufLevel* level = nullptr;          ///< of a message, the one field of a wrapper
  const ProtobufEnumNames* enumNames = nullptr;  ///< of an enum
  const ProtobufJsonLevel* json = nullptr;       ///< of a message as JSON
  std::string defaultBytes;                      ///< tag and default
  std::string name;                              ///< as the .proto file has it
  std::string type;                              ///< for messages: "INT64", "REPEATED STRUCT"
};

/// The fields of a message.
struct ProtobufLevel {
  /// By number, and one more that is no field.
  std::vector<ProtobufField> fields;
  /// By column, without those that no field has: only of a shuffled level.
  std::vector<const ProtobufField*> byColumn;
  /// Numbers and columns do not rise together: what is written has to be put in order.
  bool isShuffled = false;
  bool isMapEntry = false;
  /// A map entry with an enum value that may count as unknown: the whole entry does then.
  bool mayDropEntry = false;
  std::string typeName;

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(fields.size() - 1); }
  /// The field with that number; the last of `fields`: there is none.
  [[nodiscard]] const ProtobufField* find(uint32_t number) const {
    return number < byNumber_.size() ? &fields[byNumber_[number]] : findFar(number);
  }
  void buildIndex();

 private:
  [[nodiscard]] const ProtobufField* findFar(uint32_t number) const;

  std::vector<uint32_t> byNumber_;  // of small numbers
};

/// A compiled mapping. Immutable; keeps nothing of the descriptors.
class ProtobufPlan {
 public:
  /// Pairs the fields of `type` with `schema`'s columns by name, in lower case, on every level. An
  /// error lists all that does not fit: it is a configuration error.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<const ProtobufPlan>> compile(
      const google::protobuf::Descriptor& type, const TableSchema& schema,
      const ProtoSchemaOptions& options);

  [[nodiscard]] const ProtobufLevel& root() const { return *root_; }
  /// How many messages can stand in each other, and the most fields of shuffled levels that do.
  [[nodiscard]] size_t deepest() const { return deepest_; }
  [[nodiscard]] size_t deepestShuffled() const { return deepestShuffled_; }

 private:
  friend class ProtobufPlanCompiler;
  ProtobufPlan() = default;

  std::vector<std::unique_ptr<ProtobufLevel>> levels_;
  std::unique_ptr<ProtobufEnumTable> enums_;
  std::unique_ptr<ProtobufJsonPlan> json_;
  const ProtobufLevel* root_ = nullptr;
  size_t deepest_ = 1;
  size_t deepestShuffled_ = 0;
};

}  // namespace penstock::bigquery
