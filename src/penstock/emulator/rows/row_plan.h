#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

struct MessagePlan;

/// Where a field's value stands on the wire and what kind of number or text it is there.
enum class WireForm : uint8_t {
  kSigned,    ///< int32, int64, sint, sfixed: a signed integer
  kUnsigned,  ///< uint32, uint64, fixed: an unsigned integer
  kBool,
  kFloat,
  kDouble,
  kText,       ///< string
  kBinary,     ///< bytes
  kEnum,       ///< number of an enum value
  kMessage,    ///< STRUCT, or a RANGE with `start` and `end`
  kWrapper,    ///< google.protobuf.Int64Value and its like: a message around one scalar
  kTimestamp,  ///< google.protobuf.Timestamp
  kDuration,   ///< google.protobuf.Duration
};

/// The form of a field of this google::protobuf::FieldDescriptorProto::Type.
[[nodiscard]] WireForm scalarForm(int protoType);

/// The column's name as the writer gives it: flexible names travel in an option.
[[nodiscard]] const std::string& columnNameOf(const google::protobuf::FieldDescriptorProto& field);

/// One field of the writer's message, with the column that it fills.
struct FieldPlan {
  uint32_t number = 0;
  int protoType =
      0;  ///< google::protobuf::FieldDescriptorProto::Type; of a wrapper the type inside it
  WireForm form = WireForm::kSigned;
  bool repeated = false;
  uint32_t column = 0;  ///< position among the message's columns
  const Field* field = nullptr;
  FieldType type = FieldType::kString;   ///< of the value: of a RANGE's ends the element type
  std::string path;                      ///< dotted, of the column
  std::unique_ptr<MessagePlan> message;  ///< of a STRUCT or RANGE
  std::vector<std::pair<int32_t, std::string>> enumValues;  ///< of an enum that fills a STRING
};

/// One message: the row itself, a STRUCT, or a RANGE.
struct MessagePlan {
  struct Column {
    const Field* field = nullptr;
    FieldType type = FieldType::kString;
    bool repeated = false;
  };
  std::vector<Column> columns;    ///< of the table, in its order; a RANGE has `start` and `end`
  std::vector<FieldPlan> fields;  ///< in order of their numbers
  std::vector<uint16_t> dense;    ///< number -> 1 + index in `fields`, for small numbers

  /// Null when the field fills no column.
  [[nodiscard]] const FieldPlan* find(uint32_t number) const;
};

/// The json_name of a field that brings a column's default value to rows that lack the writer's
/// own field for the column: the only case in which two fields fill one column.
inline constexpr const char* kDefaultValueMark = "penstock.default";

/// How rows of one writer's descriptor become rows of one table's schema: fields paired with
/// columns by name (ignoring case; a field's `column_name` option goes before its own name) and a
/// conversion chosen for each pair. Compiled once, then shared; immutable.
class RowPlan {
 public:
  /// kInvalidArgument names the column and both types when a field's type is none that the column
  /// takes. Fields without a column are no error here: see extraFields().
  static absl::StatusOr<std::shared_ptr<const RowPlan>> compile(
      const google::protobuf::DescriptorProto& descriptor, const Schema& schema);
  ~RowPlan();
  RowPlan(const RowPlan&) = delete;
  RowPlan& operator=(const RowPlan&) = delete;

  [[nodiscard]] const Schema& schema() const { return schema_; }
  /// Dotted paths of fields that the table has no column for; their values are left out.
  [[nodiscard]] const std::vector<std::string>& extraFields() const { return extraFields_; }
  /// Dotted paths of REQUIRED columns, at the top or in a STRUCT, that no field was paired with.
  [[nodiscard]] const std::vector<std::string>& missingRequiredColumns() const {
    return missingRequiredColumns_;
  }
  [[nodiscard]] const MessagePlan& root() const { return *root_; }

 private:
  RowPlan() = default;

  Schema schema_;
  std::vector<std::string> extraFields_;
  std::vector<std::string> missingRequiredColumns_;
  std::unique_ptr<MessagePlan> root_;
};

}  // namespace penstock::emulator
