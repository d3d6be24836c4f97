#include "penstock/bigquery/serializers/json_plan.h"

#include <algorithm>
#include <utility>

#include "penstock/bigquery/encoding/wire.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/schema/validate_schema.h"

namespace penstock::bigquery {
namespace {

size_t wordsFor(size_t columns) { return (columns + kColumnsPerWord - 1) / kColumnsPerWord; }

JsonConversion conversionOf(const Column& column) {
  switch (column.type) {
    case ColumnType::kUnset:
      break;
    case ColumnType::kString:
      return JsonConversion::kString;
    case ColumnType::kInt64:
      return JsonConversion::kInt64;
    case ColumnType::kDouble:
      return JsonConversion::kDouble;
    case ColumnType::kStruct:
      return JsonConversion::kStruct;
    case ColumnType::kBytes:
      return JsonConversion::kBytes;
    case ColumnType::kBool:
      return JsonConversion::kBool;
    case ColumnType::kTimestamp:
      return column.timestampPrecision == kPicosecondPrecision ? JsonConversion::kTimestampText
                                                               : JsonConversion::kTimestamp;
    case ColumnType::kDate:
      return JsonConversion::kDate;
    case ColumnType::kTime:
      return JsonConversion::kTime;
    case ColumnType::kDatetime:
      return JsonConversion::kDatetime;
    case ColumnType::kGeography:
      return JsonConversion::kGeography;
    case ColumnType::kNumeric:
      return JsonConversion::kNumeric;
    case ColumnType::kBignumeric:
      return JsonConversion::kBignumeric;
    case ColumnType::kInterval:
      return JsonConversion::kString;
    case ColumnType::kJson:
      return JsonConversion::kJson;
    case ColumnType::kRange:
      return JsonConversion::kRange;
  }
  return JsonConversion::kString;  // validateSchema lets no unset type through
}

/// Of the row fields of BQT-004.
WireType jsonWireTypeOf(JsonConversion conversion) {
  switch (conversion) {
    case JsonConversion::kInt64:
    case JsonConversion::kBool:
    case JsonConversion::kTimestamp:
    case JsonConversion::kDate:
    case JsonConversion::kTime:
    case JsonConversion::kDatetime:
      return WireType::kVarint;
    case JsonConversion::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kLengthDelimited;
  }
}

/// A RANGE is a message of two values of its element type (BQT-004).
std::vector<Column> rangeFields(ColumnType elementType) {
  Column start;
  start.name = "start";
  start.type = elementType;
  Column end = start;
  end.name = "end";
  return {start, end};
}

}  // namespace

KeyPattern::KeyPattern(std::string_view lowerCaseName) {
  // A quote or a backslash never stands in a key as itself.
  exact_ = lowerCaseName.size() < kBytes &&
           lowerCaseName.find_first_of("\"\\") == std::string_view::npos;
  if (!exact_) return;
  char name[kBytes] = {};
  char letterCase[kBytes] = {};
  char mask[kBytes] = {};
  for (size_t index = 0; index < lowerCaseName.size(); ++index) {
    const char c = lowerCaseName[index];
    name[index] = c;
    mask[index] = static_cast<char>(0xFF);
    if (c >= 'a' && c <= 'z') letterCase[index] = 0x20;
  }
  name[lowerCaseName.size()] = '"';
  mask[lowerCaseName.size()] = static_cast<char>(0xFF);
  nameLow_ = loadWord(name);
  nameHigh_ = loadWord(name + 8);
  caseLow_ = loadWord(letterCase);
  caseHigh_ = loadWord(letterCase + 8);
  maskLow_ = loadWord(mask);
  maskHigh_ = loadWord(mask + 8);
}

void JsonLevel::buildIndex(std::vector<std::string> lowerCaseNames) {
  lowerCaseNames_ = std::move(lowerCaseNames);
  size_t slots = 4;
  while (slots < lowerCaseNames_.size() * 4) slots *= 2;
  slots_.assign(slots, 0);
  slotMask_ = slots - 1;
  for (uint32_t index = 0; index < lowerCaseNames_.size(); ++index) {
    size_t slot = hashKey(lowerCaseNames_[index]) & slotMask_;
    while (slots_[slot] != 0) slot = (slot + 1) & slotMask_;
    slots_[slot] = index + 1;
  }
}

const JsonField* JsonLevel::find(std::string_view lowerCaseKey) const {
  size_t slot = hashKey(lowerCaseKey) & slotMask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & slotMask_) {
    const uint32_t index = slots_[slot] - 1;
    if (lowerCaseNames_[index] == lowerCaseKey) return &fields[index];
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<const JsonPlan>> JsonPlan::compile(const TableSchema& schema) {
  PENSTOCK_RETURN_IF_ERROR(validateSchema(schema));
  std::unique_ptr<JsonPlan> plan(new JsonPlan());
  plan->root_ = plan->addLevel(schema.columns, 0, 0);
  return plan;
}

const JsonLevel* JsonPlan::addLevel(const std::vector<Column>& columns, size_t fieldsAbove,
                                    size_t wordsAbove) {
  auto level = std::make_unique<JsonLevel>();
  level->required.resize(wordsFor(columns.size()));
  fieldsAbove += columns.size();
  wordsAbove += level->required.size();
  deepestFields_ = std::max(deepestFields_, fieldsAbove);
  deepestWords_ = std::max(deepestWords_, wordsAbove);
  std::vector<std::string> lowerCaseNames;
  for (const Column& column : columns) {
    const auto index = static_cast<uint32_t>(level->fields.size());
    std::string& lowerCaseName = lowerCaseNames.emplace_back();
    appendLowerCase(column.name, &lowerCaseName);
    JsonField field = makeField(column, index);
    field.pattern = KeyPattern(lowerCaseName);
    if (column.type == ColumnType::kStruct) {
      field.level = addLevel(column.fields, fieldsAbove, wordsAbove);
    } else if (column.type == ColumnType::kRange) {
      field.level = addLevel(rangeFields(column.rangeElementType), fieldsAbove, wordsAbove);
    }
    if (field.isRequired) {
      level->hasRequired = true;
      level->required[index / kColumnsPerWord] |= uint64_t{1} << (index % kColumnsPerWord);
    }
    level->fields.push_back(std::move(field));
  }
  level->fields.emplace_back();
  level->buildIndex(std::move(lowerCaseNames));
  levels_.push_back(std::move(level));
  return levels_.back().get();
}

JsonField JsonPlan::makeField(const Column& column, uint32_t index) {
  JsonField field;
  field.index = index;
  field.id = fieldCount_++;
  field.name = column.name;
  field.type = describeType(column);
  if (column.mode == ColumnMode::kRepeated) field.type = "REPEATED " + field.type;
  field.conversion = conversionOf(column);
  field.isRepeated = column.mode == ColumnMode::kRepeated;
  field.isRequired = column.mode == ColumnMode::kRequired;
  const char* const tagEnd =
      writeTag(field.tag.data(), makeTag(index + 1, jsonWireTypeOf(field.conversion)));
  field.tagSize = static_cast<uint8_t>(tagEnd - field.tag.data());
  return field;
}

}  // namespace penstock::bigquery
