#include "apps/penstock/destination_template.h"

#include <algorithm>
#include <iterator>

#include "penstock/formats/json/json_string.h"

namespace penstock::command {
namespace {

using bigquery::TableName;

constexpr std::string_view kForms =
    "expected PROJECT.DATASET.TABLE with fields like ${country}, ${user.id} or ${\"a.b\"}; $$ is a "
    "dollar";

}  // namespace

/// Reads the text into pieces, from left to right.
class DestinationTemplate::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Pieces> parse(std::vector<FieldPath>& fields) {
    Pieces pieces(1);
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != '$') {
        pieces.back().literal += c;
      } else if (take('$')) {
        pieces.back().literal += '$';
      } else if (take('{')) {
        PENSTOCK_ASSIGN_OR_RETURN(FieldPath field, parseField());
        const auto known = std::find(fields.begin(), fields.end(), field);
        pieces.back().field = static_cast<size_t>(known - fields.begin());
        if (known == fields.end()) fields.push_back(std::move(field));
        pieces.emplace_back();
      } else {
        return problem("a lone $");
      }
    }
    return pieces;
  }

 private:
  absl::StatusOr<FieldPath> parseField() {
    FieldPath path;
    do {
      PENSTOCK_ASSIGN_OR_RETURN(std::string name, take('"') ? parseQuoted() : parsePlain());
      if (name.empty()) return problem("a field without a name");
      path.push_back(std::move(name));
    } while (take('.'));
    if (!take('}')) return problem("a field that does not end with }");
    return path;
  }

  absl::StatusOr<std::string> parsePlain() {
    const size_t end = std::min(text_.find_first_of(".}\"{", at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(name);
  }

  absl::StatusOr<std::string> parseQuoted() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return problem("a quoted name without its end");
    std::string name;
    formats::JsonFault fault;
    if (!formats::unescapeString(text_.substr(begin, at_ - begin), &name, &fault)) {
      return problem(fault.reason);
    }
    ++at_;
    return name;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] absl::Status problem(std::string_view what) const {
    return base::invalidArgument("'{}' has {} at character {}: {}", text_, what,
                                 std::min(at_, text_.size()), kForms);
  }

  std::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<DestinationTemplate> DestinationTemplate::parse(std::string_view text) {
  DestinationTemplate result;
  result.text_ = std::string(text);
  PENSTOCK_ASSIGN_OR_RETURN(Pieces pieces, Parser(text).parse(result.fields_));
  // From the right: a project may have dots in it.
  for (Pieces* part : {&result.table_, &result.dataset_}) {
    const auto found = std::find_if(pieces.rbegin(), pieces.rend(), [](const Piece& piece) {
      return piece.literal.find('.') != std::string::npos;
    });
    if (found == pieces.rend()) {
      return base::invalidArgument("'{}' is not a table name: {}", text, kForms);
    }
    const size_t dot = found->literal.rfind('.');
    part->push_back({found->literal.substr(dot + 1), found->field});
    std::move(found.base(), pieces.end(), std::back_inserter(*part));
    pieces.erase(found.base(), pieces.end());
    pieces.back() = {pieces.back().literal.substr(0, dot), kNoField};
  }
  result.project_ = std::move(pieces);
  // With a letter for each value the name must be one: what stands around the fields is checked.
  const std::vector<std::string> sample(result.fields_.size(), "x");
  PENSTOCK_RETURN_IF_ERROR(base::withContext(result.render(sample).validate(),
                                             fmt::format("'{}' is not a table name", text)));
  return result;
}

DestinationTemplate DestinationTemplate::fixed(const TableName& table) {
  DestinationTemplate result;
  result.text_ = table.dotted();
  result.project_ = {{table.project}};
  result.dataset_ = {{table.dataset}};
  result.table_ = {{table.table}};
  return result;
}

TableName DestinationTemplate::render(std::span<const std::string> values) const {
  return {joined(project_, values), joined(dataset_, values), joined(table_, values)};
}

TableName DestinationTemplate::knownDataset() const {
  if (!isLiteral(project_) || !isLiteral(dataset_)) return {};
  return {joined(project_, {}), joined(dataset_, {}), {}};
}

std::string DestinationTemplate::nameOf(const FieldPath& field) {
  return fmt::format("{}", fmt::join(field, "."));
}

std::string DestinationTemplate::joined(const Pieces& pieces, std::span<const std::string> values) {
  std::string text;
  for (const Piece& piece : pieces) {
    text += piece.literal;
    if (piece.field != kNoField) text += values[piece.field];
  }
  return text;
}

bool DestinationTemplate::isLiteral(const Pieces& pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [](const Piece& piece) { return piece.field == kNoField; });
}

}  // namespace penstock::command
