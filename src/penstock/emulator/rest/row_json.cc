#include "penstock/emulator/rest/row_json.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "penstock/emulator/rest/stored_text.h"
#include "penstock/emulator/rows/civil_time.h"

namespace penstock::emulator {
namespace {

/// Lays out the number 0.DIGITS * 10^pointPosition: plainly from 0.001 up to below ten million,
/// with an exponent outside, and always with a fraction digit.
std::string layOut(bool negative, std::string digits, int pointPosition) {
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::string text = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (pointPosition > 7 || pointPosition < -2) {
    text += digits[0];
    text += '.';
    text += count > 1 ? digits.substr(1) : "0";
    return text + fmt::format("E{}", pointPosition - 1);
  }
  if (pointPosition <= 0)
    return text + "0." + std::string(static_cast<size_t>(-pointPosition), '0') + digits;
  if (pointPosition >= count)
    return text + digits + std::string(static_cast<size_t>(pointPosition - count), '0') + ".0";
  return text + digits.substr(0, static_cast<size_t>(pointPosition)) + "." +
         digits.substr(static_cast<size_t>(pointPosition));
}

/// Writes the values of one decoded row.
class RowWriter {
 public:
  RowWriter(const RowDecoder& decoder, TimestampForm timestamps, std::string& out)
      : decoder_(decoder), timestamps_(timestamps), out_(out) {}

  void writeStruct(const RowNode& node, const std::vector<FieldSelection::Column>& columns) {
    out_ += "{\"f\":[";
    bool first = true;
    for (const FieldSelection::Column& column : columns) {
      if (!first) out_ += ',';
      first = false;
      // The columns of a struct lie one behind the other.
      writeCell(decoder_.node(node.firstChild + column.index), column);
    }
    out_ += "]}";
  }

 private:
  void writeCell(const RowNode& node, const FieldSelection::Column& column) {
    out_ += "{\"v\":";
    writeValue(node, column);
    out_ += '}';
  }

  void writeValue(const RowNode& node, const FieldSelection::Column& column) {
    switch (node.kind) {
      case RowNode::Kind::kNull:
        out_ += "null";
        return;
      case RowNode::Kind::kStruct:
        writeStruct(node, column.children);
        return;
      case RowNode::Kind::kRange:
        writeRange(node);
        return;
      case RowNode::Kind::kList:
        writeList(node, column);
        return;
      case RowNode::Kind::kScalar:
        writeScalar(node);
        return;
    }
  }

  void writeScalar(const RowNode& node) {
    switch (node.type) {
      case FieldType::kString:
      case FieldType::kGeography:
        appendJsonString(node.text, out_);
        return;
      case FieldType::kJson:
        appendJsonString(shownJson(node.text), out_);
        return;
      case FieldType::kInterval:
        appendJsonString(shownInterval(node.text), out_);
        return;
      default:
        // Nothing in the text of the other types needs escaping.
        out_ += '"';
        out_ += scalarText(node, timestamps_);
        out_ += '"';
    }
  }

  void writeList(const RowNode& node, const FieldSelection::Column& column) {
    out_ += '[';
    for (uint32_t child = node.firstChild; child != RowNode::kNone;
         child = decoder_.node(child).nextSibling) {
      if (child != node.firstChild) out_ += ',';
      writeCell(decoder_.node(child), column);
    }
    out_ += ']';
  }

  void writeRange(const RowNode& node) {
    out_ += "\"[" + rangeEnd(decoder_.node(node.firstChild)) + ", " +
            rangeEnd(decoder_.node(node.lastChild)) + ")\"";
  }

  /// The ends of a range of timestamps are written like the timestamps of other columns.
  std::string rangeEnd(const RowNode& node) const {
    return node.kind == RowNode::Kind::kNull ? "UNBOUNDED" : scalarText(node, timestamps_);
  }

  static std::string timestampText(const RowNode& node, TimestampForm form) {
    switch (form) {
      case TimestampForm::kMicros:
        return std::to_string(node.integer);
      case TimestampForm::kSeconds:
        return timestampSecondsText(node.integer);
      case TimestampForm::kIso8601:
        break;
    }
    std::string text = datetimeText(node.integer);
    if (node.picoseconds != 0) {
      if (text.find('.') == std::string::npos) text += ".000000";
      text += fmt::format("{:06}", node.picoseconds);
    }
    return text + "Z";
  }

  static std::string scalarText(const RowNode& node, TimestampForm timestamps) {
    switch (node.type) {
      case FieldType::kInt64:
        return std::to_string(node.integer);
      case FieldType::kBool:
        return node.integer != 0 ? "true" : "false";
      case FieldType::kFloat64:
        return floatText(node.real);
      case FieldType::kBytes:
        return absl::Base64Escape({node.text.data(), node.text.size()});
      case FieldType::kDate:
        return dateText(node.integer);
      case FieldType::kTime:
        return timeText(node.integer);
      case FieldType::kDatetime:
        return datetimeText(node.integer);
      case FieldType::kTimestamp:
        return timestampText(node, timestamps);
      case FieldType::kNumeric:
        return decimalText(node.decimal, kNumericType);
      case FieldType::kBignumeric:
        return decimalText(node.decimal, kBignumericType);
      default:
        return std::string(node.text);
    }
  }

  const RowDecoder& decoder_;
  const TimestampForm timestamps_;
  std::string& out_;
};

}  // namespace

void appendRowJson(const RowDecoder& decoder, const FieldSelection& selection,
                   TimestampForm timestamps, std::string& out) {
  RowWriter(decoder, timestamps, out).writeStruct(decoder.root(), selection.columns);
}

void appendJsonString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string floatText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific)
          .ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t mark = text.find('e');
  std::string digits(text.substr(0, 1));
  if (mark > 2) digits += text.substr(2, mark - 2);
  const int exponent = std::atoi(std::string(text.substr(mark + 1)).c_str());
  return layOut(value < 0, std::move(digits), exponent + 1);
}

std::string timestampSecondsText(int64_t micros) {
  if (micros == 0) return "0.0";
  const std::string digits = std::to_string(micros < 0 ? -micros : micros);
  return layOut(micros < 0, digits, static_cast<int>(digits.size()) - 6);
}

}  // namespace penstock::emulator
