#include "penstock/emulator/service/row_rules.h"

#include <algorithm>

#include "penstock/emulator/service/json_text.h"
#include "penstock/emulator/service/value_text.h"

namespace penstock::emulator {
namespace {

using Problem = std::optional<RowProblem>;

/// Goes through the nodes of one row.
class Judge {
 public:
  explicit Judge(const RowDecoder& row) : row_(row) {}

  Problem judgeChildren(const RowNode& parent, const std::string& path) const {
    for (uint32_t index = parent.firstChild; index != RowNode::kNone;
         index = row_.node(index).nextSibling) {
      const RowNode& child = row_.node(index);
      const std::string& name = child.field->name;
      if (Problem problem = judge(child, path.empty() ? name : path + "." + name)) return problem;
    }
    return std::nullopt;
  }

 private:
  Problem judge(const RowNode& node, const std::string& path) const {
    switch (node.kind) {
      case RowNode::Kind::kNull:
        if (node.field->mode == FieldMode::kRequired) {
          return RowProblem{path, "the value of this REQUIRED column is missing"};
        }
        return std::nullopt;
      case RowNode::Kind::kList:
        for (uint32_t index = node.firstChild; index != RowNode::kNone;
             index = row_.node(index).nextSibling) {
          if (Problem problem = judge(row_.node(index), path)) return problem;
        }
        return std::nullopt;
      case RowNode::Kind::kStruct:
        return judgeChildren(node, path);
      case RowNode::Kind::kRange:
        return judgeRange(node, path);
      case RowNode::Kind::kScalar:
        return judgeScalar(node, path);
    }
    return std::nullopt;
  }

  Problem judgeRange(const RowNode& node, const std::string& path) const {
    const RowNode& start = row_.node(node.firstChild);
    const RowNode& end = row_.node(start.nextSibling);
    const bool bounded = start.kind == RowNode::Kind::kScalar && end.kind == RowNode::Kind::kScalar;
    if (bounded && start.integer >= end.integer) {
      return RowProblem{path, "the start of a RANGE must be less than its end"};
    }
    return std::nullopt;
  }

  static Problem judgeScalar(const RowNode& node, const std::string& path) {
    const Field& field = *node.field;
    switch (node.type) {
      case FieldType::kString:
      case FieldType::kBytes:
        return judgeLength(node, path);
      case FieldType::kNumeric:
      case FieldType::kBignumeric: {
        const DecimalType type = node.type == FieldType::kNumeric ? kNumericType : kBignumericType;
        if (field.precision == 0 || decimalFits(node.decimal, type, field.precision, field.scale)) {
          return std::nullopt;
        }
        return RowProblem{path, fmt::format("the value {} does not fit {}({}, {})",
                                            decimalText(node.decimal, type),
                                            restTypeName(node.type), field.precision, field.scale)};
      }
      case FieldType::kJson:
        if (isJsonText(node.text)) return std::nullopt;
        return RowProblem{path, "the value is not a JSON document"};
      case FieldType::kGeography:
        if (isGeographyText(node.text)) return std::nullopt;
        return RowProblem{path, "the value is not a GEOGRAPHY in WKT, GeoJSON or WKB"};
      case FieldType::kInterval:
        if (isIntervalText(node.text)) return std::nullopt;
        return RowProblem{path, "the value is not an INTERVAL of the form Y-M D H:M:S[.F]"};
      default:
        return std::nullopt;
    }
  }

  static Problem judgeLength(const RowNode& node, const std::string& path) {
    const Field& field = *node.field;
    if (field.maxLength == 0) return std::nullopt;
    const bool isString = node.type == FieldType::kString;
    const uint64_t length = isString ? countCharacters(node.text) : node.text.size();
    if (length <= static_cast<uint64_t>(field.maxLength)) return std::nullopt;
    return RowProblem{path, fmt::format("the value has {} {}, more than {}({}) takes", length,
                                        isString ? "characters" : "bytes", restTypeName(node.type),
                                        field.maxLength)};
  }

  const RowDecoder& row_;
};

}  // namespace

uint64_t countCharacters(std::string_view text) {
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;  // continuation bytes begin nothing
  }));
}

std::optional<RowProblem> findBrokenRule(const RowDecoder& row) {
  return Judge(row).judgeChildren(row.root(), "");
}

}  // namespace penstock::emulator
