#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/table_name.h"

namespace penstock::command {

/// The table that records go to: one name, or one whose parts come from each record's fields:
/// `my-project.logs.events_${country}`, `p.${tenant.id}.t`.
///
/// `${a.b}` is the field `b` of the object `a`; a name with a dot, a brace or a quote in it stands
/// in JSON's quotes: `${"a.b"}`. `$$` is a dollar; any other `$` is refused. Dots that separate
/// project, dataset and table are those of the text, never of a value.
class DestinationTemplate {
 public:
  /// Errors name the text, the place and what is expected.
  [[nodiscard]] static absl::StatusOr<DestinationTemplate> parse(std::string_view text);

  /// One table, whatever characters its name has.
  [[nodiscard]] static DestinationTemplate fixed(const bigquery::TableName& table);

  /// As it was given.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// No field in it: every record goes to `table()`.
  [[nodiscard]] bool isFixed() const { return fields_.empty(); }

  /// The name with `values`, one for each of `fields()`, put in. Not checked.
  [[nodiscard]] bigquery::TableName render(std::span<const std::string> values) const;
  /// The one table of a template without fields.
  [[nodiscard]] bigquery::TableName table() const { return render({}); }
  /// A table of the dataset, if project and dataset have no field in them: empty strings otherwise.
  [[nodiscard]] bigquery::TableName knownDataset() const;

  /// A field, by the names that lead to it from the record's outermost object.
  using FieldPath = std::vector<std::string>;
  /// Each field once, in the order of appearance.
  [[nodiscard]] const std::vector<FieldPath>& fields() const { return fields_; }
  /// The field as the text names it, for messages: "tenant.id".
  [[nodiscard]] static std::string nameOf(const FieldPath& field);

 private:
  /// Text, then the value of a field (if any).
  struct Piece {
    std::string literal;
    size_t field = kNoField;
  };
  using Pieces = std::vector<Piece>;
  static constexpr size_t kNoField = SIZE_MAX;

  class Parser;
  static std::string joined(const Pieces& pieces, std::span<const std::string> values);
  static bool isLiteral(const Pieces& pieces);

  std::string text_;
  Pieces project_;
  Pieces dataset_;
  Pieces table_;
  std::vector<FieldPath> fields_;
};

}  // namespace penstock::command
