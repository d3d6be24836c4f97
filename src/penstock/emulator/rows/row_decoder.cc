#include "penstock/emulator/rows/row_decoder.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

#include <bit>
#include <cmath>

#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/utf8.h"
#include "penstock/emulator/rows/wire_reader.h"

namespace penstock::emulator {
namespace {

using google::protobuf::FieldDescriptorProto;

/// A value as it came off the wire, before the column's type has its say.
struct WireValue {
  int64_t integer = 0;         ///< kSigned, kBool, kEnum
  uint64_t unsignedValue = 0;  ///< kUnsigned
  double real = 0;
  std::string_view bytes;
};

int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

uint32_t wireTypeOf(int protoType) {
  switch (protoType) {
    case FieldDescriptorProto::TYPE_DOUBLE:
    case FieldDescriptorProto::TYPE_FIXED64:
    case FieldDescriptorProto::TYPE_SFIXED64:
      return WireReader::kFixed64;
    case FieldDescriptorProto::TYPE_FLOAT:
    case FieldDescriptorProto::TYPE_FIXED32:
    case FieldDescriptorProto::TYPE_SFIXED32:
      return WireReader::kFixed32;
    case FieldDescriptorProto::TYPE_STRING:
    case FieldDescriptorProto::TYPE_BYTES:
    case FieldDescriptorProto::TYPE_MESSAGE:
      return WireReader::kLength;
    case FieldDescriptorProto::TYPE_GROUP:
      return WireReader::kStartGroup;
    default:
      return WireReader::kVarint;
  }
}

void fromVarint(int protoType, uint64_t raw, WireValue& value) {
  switch (protoType) {
    case FieldDescriptorProto::TYPE_INT32:
    case FieldDescriptorProto::TYPE_ENUM:
      value.integer = static_cast<int32_t>(raw);
      break;
    case FieldDescriptorProto::TYPE_SINT32:
      value.integer = unzigzag(static_cast<uint32_t>(raw));
      break;
    case FieldDescriptorProto::TYPE_SINT64:
      value.integer = unzigzag(raw);
      break;
    case FieldDescriptorProto::TYPE_UINT32:
      value.unsignedValue = static_cast<uint32_t>(raw);
      break;
    case FieldDescriptorProto::TYPE_UINT64:
      value.unsignedValue = raw;
      break;
    case FieldDescriptorProto::TYPE_BOOL:
      value.integer = raw != 0 ? 1 : 0;
      break;
    default:
      value.integer = static_cast<int64_t>(raw);
      break;
  }
}

bool readScalar(WireReader& reader, int protoType, WireValue& value) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  switch (protoType) {
    case FieldDescriptorProto::TYPE_DOUBLE:
      if (!reader.readFixed64(wide)) return false;
      value.real = std::bit_cast<double>(wide);
      return true;
    case FieldDescriptorProto::TYPE_FLOAT:
      if (!reader.readFixed32(narrow)) return false;
      value.real = static_cast<double>(std::bit_cast<float>(narrow));
      return true;
    case FieldDescriptorProto::TYPE_FIXED64:
      return reader.readFixed64(value.unsignedValue);
    case FieldDescriptorProto::TYPE_SFIXED64:
      if (!reader.readFixed64(wide)) return false;
      value.integer = static_cast<int64_t>(wide);
      return true;
    case FieldDescriptorProto::TYPE_FIXED32:
      if (!reader.readFixed32(narrow)) return false;
      value.unsignedValue = narrow;
      return true;
    case FieldDescriptorProto::TYPE_SFIXED32:
      if (!reader.readFixed32(narrow)) return false;
      value.integer = static_cast<int32_t>(narrow);
      return true;
    case FieldDescriptorProto::TYPE_STRING:
    case FieldDescriptorProto::TYPE_BYTES:
    case FieldDescriptorProto::TYPE_MESSAGE:
      return reader.readBytes(value.bytes);
    default:
      if (!reader.readVarint(wide)) return false;
      fromVarint(protoType, wide, value);
      return true;
  }
}

/// The scalar inside a wrapper message: its field 1, or the type's default when that is absent.
bool readWrapper(std::string_view message, int protoType, WireValue& value) {
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return false;
    const bool isValue = number == 1 && wireType == wireTypeOf(protoType);
    if (isValue ? !readScalar(reader, protoType, value) : !reader.skip(number, wireType))
      return false;
  }
  return true;
}

struct SecondsAndNanos {
  int64_t seconds = 0;
  int64_t nanos = 0;
};

bool readSecondsAndNanos(std::string_view message, SecondsAndNanos& value) {
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    uint64_t raw = 0;
    if (!reader.readTag(number, wireType)) return false;
    if ((number != 1 && number != 2) || wireType != WireReader::kVarint) {
      if (!reader.skip(number, wireType)) return false;
      continue;
    }
    if (!reader.readVarint(raw)) return false;
    if (number == 1) value.seconds = static_cast<int64_t>(raw);
    if (number == 2) value.nanos = static_cast<int32_t>(raw);
  }
  return true;
}

bool isUnsigned(WireForm form) { return form == WireForm::kUnsigned; }

/// The integer of a field, whatever its sign rules; only called where 64 unsigned bits cannot come.
int64_t integerOf(WireForm form, const WireValue& value) {
  return isUnsigned(form) ? static_cast<int64_t>(value.unsignedValue) : value.integer;
}

using ValueProblem = std::optional<std::string>;

ValueProblem convertDate(WireForm form, const WireValue& value, RowNode& node) {
  if (form == WireForm::kText) {
    const std::optional<int64_t> date = dateFromText(value.bytes);
    if (!date) return fmt::format("'{}' is not a valid DATE literal", value.bytes);
    node.integer = *date;
    return std::nullopt;
  }
  if (value.integer < kMinDate || value.integer > kMaxDate) {
    return fmt::format(
        "DATE value {} is out of range: days from 1970-01-01 must be between {} and {}",
        value.integer, kMinDate, kMaxDate);
  }
  node.integer = value.integer;
  return std::nullopt;
}

ValueProblem convertCivil(FieldType type, WireForm form, const WireValue& value, RowNode& node) {
  const bool isTime = type == FieldType::kTime;
  const bool isText = form == WireForm::kText;
  const std::optional<int64_t> micros =
      isTime   ? (isText ? timeFromText(value.bytes) : timeFromPacked(value.integer))
      : isText ? datetimeFromText(value.bytes)
               : datetimeFromPacked(value.integer);
  if (micros) {
    node.integer = *micros;
    return std::nullopt;
  }
  if (isText) return fmt::format("'{}' is not a valid {} literal", value.bytes, restTypeName(type));
  return fmt::format("{} is not a valid packed {} value", value.integer, restTypeName(type));
}

ValueProblem convertTimestamp(WireForm form, const WireValue& value, RowNode& node) {
  TimestampValue timestamp;
  if (form == WireForm::kText) {
    const std::optional<TimestampValue> parsed = timestampFromText(value.bytes);
    if (!parsed) return fmt::format("'{}' is not a valid TIMESTAMP", value.bytes);
    timestamp = *parsed;
  } else if (form == WireForm::kTimestamp) {
    SecondsAndNanos parts;
    if (!readSecondsAndNanos(value.bytes, parts))
      return "the google.protobuf.Timestamp cannot be parsed";
    if (parts.nanos < 0 || parts.nanos > 999999999 ||
        std::abs(parts.seconds) > kMaxTimestamp / 1000000) {
      return fmt::format("the google.protobuf.Timestamp is out of range: {} s, {} ns",
                         parts.seconds, parts.nanos);
    }
    timestamp = {parts.seconds * 1000000 + parts.nanos / 1000,
                 static_cast<int32_t>(parts.nanos % 1000 * 1000)};
  } else {
    timestamp.micros = integerOf(form, value);
  }
  if (timestamp.micros < kMinTimestamp || timestamp.micros > kMaxTimestamp) {
    return fmt::format("TIMESTAMP value {} is out of range: microseconds must be between {} and {}",
                       timestamp.micros, kMinTimestamp, kMaxTimestamp);
  }
  node.integer = timestamp.micros;
  node.picoseconds = timestamp.picoseconds;
  return std::nullopt;
}

ValueProblem convertDecimal(FieldType type, WireForm form, const WireValue& value, RowNode& node) {
  const DecimalType decimalType = type == FieldType::kNumeric ? kNumericType : kBignumericType;
  std::optional<Decimal> decimal;
  switch (form) {
    case WireForm::kBinary:
      decimal = decimalFromBytes(value.bytes, decimalType);
      break;
    case WireForm::kText:
      decimal = decimalFromText(value.bytes, decimalType);
      break;
    case WireForm::kUnsigned:
      decimal = decimalFromInteger(value.unsignedValue, false, decimalType);
      break;
    case WireForm::kFloat:
    case WireForm::kDouble:
      // Fraction digits that the type cannot hold are rounded: a binary fraction has more than any
      // has.
      if (std::isfinite(value.real)) {
        decimal =
            decimalFromText(fmt::format("{:.{}f}", value.real, decimalType.scale), decimalType);
      }
      break;
    default: {
      const bool negative = value.integer < 0;
      const auto bits = static_cast<uint64_t>(value.integer);
      decimal = decimalFromInteger(negative ? 0 - bits : bits, negative, decimalType);
    }
  }
  if (decimal) {
    node.decimal = *decimal;
    return std::nullopt;
  }
  if (form == WireForm::kText)
    return fmt::format("'{}' is not a valid {}", value.bytes, restTypeName(type));
  if (form == WireForm::kBinary) {
    return fmt::format("the {} bytes are no valid {}: too many, none, or out of range",
                       value.bytes.size(), restTypeName(type));
  }
  return fmt::format("the value is out of range of {}", restTypeName(type));
}

ValueProblem convertText(FieldType type, const WireValue& value, RowNode& node) {
  if (!isValidUtf8(value.bytes))
    return fmt::format("the {} is not valid UTF-8", restTypeName(type));
  node.text = value.bytes;
  return std::nullopt;
}

ValueProblem convert(const FieldPlan& plan, WireForm form, const WireValue& value, RowNode& node) {
  node.kind = RowNode::Kind::kScalar;
  switch (plan.type) {
    case FieldType::kBool:
      node.integer = isUnsigned(form) ? value.unsignedValue != 0 : value.integer != 0;
      return std::nullopt;
    case FieldType::kInt64:
      node.integer = integerOf(form, value);
      return std::nullopt;
    case FieldType::kFloat64:
      node.real = value.real;
      return std::nullopt;
    case FieldType::kBytes:
      node.text = value.bytes;
      return std::nullopt;
    case FieldType::kDate:
      return convertDate(form, value, node);
    case FieldType::kTime:
    case FieldType::kDatetime:
      return convertCivil(plan.type, form, value, node);
    case FieldType::kTimestamp:
      return convertTimestamp(form, value, node);
    case FieldType::kNumeric:
    case FieldType::kBignumeric:
      return convertDecimal(plan.type, form, value, node);
    default:
      return convertText(plan.type, value, node);
  }
}

/// False for a number that the enum does not declare: the field then counts as absent, as it does
/// to any reader of a proto2 message.
bool convertEnumName(const FieldPlan& plan, const WireValue& value, RowNode& node) {
  for (const auto& [number, name] : plan.enumValues) {
    if (number != value.integer) continue;
    node.kind = RowNode::Kind::kScalar;
    node.text = name;
    return true;
  }
  return false;
}

/// A duration in the text form of an INTERVAL: "0-0 0 H:M:S.F".
std::string intervalText(const SecondsAndNanos& duration) {
  const bool negative = duration.seconds < 0 || duration.nanos < 0;
  const int64_t seconds = std::abs(duration.seconds);
  const int64_t micros = std::abs(duration.nanos) / 1000;
  std::string text = fmt::format("0-0 0 {}{}:{}:{}", negative ? "-" : "", seconds / 3600,
                                 seconds / 60 % 60, seconds % 60);
  if (micros != 0) text += fmt::format(".{:06}", micros);
  return text;
}

RowProblem unreadable(const std::string& path) {
  return {path, "the row cannot be parsed as a message of the writer's schema"};
}

}  // namespace

RowDecoder::RowDecoder(std::shared_ptr<const RowPlan> plan) : plan_(std::move(plan)) {}

std::optional<RowProblem> RowDecoder::decode(std::string_view row) {
  nodes_.clear();
  intervals_.clear();
  const uint32_t root = addNode(nullptr, FieldType::kStruct);
  addColumns(root, plan_->root());
  return decodeMessage(plan_->root(), row, root);
}

uint32_t RowDecoder::addNode(const Field* field, FieldType type) {
  RowNode& node = nodes_.emplace_back();
  node.field = field;
  node.type = type;
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void RowDecoder::link(uint32_t parent, uint32_t child) {
  RowNode& node = nodes_[parent];
  if (node.lastChild == RowNode::kNone) {
    node.firstChild = child;
  } else {
    nodes_[node.lastChild].nextSibling = child;
  }
  node.lastChild = child;
}

void RowDecoder::addColumns(uint32_t parent, const MessagePlan& plan) {
  nodes_[parent].kind =
      nodes_[parent].type == FieldType::kRange ? RowNode::Kind::kRange : RowNode::Kind::kStruct;
  for (const MessagePlan::Column& column : plan.columns) {
    const uint32_t child = addNode(column.field, column.type);
    if (column.repeated) nodes_[child].kind = RowNode::Kind::kList;
    link(parent, child);
  }
}

std::optional<RowProblem> RowDecoder::decodeMessage(const MessagePlan& plan, std::string_view bytes,
                                                    uint32_t parent) {
  WireReader reader(bytes);
  const uint32_t firstColumn = nodes_[parent].firstChild;
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return unreadable("");
    const FieldPlan* field = plan.find(number);
    const bool wrapped = field != nullptr && (field->form == WireForm::kWrapper ||
                                              field->form == WireForm::kTimestamp ||
                                              field->form == WireForm::kDuration);
    const uint32_t expected = field == nullptr ? 0
                              : wrapped        ? static_cast<uint32_t>(WireReader::kLength)
                                               : wireTypeOf(field->protoType);
    // As for any reader of protobuf, a field in another wire type is an unknown one.
    const bool packed = field != nullptr && field->repeated && wireType == WireReader::kLength &&
                        expected != WireReader::kLength && expected != WireReader::kStartGroup;
    if (field == nullptr || (wireType != expected && !packed)) {
      if (!reader.skip(number, wireType)) return unreadable("");
      continue;
    }
    std::optional<RowProblem> problem;
    const uint32_t column = firstColumn + field->column;
    if (packed) {
      problem = decodePacked(*field, reader, column);
    } else if (wireType == WireReader::kStartGroup) {
      std::string_view group;
      if (!reader.readGroup(number, group)) return unreadable(field->path);
      problem = decodeValue(*field, group, column);
    } else if (expected == WireReader::kLength) {
      std::string_view content;
      if (!reader.readBytes(content)) return unreadable(field->path);
      problem = decodeValue(*field, content, column);
    } else {
      problem = decodeNumber(*field, reader, column);
    }
    if (problem) return problem;
  }
  return std::nullopt;
}

uint32_t RowDecoder::valueNode(const FieldPlan& field, uint32_t column) {
  if (!field.repeated) return column;
  const uint32_t element = addNode(field.field, field.type);
  link(column, element);
  return element;
}

std::optional<RowProblem> RowDecoder::decodePacked(const FieldPlan& field, WireReader& reader,
                                                   uint32_t column) {
  std::string_view content;
  if (!reader.readBytes(content)) return unreadable(field.path);
  WireReader elements(content);
  while (!elements.atEnd()) {
    if (std::optional<RowProblem> problem = decodeNumber(field, elements, column)) return problem;
  }
  return std::nullopt;
}

std::optional<RowProblem> RowDecoder::decodeNumber(const FieldPlan& field, WireReader& reader,
                                                   uint32_t column) {
  WireValue value;
  if (!readScalar(reader, field.protoType, value)) return unreadable(field.path);
  if (field.form == WireForm::kEnum && field.type == FieldType::kString) {
    RowNode node;
    if (!convertEnumName(field, value, node)) return std::nullopt;
    RowNode& target = nodes_[valueNode(field, column)];
    target.kind = node.kind;
    target.text = node.text;
    return std::nullopt;
  }
  const uint32_t target = valueNode(field, column);
  if (ValueProblem problem = convert(field, field.form, value, nodes_[target]))
    return RowProblem{field.path, *problem};
  return std::nullopt;
}

std::optional<RowProblem> RowDecoder::decodeValue(const FieldPlan& field, std::string_view content,
                                                  uint32_t column) {
  const uint32_t target = valueNode(field, column);
  WireValue value;
  value.bytes = content;
  WireForm form = field.form;
  switch (form) {
    case WireForm::kMessage:
      // A singular message that comes twice is merged into what stands there, as protobuf does.
      if (nodes_[target].firstChild == RowNode::kNone) addColumns(target, *field.message);
      return decodeMessage(*field.message, content, target);
    case WireForm::kWrapper:
      value.bytes = {};
      if (!readWrapper(content, field.protoType, value)) return unreadable(field.path);
      form = scalarForm(field.protoType);
      break;
    case WireForm::kDuration: {
      SecondsAndNanos parts;
      if (!readSecondsAndNanos(content, parts)) return unreadable(field.path);
      value.bytes = intervals_.emplace_back(intervalText(parts));
      form = WireForm::kText;
      break;
    }
    default:
      break;
  }
  if (ValueProblem problem = convert(field, form, value, nodes_[target]))
    return RowProblem{field.path, *problem};
  return std::nullopt;
}

}  // namespace penstock::emulator
