// What JsonRowWriter says when a document cannot become a row (BQT-059). Never on the hot path.
#include "penstock/base/text.h"
#include "penstock/bigquery/serializers/json_row_writer.h"

namespace penstock::bigquery {
namespace {

using base::excerpt;

/// "a string", "an object": what stands at the cursor; empty if it is no JSON value.
std::string_view kindOf(const formats::JsonCursor& cursor) {
  switch (cursor.peek()) {
    case '"':
      return "a string";
    case '{':
      return "an object";
    case '[':
      return "an array";
    default:
      break;
  }
  const formats::JsonNumber number = formats::readNumber(cursor);
  if (!number.text.empty()) return number.isInteger ? "an integer" : "a decimal number";
  switch (formats::readLiteral(cursor)) {
    case formats::JsonLiteral::kNull:
      return "null";
    case formats::JsonLiteral::kTrue:
    case formats::JsonLiteral::kFalse:
      return "a boolean";
    case formats::JsonLiteral::kNone:
      return "";
  }
  return "";
}

}  // namespace

absl::Status JsonRowWriter::failure() const {
  // How far the walk got behind a document's end says nothing.
  if (endsEarly_) return base::invalidArgument("root: {}", failureReason_);
  std::string path = "root";
  for (auto step = failurePath_.rbegin(); step != failurePath_.rend(); ++step) path += *step;
  if (failureType_.empty()) return base::invalidArgument("{}: {}", path, failureReason_);
  return base::invalidArgument("{} ({}): {}", path, failureType_, failureReason_);
}

bool JsonRowWriter::failValue(const JsonField& field, std::string_view reason) {
  const char* const documentEnd = document_.data() + document_.size();
  if (cursor_.at() >= documentEnd) return failEnd();
  failureType_ = field.type;
  const char c = cursor_.peek();
  std::string_view value = formats::tokenText(cursor_);
  if (c == '{' || c == '[') {
    value = {cursor_.at(), static_cast<size_t>(documentEnd - cursor_.at())};
  }
  failureReason_ = fmt::format("{}; found {}", reason, excerpt(value));
  return false;
}

bool JsonRowWriter::failKind(const JsonField& field) {
  const std::string_view kind = kindOf(cursor_);
  if (kind.empty()) {
    const char c = cursor_.peek();
    const bool isNumber = c == '-' || formats::isDigit(c);
    return failSyntax(cursor_.at(),
                      isNumber ? "not a number as JSON writes it" : "a value is expected here");
  }
  return failValue(field, fmt::format("{} cannot become a value of this column", kind));
}

bool JsonRowWriter::check(const JsonField& field, ParseResult result) {
  return result.ok() || failValue(field, result.reason());
}

bool JsonRowWriter::failMissing(const JsonField& field) {
  if (hasLeftDocument()) return failEnd();
  failureType_ = field.type;
  failureReason_ = "the column is REQUIRED and has no value";
  failurePath_.push_back("." + field.name);
  return false;
}

bool JsonRowWriter::failSyntax(const char* at, std::string_view reason) {
  return failAt(at, "malformed", reason);
}

bool JsonRowWriter::failUnusable(const char* at, std::string_view reason) {
  return failAt(at, "unusable", reason);
}

bool JsonRowWriter::failAt(const char* at, std::string_view kind, std::string_view reason) {
  if (at >= document_.data() + document_.size()) return failEnd();
  failureType_.clear();
  const auto position = static_cast<size_t>(at - document_.data());
  failureReason_ = fmt::format("{} JSON at byte {}: {}; found {}", kind, position + 1, reason,
                               excerpt(document_.substr(position)));
  return false;
}

bool JsonRowWriter::failEnd() {
  endsEarly_ = true;
  failureReason_ = fmt::format("malformed JSON: it ends at byte {}, too early", document_.size());
  return false;
}

bool JsonRowWriter::hasLeftDocument() const {
  return cursor_.text + cursor_.next[-1] >= document_.data() + document_.size();
}

bool JsonRowWriter::failDocument(std::string reason) {
  failureType_.clear();
  failureReason_ = std::move(reason);
  return false;
}

bool JsonRowWriter::failRoot() {
  const std::string_view kind = kindOf(cursor_);
  if (kind.empty()) return failSyntax(cursor_.at(), "a JSON object is expected here");
  return failDocument(
      fmt::format("the document is {}, not an object; found {}", kind, excerpt(document_)));
}

bool JsonRowWriter::failUnknownKey(std::string_view key) {
  if (hasLeftDocument()) return failEnd();
  failureType_.clear();
  failureReason_ = "the table has no such column (ignoreUnknownFields would drop it)";
  failurePath_.push_back(fmt::format(".{}", excerpt(key)));
  return false;
}

}  // namespace penstock::bigquery
