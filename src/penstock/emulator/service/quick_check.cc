#include "penstock/emulator/service/quick_check.h"

#include <cstring>

#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/decimal.h"
#include "penstock/emulator/rows/utf8.h"
#include "penstock/emulator/rows/wire_reader.h"
#include "penstock/emulator/service/json_text.h"
#include "penstock/emulator/service/row_rules.h"
#include "penstock/emulator/service/value_text.h"

namespace penstock::emulator {
namespace {

using google::protobuf::FieldDescriptorProto;

/// What a field's value has to be.
enum class Check : uint8_t {
  kDoubt,  ///< left to the decoder
  kAnyVarint,
  kAnyFixed64,
  kAnyFixed32,
  kDate,       ///< int32 varint
  kTimestamp,  ///< int64 varint
  kTime,
  kDatetime,
  kText,  ///< UTF-8, perhaps with a limit of characters
  kJson,
  kGeography,
  kInterval,
  kBytes,  ///< perhaps with a limit of bytes
  kNumeric,
  kBignumeric,
  kMessage,
};

/// Up to these lengths a two's complement is within the type's bounds, whatever its bytes.
constexpr size_t kSafeNumericBytes = 15;
constexpr size_t kSafeBignumericBytes = 31;

/// Field numbers that a message's table has a place for.
constexpr uint32_t kMaxNumber = 4096;
/// REQUIRED columns of a message that its mask has a bit for.
constexpr size_t kMaxRequired = 64;

inline bool isAscii(const char* at, size_t size) {
  constexpr uint64_t kHighBits = 0x8080808080808080ULL;
  uint64_t seen = 0;
  if (size < sizeof seen) {
    for (size_t index = 0; index < size; ++index) seen |= static_cast<unsigned char>(at[index]);
    return (seen & 0x80) == 0;
  }
  uint64_t word;
  const char* const last = at + size - sizeof word;
  for (; at < last; at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    seen |= word;
  }
  std::memcpy(&word, last, sizeof word);  // overlaps the one before, instead of a tail
  return ((seen | word) & kHighBits) == 0;
}

inline bool isUtf8(std::string_view text) {
  return isAscii(text.data(), text.size()) || isValidUtf8(text);
}

inline bool readVarint(const char*& at, const char* end, uint64_t& value) {
  if (at == end) return false;
  auto byte = static_cast<unsigned char>(*at++);
  value = byte & 0x7F;
  for (int shift = 7; byte >= 0x80; shift += 7) {
    if (at == end || shift > 63) return false;
    byte = static_cast<unsigned char>(*at++);
    value |= uint64_t{byte & 0x7Fu} << shift;
  }
  return true;
}

Check checkOfNumber(const FieldPlan& field) {
  const bool isInt64 = field.protoType == FieldDescriptorProto::TYPE_INT64;
  const bool isInt32 = field.protoType == FieldDescriptorProto::TYPE_INT32;
  switch (field.type) {
    case FieldType::kBool:
    case FieldType::kInt64:
      break;
    case FieldType::kFloat64:
      break;
    case FieldType::kDate:
      return isInt32 ? Check::kDate : Check::kDoubt;
    case FieldType::kTimestamp:
      return isInt64 ? Check::kTimestamp : Check::kDoubt;
    case FieldType::kTime:
      return isInt64 ? Check::kTime : Check::kDoubt;
    case FieldType::kDatetime:
      return isInt64 ? Check::kDatetime : Check::kDoubt;
    default:
      return Check::kDoubt;
  }
  switch (field.protoType) {
    case FieldDescriptorProto::TYPE_DOUBLE:
    case FieldDescriptorProto::TYPE_FIXED64:
    case FieldDescriptorProto::TYPE_SFIXED64:
      return Check::kAnyFixed64;
    case FieldDescriptorProto::TYPE_FLOAT:
    case FieldDescriptorProto::TYPE_FIXED32:
    case FieldDescriptorProto::TYPE_SFIXED32:
      return Check::kAnyFixed32;
    default:
      return Check::kAnyVarint;
  }
}

Check checkOf(const FieldPlan& field) {
  const bool isText = field.form == WireForm::kText;
  const bool isBytes = isText || field.form == WireForm::kBinary;
  switch (field.form) {
    case WireForm::kText:
    case WireForm::kBinary:
      break;
    case WireForm::kMessage:
      return field.type == FieldType::kStruct &&
                     field.protoType == FieldDescriptorProto::TYPE_MESSAGE
                 ? Check::kMessage
                 : Check::kDoubt;
    case WireForm::kEnum:
      return field.type == FieldType::kInt64 ? Check::kAnyVarint : Check::kDoubt;
    case WireForm::kWrapper:
    case WireForm::kTimestamp:
    case WireForm::kDuration:
      return Check::kDoubt;
    default:
      return checkOfNumber(field);
  }
  switch (field.type) {
    case FieldType::kString:
      return isText ? Check::kText : Check::kDoubt;
    case FieldType::kJson:
      return isText ? Check::kJson : Check::kDoubt;
    case FieldType::kGeography:
      return isText ? Check::kGeography : Check::kDoubt;
    case FieldType::kInterval:
      return isText ? Check::kInterval : Check::kDoubt;
    case FieldType::kBytes:
      return isBytes ? Check::kBytes : Check::kDoubt;
    case FieldType::kNumeric:
      return isText ? Check::kDoubt : Check::kNumeric;
    case FieldType::kBignumeric:
      return isText ? Check::kDoubt : Check::kBignumeric;
    default:
      return Check::kDoubt;
  }
}

uint32_t wireTypeOf(Check check) {
  switch (check) {
    case Check::kAnyVarint:
    case Check::kDate:
    case Check::kTimestamp:
    case Check::kTime:
    case Check::kDatetime:
      return WireReader::kVarint;
    case Check::kAnyFixed64:
      return WireReader::kFixed64;
    case Check::kAnyFixed32:
      return WireReader::kFixed32;
    default:
      return WireReader::kLength;
  }
}

}  // namespace

struct QuickCheck::Step {
  uint32_t tag = 0;  ///< number and wire type, as they stand in front of a value; 0 = no such field
  Check check = Check::kDoubt;
  uint64_t requiredBit = 0;
  uint64_t maxLength = UINT64_MAX;
  const Field* column = nullptr;     ///< of a decimal with precision and scale, else null
  std::unique_ptr<Message> message;  ///< of a STRUCT
};

struct QuickCheck::Message {
  std::vector<Step> steps;     ///< by field number
  uint64_t requiredBits = 0;   ///< all that a message must have
  bool alwaysInDoubt = false;  ///< the plan is beyond what this check can tell
};

QuickCheck::QuickCheck(const RowPlan& plan) : root_(compile(plan.root())) {
  if (!plan.missingRequiredColumns().empty()) root_->alwaysInDoubt = true;
}
QuickCheck::~QuickCheck() = default;
QuickCheck::QuickCheck(QuickCheck&&) noexcept = default;

QuickCheck::Step QuickCheck::compileField(const FieldPlan& field, uint64_t requiredBit) {
  Step step;
  step.check = checkOf(field);
  step.requiredBit = requiredBit;
  step.tag = field.number << 3 | wireTypeOf(step.check);
  if (step.check == Check::kMessage) step.message = compile(*field.message);
  if (field.field->maxLength > 0) step.maxLength = static_cast<uint64_t>(field.field->maxLength);
  if (field.field->precision > 0) step.column = field.field;
  return step;
}

std::unique_ptr<QuickCheck::Message> QuickCheck::compile(const MessagePlan& plan) {
  auto message = std::make_unique<Message>();
  std::vector<uint64_t> bits(plan.columns.size());  // a column may have two fields
  size_t required = 0;
  for (const FieldPlan& field : plan.fields) {
    const bool isRequired = field.field->mode == FieldMode::kRequired;
    uint64_t& bit = bits[field.column];
    if (field.number >= kMaxNumber || (isRequired && bit == 0 && required == kMaxRequired)) {
      // Rows that have the field do not pass since the walk does not know it; nor may those without
      // it.
      if (isRequired) message->alwaysInDoubt = true;
      continue;
    }
    if (isRequired && bit == 0) bit = uint64_t{1} << required++;
    message->requiredBits |= bit;
    if (message->steps.size() <= field.number) message->steps.resize(field.number + 1);
    message->steps[field.number] = compileField(field, bit);
  }
  return message;
}

bool QuickCheck::passes(std::string_view row) const {
  return passes(*root_, row.data(), row.data() + row.size());
}

bool QuickCheck::passes(const Message& message, const char* at, const char* end) {
  if (message.alwaysInDoubt) return false;
  uint64_t seen = 0;
  while (at != end) {
    uint64_t tag = 0;
    if (!readVarint(at, end, tag)) return false;
    const uint64_t number = tag >> 3;
    if (number >= message.steps.size()) return false;
    const Step& step = message.steps[number];
    if (step.tag != tag) return false;
    seen |= step.requiredBit;
    uint64_t value = 0;
    switch (tag & 7) {
      case WireReader::kVarint:
        if (!readVarint(at, end, value) || !numberPasses(step, value)) return false;
        break;
      case WireReader::kLength:
        if (!readVarint(at, end, value) || value > static_cast<uint64_t>(end - at)) return false;
        if (step.check == Check::kMessage) {
          if (!passes(*step.message, at, at + value)) return false;
        } else if (!textPasses(step, {at, value})) {
          return false;
        }
        at += value;
        break;
      default: {
        const ptrdiff_t size = step.check == Check::kAnyFixed64 ? 8 : 4;
        if (end - at < size) return false;
        at += size;
      }
    }
  }
  return seen == message.requiredBits;
}

bool QuickCheck::numberPasses(const Step& step, uint64_t raw) {
  const auto value = static_cast<int64_t>(raw);
  switch (step.check) {
    case Check::kAnyVarint:
      return true;
    case Check::kTimestamp:
      return value >= kMinTimestamp && value <= kMaxTimestamp;
    case Check::kDate: {
      const auto days = static_cast<int32_t>(raw);
      return days >= kMinDate && days <= kMaxDate;
    }
    case Check::kTime:
      return timeFromPacked(value).has_value();
    case Check::kDatetime:
      return datetimeFromPacked(value).has_value();
    default:
      return false;
  }
}

bool QuickCheck::textPasses(const Step& step, std::string_view text) {
  const auto decimalPasses = [&](DecimalType type, size_t safeBytes) {
    if (step.column == nullptr && !text.empty() && text.size() <= safeBytes) return true;
    const std::optional<Decimal> value = decimalFromBytes(text, type);
    return value.has_value() &&
           (step.column == nullptr ||
            decimalFits(*value, type, step.column->precision, step.column->scale));
  };
  switch (step.check) {
    case Check::kText:
      return isUtf8(text) &&
             (text.size() <= step.maxLength || countCharacters(text) <= step.maxLength);
    case Check::kBytes:
      return text.size() <= step.maxLength;
    case Check::kJson:
      return isJsonText(text);
    case Check::kGeography:
      return isUtf8(text) && isGeographyText(text);
    case Check::kInterval:
      return isIntervalText(text);
    case Check::kNumeric:
      return decimalPasses(kNumericType, kSafeNumericBytes);
    case Check::kBignumeric:
      return decimalPasses(kBignumericType, kSafeBignumericBytes);
    default:
      return false;
  }
}

}  // namespace penstock::emulator
