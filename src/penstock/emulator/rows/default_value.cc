#include "penstock/emulator/rows/default_value.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/wire_reader.h"
#include "penstock/emulator/rows/wire_writer.h"

namespace penstock::emulator {
namespace {

using google::protobuf::FieldDescriptorProto;

bool isWordCharacter(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char character) {
    return static_cast<char>(std::toupper(character));
  });
  return result;
}

/// The type that a literal's prefix gives it: DATE '2026-07-26'.
std::optional<FieldType> typeOfPrefix(std::string_view word) {
  if (word == "DECIMAL") return FieldType::kNumeric;
  if (word == "BIGDECIMAL") return FieldType::kBignumeric;
  for (const FieldType type :
       {FieldType::kDate, FieldType::kTime, FieldType::kDatetime, FieldType::kTimestamp,
        FieldType::kNumeric, FieldType::kBignumeric, FieldType::kJson, FieldType::kInterval}) {
    if (restTypeName(type) == word) return type;
  }
  return std::nullopt;
}

int64_t microsOf(base::WallTime time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

std::string uuid(base::Random& random) {
  const uint64_t high = (random.next() & ~uint64_t{0xF000}) | 0x4000;                 // version 4
  const uint64_t low = (random.next() & ~(uint64_t{3} << 62)) | (uint64_t{1} << 63);  // its variant
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

}  // namespace

/// Reads one expression. What it reads is what a value of the column's type may be written as.
class DefaultValue::Parser {
 public:
  explicit Parser(const Field& field) : field_(field), left_(field.defaultValueExpression) {}

  absl::StatusOr<DefaultValue> parse() {
    DefaultValue value;
    value.type_ = field_.type;
    value.repeated_ = field_.mode == FieldMode::kRepeated;
    skipSpace();
    if (takeWord("NULL")) {
      PENSTOCK_RETURN_IF_ERROR(expectEnd());
      return value;
    }
    if (field_.type == FieldType::kStruct || field_.type == FieldType::kRange) {
      return base::notSupported(
          "The default value of column {} ({}) is not supported yet by this emulator: a {} has no "
          "default here but NULL.",
          field_.name, field_.defaultValueExpression, restTypeName(field_.type));
    }
    if (value.repeated_) {
      PENSTOCK_RETURN_IF_ERROR(parseArray(value.elements_));
    } else {
      PENSTOCK_ASSIGN_OR_RETURN(Element element, parseElement());
      value.elements_.push_back(std::move(element));
    }
    PENSTOCK_RETURN_IF_ERROR(expectEnd());
    return value;
  }

 private:
  [[nodiscard]] absl::Status invalid(std::string_view why) const {
    return base::invalidArgument("Invalid default value expression for column {}: {}: {}",
                                 field_.name, field_.defaultValueExpression, why);
  }
  [[nodiscard]] absl::Status wrongType(std::string_view found) const {
    return invalid(
        fmt::format("{} cannot be the value of a {} column", found, restTypeName(field_.type)));
  }

  void skipSpace() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0) {
      left_.remove_prefix(1);
    }
  }
  bool take(char expected) {
    skipSpace();
    if (left_.empty() || left_.front() != expected) return false;
    left_.remove_prefix(1);
    return true;
  }
  std::string_view peekWord() {
    skipSpace();
    size_t length = 0;
    while (length < left_.size() && isWordCharacter(left_[length])) ++length;
    return left_.substr(0, length);
  }
  bool takeWord(std::string_view expected) {
    const std::string_view word = peekWord();
    if (upper(word) != expected) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  absl::Status expectEnd() {
    skipSpace();
    if (left_.empty()) return absl::OkStatus();
    return invalid(fmt::format("nothing may follow, but \"{}\" does", left_));
  }

  absl::Status parseArray(std::vector<Element>& elements) {
    takeWord("ARRAY");
    if (!take('[')) return invalid("a REPEATED column takes an array: [...]");
    if (take(']')) return absl::OkStatus();
    do {
      PENSTOCK_ASSIGN_OR_RETURN(Element element, parseElement());
      elements.push_back(std::move(element));
    } while (take(','));
    return take(']') ? absl::OkStatus() : invalid("the array is not closed by ]");
  }

  absl::StatusOr<Element> parseElement() {
    skipSpace();
    if (left_.empty()) return invalid("a value is missing");
    const char first = left_.front();
    const std::string word = upper(peekWord());
    const bool isPrefixOfText = word == "R" || word == "B" || word == "RB" || word == "BR";
    if (first == '\'' || first == '"' ||
        (isPrefixOfText && left_.size() > word.size() && isQuote(left_[word.size()]))) {
      PENSTOCK_ASSIGN_OR_RETURN(std::string text, parseText());
      return convertText(std::move(text), word.find('B') != std::string::npos);
    }
    if (first == '-' || first == '+' || first == '.' || std::isdigit(first) != 0) {
      return parseNumber();
    }
    if (word == "TRUE" || word == "FALSE") {
      takeWord(word);
      if (field_.type != FieldType::kBool) return wrongType("a BOOL");
      Element element;
      element.integer = word == "TRUE" ? 1 : 0;
      return element;
    }
    if (const std::optional<FieldType> type = typeOfPrefix(word)) return parseTyped(word, *type);
    if (word == "ST_GEOGPOINT") return parsePoint();
    return parseFunction(word);
  }

  static bool isQuote(char character) { return character == '\'' || character == '"'; }

  absl::StatusOr<Element> parseTyped(const std::string& word, FieldType type) {
    takeWord(word);
    skipSpace();
    if (left_.empty() || !isQuote(left_.front())) {
      return invalid(fmt::format("{} must be followed by a literal in quotes", word));
    }
    PENSTOCK_ASSIGN_OR_RETURN(std::string text, parseText());
    const bool widens = (type == FieldType::kNumeric && field_.type == FieldType::kBignumeric) ||
                        (type == FieldType::kDate && field_.type == FieldType::kDatetime);
    if (type != field_.type && !widens) return wrongType(fmt::format("a {}", word));
    Element element;
    element.text = std::move(text);
    return element;
  }

  /// A literal in quotes becomes what the column is: '2026-07-26' is a DATE where one is asked for.
  absl::StatusOr<Element> convertText(std::string text, bool isBytes) const {
    const bool takesText = field_.type == FieldType::kString || field_.type == FieldType::kDate ||
                           field_.type == FieldType::kTime || field_.type == FieldType::kDatetime ||
                           field_.type == FieldType::kTimestamp ||
                           field_.type == FieldType::kGeography;
    if (isBytes ? field_.type != FieldType::kBytes : !takesText) {
      return wrongType(isBytes ? "BYTES" : "a STRING");
    }
    Element element;
    element.text = std::move(text);
    return element;
  }

  absl::StatusOr<std::string> parseText() {
    bool raw = false;
    while (!isQuote(left_.front())) {
      raw = raw || std::toupper(left_.front()) == 'R';
      left_.remove_prefix(1);
    }
    const std::string_view triple = left_.substr(0, 3);
    const bool isTriple = triple == "'''" || triple == "\"\"\"";
    const std::string close(isTriple ? triple : left_.substr(0, 1));
    left_.remove_prefix(close.size());
    std::string text;
    while (!left_.starts_with(close)) {
      if (left_.empty() || (left_.front() == '\n' && !isTriple)) {
        return invalid("a literal in quotes does not end");
      }
      if (left_.front() == '\\') {
        PENSTOCK_RETURN_IF_ERROR(parseEscape(raw, text));
      } else {
        text += left_.front();
        left_.remove_prefix(1);
      }
    }
    left_.remove_prefix(close.size());
    return text;
  }

  absl::Status parseEscape(bool raw, std::string& text) {
    constexpr std::string_view kNames = "abfnrtv\\?\"'`";
    constexpr std::string_view kCharacters = "\a\b\f\n\r\t\v\\?\"'`";
    if (left_.size() < 2) return invalid("a literal in quotes does not end");
    const char name = left_[1];
    if (raw) {
      text.append(left_.substr(0, 2));
      left_.remove_prefix(2);
      return absl::OkStatus();
    }
    if (const size_t found = kNames.find(name); found != std::string_view::npos) {
      text += kCharacters[found];
      left_.remove_prefix(2);
      return absl::OkStatus();
    }
    const bool isHex = name == 'x' || name == 'X';
    uint32_t value = 0;
    if (isHex && left_.size() >= 4 &&
        absl::SimpleHexAtoi(std::string(left_.substr(2, 2)), &value)) {
      text += static_cast<char>(value);
      left_.remove_prefix(4);
      return absl::OkStatus();
    }
    return invalid(fmt::format("the escape \\{} is not one that is read here", name));
  }

  absl::StatusOr<Element> parseNumber() {
    skipSpace();
    size_t length = 0;
    while (length < left_.size() &&
           (isWordCharacter(left_[length]) || left_[length] == '.' ||
            (isSign(left_[length]) && (length == 0 || isExponent(left_[length - 1]))))) {
      ++length;
    }
    std::string text(left_.substr(0, length));
    left_.remove_prefix(length);
    if (text.starts_with('+')) text.erase(0, 1);
    Element element;
    switch (field_.type) {
      case FieldType::kInt64:
        if (!parseInteger(text, element.integer)) return wrongType(text);
        return element;
      case FieldType::kFloat64:
        if (!absl::SimpleAtod(text, &element.real)) return wrongType(text);
        return element;
      case FieldType::kNumeric:
      case FieldType::kBignumeric:
        element.text = std::move(text);
        return element;
      default:
        return wrongType("a number");
    }
  }
  static bool isSign(char character) { return character == '-' || character == '+'; }
  static bool isExponent(char character) { return character == 'e' || character == 'E'; }

  static bool parseInteger(const std::string& text, int64_t& value) {
    const bool isNegative = text.starts_with('-');
    const std::string digits = text.substr(isNegative ? 1 : 0);
    if (!digits.starts_with("0x") && !digits.starts_with("0X")) {
      return absl::SimpleAtoi(text, &value);
    }
    uint64_t magnitude = 0;
    if (!absl::SimpleHexAtoi(digits, &magnitude)) return false;
    if (magnitude > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
    value = isNegative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    return true;
  }

  absl::StatusOr<Element> parsePoint() {
    if (field_.type != FieldType::kGeography) return wrongType("a GEOGRAPHY");
    takeWord("ST_GEOGPOINT");
    std::array<double, 2> position{};
    if (!take('(')) return invalid("ST_GEOGPOINT takes (longitude, latitude)");
    for (size_t index = 0; index < position.size(); ++index) {
      if (index > 0 && !take(',')) return invalid("ST_GEOGPOINT takes (longitude, latitude)");
      skipSpace();
      const size_t length = std::min(left_.find_first_of(",) \t\n"), left_.size());
      if (!absl::SimpleAtod(std::string(left_.substr(0, length)), &position[index])) {
        return invalid("ST_GEOGPOINT takes two numbers");
      }
      left_.remove_prefix(length);
    }
    if (!take(')')) return invalid("ST_GEOGPOINT takes (longitude, latitude)");
    Element element;
    element.text = fmt::format("POINT({} {})", position[0], position[1]);
    return element;
  }

  absl::StatusOr<Element> parseFunction(const std::string& word) {
    struct Known {
      std::string_view name;
      Function function;
      FieldType type;
      bool needsParentheses;
    };
    constexpr std::array<Known, 7> kKnown{{
        {"CURRENT_DATE", Function::kCurrentDate, FieldType::kDate, false},
        {"CURRENT_DATETIME", Function::kCurrentDatetime, FieldType::kDatetime, false},
        {"CURRENT_TIME", Function::kCurrentTime, FieldType::kTime, false},
        {"CURRENT_TIMESTAMP", Function::kCurrentTimestamp, FieldType::kTimestamp, false},
        {"GENERATE_UUID", Function::kGenerateUuid, FieldType::kString, true},
        {"RAND", Function::kRand, FieldType::kFloat64, true},
        {"SESSION_USER", Function::kSessionUser, FieldType::kString, true},
    }};
    const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                           [&](const Known& each) { return each.name == word; });
    if (known == kKnown.end()) {
      return invalid(
          "only literals, arrays of literals and the functions CURRENT_DATE, CURRENT_DATETIME, "
          "CURRENT_TIME, CURRENT_TIMESTAMP, GENERATE_UUID, RAND, SESSION_USER and ST_GEOGPOINT "
          "are allowed");
    }
    takeWord(word);
    const bool opened = take('(');
    if (opened ? !take(')') : known->needsParentheses) {
      return invalid(fmt::format("{} takes () without arguments", word));
    }
    if (known->type != field_.type) {
      return wrongType(fmt::format("the {} of {}", restTypeName(known->type), word));
    }
    Element element;
    element.function = known->function;
    return element;
  }

  const Field& field_;
  std::string_view left_;
};

absl::StatusOr<DefaultValue> DefaultValue::parse(const Field& field) {
  return Parser(field).parse();
}

void DefaultValue::describe(FieldDescriptorProto& field) const {
  field.set_label(repeated_ ? FieldDescriptorProto::LABEL_REPEATED
                            : FieldDescriptorProto::LABEL_OPTIONAL);
  switch (type_) {
    case FieldType::kInt64:
      return field.set_type(FieldDescriptorProto::TYPE_INT64);
    case FieldType::kBool:
      return field.set_type(FieldDescriptorProto::TYPE_BOOL);
    case FieldType::kFloat64:
      return field.set_type(FieldDescriptorProto::TYPE_DOUBLE);
    case FieldType::kBytes:
      return field.set_type(FieldDescriptorProto::TYPE_BYTES);
    default:
      return field.set_type(FieldDescriptorProto::TYPE_STRING);
  }
}

std::string DefaultValue::textOf(Function function, base::WallTime now, base::Random& random) {
  const int64_t micros = microsOf(now);
  switch (function) {
    case Function::kCurrentDate:
      return datetimeText(micros).substr(0, 10);
    case Function::kCurrentDatetime:
      return datetimeText(micros);
    case Function::kCurrentTime:
      return datetimeText(micros).substr(11);
    case Function::kCurrentTimestamp:
      return datetimeText(micros) + "Z";
    case Function::kGenerateUuid:
      return uuid(random);
    case Function::kSessionUser:
      return "emulator@penstock.invalid";
    case Function::kNone:
    case Function::kRand:
      break;
  }
  return "";
}

void DefaultValue::appendTo(uint32_t number, base::WallTime now, base::Random& random,
                            std::string& row) const {
  for (const Element& element : elements_) appendElement(element, number, now, random, row);
}

void DefaultValue::appendElement(const Element& element, uint32_t number, base::WallTime now,
                                 base::Random& random, std::string& row) const {
  const auto appendTag = [&](uint32_t wireType) {
    appendVarint(uint64_t{number} << 3 | wireType, row);
  };
  if (type_ == FieldType::kInt64 || type_ == FieldType::kBool) {
    appendTag(WireReader::kVarint);
    appendVarint(static_cast<uint64_t>(element.integer), row);
    return;
  }
  if (type_ == FieldType::kFloat64) {
    const double real = element.function == Function::kRand ? random.uniform() : element.real;
    appendTag(WireReader::kFixed64);
    const auto bits = std::bit_cast<uint64_t>(real);
    row.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    return;
  }
  const std::string text =
      element.function == Function::kNone ? element.text : textOf(element.function, now, random);
  appendTag(WireReader::kLength);
  appendVarint(text.size(), row);
  row += text;
}

}  // namespace penstock::emulator
