#include "penstock/emulator/rest/json_row_encoder.h"

#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/json_value.h"
#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/decimal.h"
#include "penstock/emulator/rows/default_value.h"
#include "penstock/emulator/rows/row_decoder.h"
#include "penstock/emulator/rows/wire_reader.h"
#include "penstock/emulator/rows/wire_writer.h"
#include "penstock/emulator/service/row_rules.h"

namespace penstock::emulator {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using nlohmann::json;

void appendTag(uint32_t number, WireReader::WireType type, std::string& out) {
  appendVarint(uint64_t{number} << 3 | type, out);
}

void appendBytes(uint32_t number, std::string_view bytes, std::string& out) {
  appendTag(number, WireReader::kLength, out);
  appendVarint(bytes.size(), out);
  out += bytes;
}

void appendReal(uint32_t number, double value, std::string& out) {
  appendTag(number, WireReader::kFixed64, out);
  auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) out += static_cast<char>(bits & 0xFF);
}

/// The wire type of a column: what JSON gives as text stays text, which columns take.
FieldDescriptorProto::Type protoTypeOf(FieldType type) {
  switch (type) {
    case FieldType::kInt64:
      return FieldDescriptorProto::TYPE_INT64;
    case FieldType::kFloat64:
      return FieldDescriptorProto::TYPE_DOUBLE;
    case FieldType::kBool:
      return FieldDescriptorProto::TYPE_BOOL;
    case FieldType::kBytes:
      return FieldDescriptorProto::TYPE_BYTES;
    case FieldType::kRange:
    case FieldType::kStruct:
      return FieldDescriptorProto::TYPE_MESSAGE;
    default:
      return FieldDescriptorProto::TYPE_STRING;
  }
}

bool isLiteral(FieldType type, const std::string& text) {
  switch (type) {
    case FieldType::kDate:
      return dateFromText(text).has_value();
    case FieldType::kTime:
      return timeFromText(text).has_value();
    case FieldType::kDatetime:
      return datetimeFromText(text).has_value();
    case FieldType::kNumeric:
      return decimalFromText(text, kNumericType).has_value();
    case FieldType::kBignumeric:
      return decimalFromText(text, kBignumericType).has_value();
    default:
      return true;
  }
}

std::string refusal(FieldType type, const json& value, const std::string& path) {
  const std::string shown = shownValue(value);
  switch (type) {
    case FieldType::kInt64:
      return fmt::format("Cannot convert value to integer (bad value): {}", shown);
    case FieldType::kFloat64:
      return fmt::format("Cannot convert value to floating point (bad value): {}", shown);
    case FieldType::kBool:
      return fmt::format("Cannot convert value to boolean (bad value): {}", shown);
    case FieldType::kBytes:
      return fmt::format("Could not decode base64 string to bytes. Field: {}; Value: {}", path,
                         shown);
    case FieldType::kDate:
      return fmt::format("Invalid date: '{}' Field: {}; Value: {}", shown, path, shown);
    case FieldType::kTime:
      return fmt::format("Invalid time string \"{}\" Field: {}; Value: {}", shown, path, shown);
    case FieldType::kDatetime:
      return fmt::format("Invalid datetime string \"{}\" Field: {}; Value: {}", shown, path, shown);
    case FieldType::kTimestamp:
      return fmt::format("Invalid timestamp string \"{}\" Field: {}; Value: {}", shown, path,
                         shown);
    case FieldType::kStruct:
    case FieldType::kRange:
      return fmt::format("The field {} is a {}: its value must be an object, found: {}", path,
                         restTypeName(type), shown);
    default:
      return fmt::format("Invalid {} value: {}", restTypeName(type), shown);
  }
}

std::string pathOf(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

}  // namespace

struct JsonRowEncoder::Column {
  const Field* field = nullptr;
  uint32_t number = 0;
  std::unique_ptr<Level> level;              ///< of a STRUCT
  std::optional<DefaultValue> defaultValue;  ///< where it is not NULL
};

struct JsonRowEncoder::Level {
  std::vector<Column> columns;
  std::map<std::string, size_t> positions;  ///< by folded name
};

/// Writes one row and notes what is wrong with it.
class JsonRowEncoder::RowWriter {
 public:
  RowWriter(const JsonRowEncoder& encoder, bool ignoreUnknownValues,
            std::vector<InsertError>& errors)
      : encoder_(encoder), ignoreUnknownValues_(ignoreUnknownValues), errors_(errors) {}

  void writeObject(const Level& level, const json& object, const std::string& path,
                   std::string& out) {
    std::vector<const json*> values(level.columns.size(), nullptr);
    for (const auto& [key, value] : object.items()) {
      const auto position = level.positions.find(foldedName(key));
      if (position == level.positions.end()) {
        if (!ignoreUnknownValues_) {
          note(pathOf(path, key), fmt::format("no such field: {}.", pathOf(path, key)));
        }
      } else if (values[position->second] != nullptr) {
        note(pathOf(path, key), fmt::format("Field {} is given more than once.", key));
      } else {
        values[position->second] = &value;
      }
    }
    for (size_t i = 0; i < values.size(); ++i) {
      writeColumn(level.columns[i], values[i], pathOf(path, level.columns[i].field->name), out);
    }
  }

 private:
  void writeColumn(const Column& column, const json* value, const std::string& path,
                   std::string& out) {
    const FieldMode mode = column.field->mode;
    if (value == nullptr) {
      if (column.defaultValue) {
        column.defaultValue->appendTo(column.number, encoder_.now_, encoder_.random_, out);
      } else if (mode == FieldMode::kRequired) {
        note(path, fmt::format("Missing required field: {}.", path));
      }
      return;
    }
    if (value->is_null()) {
      if (mode != FieldMode::kNullable) noteNull(path);
      return;
    }
    if (mode != FieldMode::kRepeated) {
      if (value->is_array()) {
        note(path, fmt::format("Array specified for non-repeated field: {}.", path));
        return;
      }
      writeValue(column, *value, path, out);
      return;
    }
    if (!value->is_array()) {
      note(path, fmt::format("Repeated field must be imported as a JSON array. Field: {}.", path));
      return;
    }
    for (const json& element : *value) {
      if (element.is_null()) {
        noteNull(path);
      } else {
        writeValue(column, element, path, out);
      }
    }
  }

  void writeValue(const Column& column, const json& value, const std::string& path,
                  std::string& out) {
    const FieldType type = column.field->type;
    if (type == FieldType::kStruct && value.is_object()) {
      std::string message;
      writeObject(*column.level, value, path, message);
      appendBytes(column.number, message, out);
    } else if (type == FieldType::kRange && value.is_object()) {
      std::string message;
      writeRange(*column.field, value, path, message);
      appendBytes(column.number, message, out);
    } else if (value.is_object()) {
      note(path, fmt::format("This field: {} is not a record.", path));
    } else if (!writeScalar(type, column.number, value, out)) {
      note(path, refusal(type, value, path));
    }
  }

  void writeRange(const Field& field, const json& value, const std::string& path,
                  std::string& out) {
    const FieldType element = field.rangeElementType.value_or(FieldType::kDate);
    for (const auto& [key, end] : value.items()) {
      const uint32_t number = key == "start" ? 1 : key == "end" ? 2 : 0;
      if (number == 0) {
        if (!ignoreUnknownValues_) {
          note(pathOf(path, key), fmt::format("no such field: {}.", pathOf(path, key)));
        }
      } else if (!end.is_null() && !writeScalar(element, number, end, out)) {
        note(pathOf(path, key), refusal(element, end, pathOf(path, key)));
      }
    }
  }

  static bool writeScalar(FieldType type, uint32_t number, const json& value, std::string& out) {
    switch (type) {
      case FieldType::kInt64: {
        const std::optional<int64_t> integer = integerFromJson(value);
        if (!integer) return false;
        appendTag(number, WireReader::kVarint, out);
        appendVarint(static_cast<uint64_t>(*integer), out);
        return true;
      }
      case FieldType::kBool: {
        const std::optional<bool> boolean = booleanFromJson(value);
        if (!boolean) return false;
        appendTag(number, WireReader::kVarint, out);
        appendVarint(*boolean ? 1 : 0, out);
        return true;
      }
      case FieldType::kFloat64: {
        const std::optional<double> real = realFromJson(value);
        if (!real) return false;
        appendReal(number, *real, out);
        return true;
      }
      default: {
        const std::optional<std::string> text = textOfScalar(type, value);
        if (!text) return false;
        appendBytes(number, *text, out);
        return true;
      }
    }
  }

  static std::optional<std::string> textOfScalar(FieldType type, const json& value) {
    switch (type) {
      case FieldType::kBytes:
        return bytesFromJson(value);
      case FieldType::kTimestamp:
        return timestampFromJson(value);
      case FieldType::kStruct:
      case FieldType::kRange:
        return std::nullopt;
      case FieldType::kDate:
      case FieldType::kTime:
      case FieldType::kDatetime:
      case FieldType::kGeography:
      case FieldType::kInterval:
        if (!value.is_string()) return std::nullopt;
        break;
      case FieldType::kNumeric:
      case FieldType::kBignumeric:
        if (value.is_boolean()) return std::nullopt;
        break;
      default:
        break;
    }
    std::optional<std::string> text = textFromJson(value);
    if (text && !isLiteral(type, *text)) return std::nullopt;
    return text;
  }

  void noteNull(const std::string& path) {
    note(path,
         fmt::format("Only optional fields can be set to NULL. Field: {}; Value: NULL", path));
  }
  void note(const std::string& path, std::string message) {
    errors_.push_back({path, std::move(message)});
  }

  const JsonRowEncoder& encoder_;
  const bool ignoreUnknownValues_;
  std::vector<InsertError>& errors_;
};

JsonRowEncoder::JsonRowEncoder(base::WallTime now, base::Random& random)
    : now_(now), random_(random) {}
JsonRowEncoder::~JsonRowEncoder() = default;

absl::StatusOr<std::unique_ptr<JsonRowEncoder>> JsonRowEncoder::create(const Schema& schema,
                                                                       base::WallTime now,
                                                                       base::Random& random) {
  std::unique_ptr<JsonRowEncoder> encoder(new JsonRowEncoder(now, random));
  encoder->descriptor_.set_name("Row");
  encoder->root_ = addLevel(schema.fields, encoder->descriptor_);
  PENSTOCK_RETURN_IF_ERROR(readDefaults(*encoder->root_));
  PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<const RowPlan> plan,
                            RowPlan::compile(encoder->descriptor_, schema));
  encoder->decoder_ = std::make_unique<RowDecoder>(std::move(plan));
  return encoder;
}

absl::Status JsonRowEncoder::readDefaults(Level& level) {
  for (Column& column : level.columns) {
    if (column.field->defaultValueExpression.empty()) continue;
    PENSTOCK_ASSIGN_OR_RETURN(DefaultValue value, DefaultValue::parse(*column.field));
    // It writes the types that protoTypeOf() names.
    if (!value.isNull()) column.defaultValue = std::move(value);
  }
  return absl::OkStatus();
}

std::unique_ptr<JsonRowEncoder::Level> JsonRowEncoder::addLevel(const std::vector<Field>& fields,
                                                                DescriptorProto& message) {
  auto level = std::make_unique<Level>();
  for (const Field& field : fields) {
    level->positions.emplace(foldedName(field.name), level->columns.size());
    Column& column = level->columns.emplace_back();
    column.field = &field;
    column.number = static_cast<uint32_t>(level->columns.size());
    addField(field, message, column);
  }
  return level;
}

void JsonRowEncoder::addField(const Field& field, DescriptorProto& message, Column& column) {
  FieldDescriptorProto& proto = *message.add_field();
  proto.set_name(field.name);
  proto.set_number(static_cast<int>(column.number));
  proto.set_type(protoTypeOf(field.type));
  proto.set_label(field.mode == FieldMode::kRepeated ? FieldDescriptorProto::LABEL_REPEATED
                                                     : FieldDescriptorProto::LABEL_OPTIONAL);
  if (proto.type() != FieldDescriptorProto::TYPE_MESSAGE) return;
  proto.set_type_name("Type" + std::to_string(column.number));
  DescriptorProto& nested = *message.add_nested_type();
  nested.set_name(proto.type_name());
  if (field.type == FieldType::kStruct) {
    column.level = addLevel(field.fields, nested);
    return;
  }
  for (const char* name : {"start", "end"}) {
    FieldDescriptorProto& end = *nested.add_field();
    end.set_name(name);
    end.set_number(nested.field_size());
    end.set_type(protoTypeOf(field.rangeElementType.value_or(FieldType::kDate)));
    end.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
  }
}

std::vector<InsertError> JsonRowEncoder::encode(const json& row, bool ignoreUnknownValues,
                                                std::string& bytes) {
  bytes.clear();
  std::vector<InsertError> errors;
  RowWriter(*this, ignoreUnknownValues, errors).writeObject(*root_, row, "", bytes);
  if (!errors.empty()) return errors;
  std::optional<RowProblem> problem = decoder_->decode(bytes);
  if (!problem) problem = findBrokenRule(*decoder_);
  if (problem) errors.push_back({problem->path, problem->message});
  return errors;
}

}  // namespace penstock::emulator
