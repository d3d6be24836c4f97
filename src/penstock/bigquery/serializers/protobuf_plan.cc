#include "penstock/bigquery/serializers/protobuf_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/column_name.h"
#include "penstock/bigquery/schema/protobuf_schema.h"
#include "penstock/bigquery/schema/protobuf_well_known.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/schema/validate_schema.h"
#include "penstock/bigquery/serializers/protobuf_kind.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

namespace {

constexpr size_t kSmallFieldNumbers = 512;

uint32_t lengthTag(uint32_t number) { return makeTag(number, WireType::kLengthDelimited); }

/// "int64", "repeated shop.Item", "map<string, int64>".
std::string describe(const FieldDescriptor& field) {
  const auto valueType = [](const FieldDescriptor& value) {
    if (value.message_type() != nullptr) return value.message_type()->full_name();
    if (value.enum_type() != nullptr) return value.enum_type()->full_name();
    return std::string(value.type_name());
  };
  if (field.is_map()) {
    return fmt::format("map<{}, {}>", valueType(*field.message_type()->map_key()),
                       valueType(*field.message_type()->map_value()));
  }
  return (field.is_repeated() ? "repeated " : "") + valueType(field);
}

std::string describe(const Column& column) {
  return (column.mode == ColumnMode::kRepeated ? "REPEATED " : "") + describeType(column);
}

bool isInteger(ProtobufKind kind) { return kind <= ProtobufKind::kSfixed64; }

ProtobufConversion integerConversion(ProtobufKind kind) {
  switch (kind) {
    case ProtobufKind::kInt32:
      return ProtobufConversion::kInt32;
    case ProtobufKind::kUint32:
      return ProtobufConversion::kUint32;
    case ProtobufKind::kUint64:
      return ProtobufConversion::kUint64;
    case ProtobufKind::kSint32:
      return ProtobufConversion::kSint32;
    case ProtobufKind::kSint64:
      return ProtobufConversion::kSint64;
    case ProtobufKind::kFixed32:
      return ProtobufConversion::kFixed32;
    case ProtobufKind::kFixed64:
      return ProtobufConversion::kFixed64;
    case ProtobufKind::kSfixed32:
      return ProtobufConversion::kSfixed32;
    case ProtobufKind::kSfixed64:
      return ProtobufConversion::kSfixed64;
    default:
      return ProtobufConversion::kInt64;
  }
}

/// How text becomes a value of the column; none: it cannot.
std::optional<ProtobufConversion> textConversion(const Column& column) {
  switch (column.type) {
    case ColumnType::kString:
    case ColumnType::kJson:
    case ColumnType::kGeography:
    case ColumnType::kInterval:
      return ProtobufConversion::kString;
    case ColumnType::kNumeric:
    case ColumnType::kBignumeric:
    case ColumnType::kDate:
    case ColumnType::kTime:
    case ColumnType::kDatetime:
      return ProtobufConversion::kText;
    case ColumnType::kTimestamp:
      if (column.timestampPrecision == kPicosecondPrecision) return std::nullopt;
      return ProtobufConversion::kText;
    default:
      return std::nullopt;
  }
}

/// How a value that is no message becomes a value of the column; none: it cannot.
std::optional<ProtobufConversion> scalarConversion(ProtobufKind kind, const Column& column) {
  if (isInteger(kind)) {
    const bool isMicros =
        column.type == ColumnType::kTimestamp && column.timestampPrecision != kPicosecondPrecision;
    if (column.type == ColumnType::kInt64 || column.type == ColumnType::kDate || isMicros) {
      return integerConversion(kind);
    }
    return std::nullopt;
  }
  const auto ifColumn = [&](ColumnType type, ProtobufConversion conversion) {
    return column.type == type ? std::optional(conversion) : std::nullopt;
  };
  switch (kind) {
    case ProtobufKind::kBool:
      return ifColumn(ColumnType::kBool, ProtobufConversion::kInt64);
    case ProtobufKind::kFloat:
      return ifColumn(ColumnType::kDouble, ProtobufConversion::kFloat);
    case ProtobufKind::kDouble:
      return ifColumn(ColumnType::kDouble, ProtobufConversion::kDouble);
    case ProtobufKind::kBytes:
      return ifColumn(ColumnType::kBytes, ProtobufConversion::kBytes);
    case ProtobufKind::kEnum:
    case ProtobufKind::kNull:
      if (column.type == ColumnType::kInt64) return ProtobufConversion::kEnum;
      return ifColumn(ColumnType::kString, ProtobufConversion::kEnum);
    case ProtobufKind::kString:
      return textConversion(column);
    default:
      return std::nullopt;
  }
}

/// The wire type of the row field (BQT-004).
WireType rowWireType(const Column& column) {
  switch (column.type) {
    case ColumnType::kInt64:
    case ColumnType::kBool:
    case ColumnType::kDate:
    case ColumnType::kTime:
    case ColumnType::kDatetime:
      return WireType::kVarint;
    case ColumnType::kTimestamp:
      return column.timestampPrecision == kPicosecondPrecision ? WireType::kLengthDelimited
                                                               : WireType::kVarint;
    case ColumnType::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kLengthDelimited;
  }
}

/// Whether a value of the conversion can stay as it is under the right tag.
bool keepsWireForm(ProtobufConversion conversion) {
  switch (conversion) {
    case ProtobufConversion::kInt64:
    case ProtobufConversion::kInt32:
    case ProtobufConversion::kUint32:
    case ProtobufConversion::kUint64:
    case ProtobufConversion::kDouble:
    case ProtobufConversion::kBytes:
    case ProtobufConversion::kString:
    case ProtobufConversion::kMessage:
      return true;
    default:
      return false;
  }
}

ProtobufShortcut shortcutOf(const ProtobufField& field) {
  if (field.isSpecial) return ProtobufShortcut::kNone;
  switch (field.conversion) {
    case ProtobufConversion::kString:
      return field.passes ? ProtobufShortcut::kPassString : ProtobufShortcut::kNone;
    case ProtobufConversion::kBytes:
      return field.passes ? ProtobufShortcut::kPassBytes : ProtobufShortcut::kNone;
    case ProtobufConversion::kInt64:
      return field.passes ? ProtobufShortcut::kPassVarint : ProtobufShortcut::kNone;
    case ProtobufConversion::kDouble:
      return field.passes ? ProtobufShortcut::kPassDouble : ProtobufShortcut::kNone;
    case ProtobufConversion::kTimestamp:
      return ProtobufShortcut::kTimestamp;
    default:
      return ProtobufShortcut::kNone;
  }
}

}  // namespace

void ProtobufLevel::buildIndex() {
  std::sort(fields.begin(), fields.end(),
            [](const auto& one, const auto& other) { return one.wireTag < other.wireTag; });
  const auto numFields = static_cast<uint32_t>(fields.size());
  fields.emplace_back();
  fields.back().index = numFields;
  fields.back().nextFill = numFields;
  uint32_t reached = 0;
  for (uint32_t index = 0; index < numFields; ++index) {
    ProtobufField& field = fields[index];
    field.index = index;
    if (field.wireTag < 0x80) field.shortTag = field.wireTag;
    const uint32_t number = fieldNumberOf(field.wireTag);
    if (number < kSmallFieldNumbers) {
      byNumber_.resize(number + 1, numFields);
      byNumber_[number] = index;
    }
    const bool isDropped = field.conversion == ProtobufConversion::kDropped;
    field.isSpecial = isDropped || field.oneofBit != 0 || field.isClosedEnum;
    field.shortcut = shortcutOf(field);
    if (isDropped) continue;
    isShuffled = isShuffled || field.column < reached;
    reached = field.column;
  }
  for (uint32_t index = numFields; index-- > 0;) {
    const bool isFilled = fields[index].fill != ProtobufFill::kNothing;
    fields[index].nextFill = isFilled ? index : fields[index + 1].nextFill;
  }
  if (!isShuffled) return;
  for (const ProtobufField& field : fields) {
    if (field.conversion != ProtobufConversion::kDropped) byColumn.push_back(&field);
  }
  std::sort(byColumn.begin(), byColumn.end(),
            [](const auto* one, const auto* other) { return one->column < other->column; });
}

const ProtobufField* ProtobufLevel::findFar(uint32_t number) const {
  const auto at = std::lower_bound(fields.begin(), fields.end() - 1, number,
                                   [](const ProtobufField& field, uint32_t wanted) {
                                     return fieldNumberOf(field.wireTag) < wanted;
                                   });
  return fieldNumberOf(at->wireTag) == number ? &*at : &fields.back();
}

/// Builds a plan and gathers what does not fit.
class ProtobufPlanCompiler {
 public:
  explicit ProtobufPlanCompiler(const ProtoSchemaOptions& options)
      : options_(options), plan_(new ProtobufPlan()) {
    plan_->enums_ = std::make_unique<ProtobufEnumTable>();
    plan_->json_ = std::make_unique<ProtobufJsonPlan>(plan_->enums_.get());
  }

  absl::StatusOr<std::unique_ptr<const ProtobufPlan>> compile(const Descriptor& type,
                                                              const TableSchema& schema) {
    plan_->root_ = addLevel(type, schema.columns, "", 1, 0);
    if (!mismatches_.empty()) {
      return base::invalidArgument("message {} does not fit the table's columns: {}",
                                   type.full_name(), fmt::join(mismatches_, "; "));
    }
    return std::unique_ptr<const ProtobufPlan>(std::move(plan_));
  }

 private:
  const ProtobufLevel* addLevel(const Descriptor& type, const std::vector<Column>& columns,
                                const std::string& path, size_t depth, size_t shuffledAbove) {
    plan_->deepest_ = std::max(plan_->deepest_, depth);
    auto level = std::make_unique<ProtobufLevel>();
    level->typeName = type.full_name();
    level->isMapEntry = isMapEntry(type);
    std::unordered_map<std::string, uint32_t> byName;
    for (uint32_t index = 0; index < columns.size(); ++index) {
      byName.emplace(lowerCase(columns[index].name), index);
    }
    std::vector<bool> isMet(columns.size());
    const size_t fieldsAbove = shuffledAbove + columns.size();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string fieldPath = path.empty() ? field.name() : path + "." + field.name();
      const auto found = byName.find(lowerCase(field.name()));
      if (found == byName.end()) {
        level->fields.push_back(makeDropped(field, fieldPath));
        continue;
      }
      isMet[found->second] = true;
      level->fields.push_back(
          makeField(field, columns[found->second], found->second, fieldPath, depth, fieldsAbove));
      if (level->isMapEntry && level->fields.back().isClosedEnum) level->mayDropEntry = true;
    }
    for (size_t index = 0; index < columns.size(); ++index) {
      if (isMet[index] || columns[index].mode != ColumnMode::kRequired) continue;
      mismatches_.push_back(fmt::format("column {}{} is REQUIRED and the message has no such field",
                                        path.empty() ? "" : path + ".", columns[index].name));
    }
    level->buildIndex();
    if (level->isShuffled) {
      plan_->deepestShuffled_ = std::max(plan_->deepestShuffled_, fieldsAbove);
    }
    plan_->levels_.push_back(std::move(level));
    return plan_->levels_.back().get();
  }

  ProtobufField makeDropped(const FieldDescriptor& field, const std::string& path) {
    if (!options_.ignoreFieldsWithoutColumn) {
      mismatches_.push_back(
          fmt::format("field {} ({}) has no column (ignoreFieldsWithoutColumn would drop it)", path,
                      describe(field)));
    }
    ProtobufField result;
    setWire(field, &result);
    return result;
  }

  static void setWire(const FieldDescriptor& field, ProtobufField* result) {
    const ProtobufKind kind = kindOf(field);
    const auto number = static_cast<uint32_t>(field.number());
    result->wireTag = number << 3 | wireTypeOf(kind);
    result->isRepeated = field.is_repeated();
    if (result->isRepeated && canBePacked(kind)) result->packedTag = lengthTag(number);
    result->name = field.name();
    if (const auto* oneof = field.real_containing_oneof(); oneof != nullptr) {
      result->oneofBit = uint64_t{1} << (oneof->index() % 64);
    }
  }

  ProtobufField makeField(const FieldDescriptor& field, const Column& column, uint32_t index,
                          const std::string& path, size_t depth, size_t shuffledAbove) {
    ProtobufField result;
    setWire(field, &result);
    result.column = index;
    result.columnType = column.type;
    result.type = describe(column);
    result.isRequired = column.mode == ColumnMode::kRequired;
    const uint32_t rowTag = makeTag(index + 1, rowWireType(column));
    result.tagSize = static_cast<uint8_t>(writeTag(result.tag.data(), rowTag) - result.tag.data());
    const bool fits = field.is_repeated() == (column.mode == ColumnMode::kRepeated) &&
                      (field.message_type() != nullptr
                           ? setMessage(field, column, path, depth, shuffledAbove, &result)
                           : setScalar(field, column, &result));
    if (!fits) {
      mismatches_.push_back(fmt::format("field {} ({}) cannot become column {} ({})", path,
                                        describe(field), column.name, result.type));
      result.conversion = ProtobufConversion::kDropped;
      return result;
    }
    result.passes = keepsWireForm(result.conversion) && rowTag == result.wireTag &&
                    !result.isRangeChecked && !result.omitsEmpty;
    setFill(field, &result);
    return result;
  }

  bool setScalar(const FieldDescriptor& field, const Column& column, ProtobufField* result) {
    const ProtobufKind kind = kindOf(field);
    const std::optional<ProtobufConversion> conversion = scalarConversion(kind, column);
    if (!conversion.has_value()) return false;
    result->conversion = *conversion;
    result->isRangeChecked = isInteger(kind) && column.type != ColumnType::kInt64;
    result->omitsEmpty = kind == ProtobufKind::kString && column.type != ColumnType::kString &&
                         !field.is_repeated() && !field.has_presence();
    if (*conversion == ProtobufConversion::kEnum) {
      result->enumNames = plan_->enums_->of(*field.enum_type());
    }
    result->isClosedEnum =
        field.enum_type() != nullptr && field.file()->syntax() != FileDescriptor::SYNTAX_PROTO3;
    return true;
  }

  bool setMessage(const FieldDescriptor& field, const Column& column, const std::string& path,
                  size_t depth, size_t shuffledAbove, ProtobufField* result) {
    const Descriptor& type = *field.message_type();
    if (column.type == ColumnType::kJson) {
      if (field.is_map()) return false;
      result->conversion = ProtobufConversion::kJson;
      result->json = plan_->json_->of(type);
      return true;
    }
    if (column.type == ColumnType::kStruct) {
      result->conversion = ProtobufConversion::kMessage;
      result->level = addLevel(type, column.fields, path, depth + 1, shuffledAbove);
      return true;
    }
    switch (wellKnownType(type)) {
      case ProtobufWellKnown::kTimestamp:
        result->conversion = ProtobufConversion::kTimestamp;
        setSecondsAndNanos(type, result);
        return column.type == ColumnType::kTimestamp &&
               column.timestampPrecision != kPicosecondPrecision;
      case ProtobufWellKnown::kDuration:
        result->conversion = ProtobufConversion::kDuration;
        setSecondsAndNanos(type, result);
        return column.type == ColumnType::kInt64;
      case ProtobufWellKnown::kFieldMask:
        result->conversion = ProtobufConversion::kFieldMask;
        result->innerTag =
            lengthTag(static_cast<uint32_t>(type.FindFieldByName("paths")->number()));
        return column.type == ColumnType::kString;
      case ProtobufWellKnown::kWrapper:
        return setWrapper(*type.FindFieldByName("value"), column, result);
      default:
        return false;
    }
  }

  static void setSecondsAndNanos(const Descriptor& type, ProtobufField* result) {
    const auto tagOf = [&](const char* name) {
      return makeTag(static_cast<uint32_t>(type.FindFieldByName(name)->number()),
                     WireType::kVarint);
    };
    result->secondsTag = tagOf("seconds");
    result->nanosTag = tagOf("nanos");
  }

  /// A level of one field, which writes the wrapped value as the column's.
  bool setWrapper(const FieldDescriptor& value, const Column& column, ProtobufField* result) {
    ProtobufField inner;
    setWire(value, &inner);
    inner.oneofBit = 0;
    inner.column = result->column;
    inner.columnType = result->columnType;
    inner.type = result->type;
    inner.tag = result->tag;
    inner.tagSize = result->tagSize;
    if (!setScalar(value, column, &inner)) return false;
    inner.omitsEmpty = false;  // a wrapper of "" is a value: only the field around it has presence
    inner.defaultBytes = defaultBytesOf(value, inner);
    auto level = std::make_unique<ProtobufLevel>();
    level->typeName = value.containing_type()->full_name();
    level->fields.push_back(std::move(inner));
    level->buildIndex();
    result->conversion = ProtobufConversion::kWrapper;
    result->level = level.get();
    plan_->levels_.push_back(std::move(level));
    return true;
  }

  static void setFill(const FieldDescriptor& field, ProtobufField* result) {
    const bool isFilled = isAlwaysWritten(field) && !result->omitsEmpty;
    if (isFilled && field.message_type() != nullptr) {
      result->fill = ProtobufFill::kMessage;
    } else if (isFilled) {
      result->fill = ProtobufFill::kDefault;
      result->defaultBytes = defaultBytesOf(field, *result);
    } else if (result->isRequired) {
      result->fill = ProtobufFill::kMissing;
    }
  }

  /// Tag and value of a field that is no message and is there with its default.
  static std::string defaultBytesOf(const FieldDescriptor& field, const ProtobufField& compiled) {
    char value[kMaxVarintBytes] = {};
    char* end = value + 1;  // zero, or a length of zero
    std::string_view text;
    if (field.enum_type() != nullptr) {
      const google::protobuf::EnumValueDescriptor& first = *field.default_value_enum();
      const bool isName = compiled.columnType == ColumnType::kString;
      if (isName) text = first.name();
      end = isName ? writeVarint(value, text.size()) : writeSignedVarint(value, first.number());
    } else if (compiled.columnType == ColumnType::kDouble) {
      end = value + sizeof(double);
    }
    std::string bytes(compiled.tag.data(), compiled.tagSize);
    bytes.append(value, end);
    bytes += text;
    return bytes;
  }

  const ProtoSchemaOptions& options_;
  std::unique_ptr<ProtobufPlan> plan_;
  std::vector<std::string> mismatches_;
};

absl::StatusOr<std::unique_ptr<const ProtobufPlan>> ProtobufPlan::compile(
    const Descriptor& type, const TableSchema& schema, const ProtoSchemaOptions& options) {
  PENSTOCK_RETURN_IF_ERROR(validateSchema(schema));
  return ProtobufPlanCompiler(options).compile(type, schema);
}

}  // namespace penstock::bigquery
