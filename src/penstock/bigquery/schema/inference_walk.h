#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/schema/inferred_field.h"
#include "penstock/formats/json/json_cursor.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::bigquery {

/// Walks documents for schema inference and notes what the fields do not know yet. Learning waits
/// until the document has proved whole: a bad one leaves no trace. Keeps its memory.
class InferenceWalk {
 public:
  /// A value that is new to its field in some way.
  struct Observation {
    InferredField* field;
    bool element;  ///< of the field's array
    uint32_t kinds;
    uint8_t forms;
  };

  /// Columns of one table, on all levels: the service's limit.
  static constexpr size_t kMaxFields = 10'000;

  explicit InferenceWalk(InferredMembers& root) : root_(root) {}

  /// Walks `document`, whose first token is at `cursor`, and leaves the cursor behind it. The index
  /// may go on behind the document. On false `fault()` says why.
  [[nodiscard]] bool walk(std::string_view document, formats::JsonCursor* cursor);

  /// What the last walk found; valid until the next one.
  [[nodiscard]] std::span<const Observation> observations() const { return observations_; }
  /// The object that brought more fields than a table can have: null if all is well, else where it
  /// is.
  [[nodiscard]] const InferredMembers* crowded() const { return crowded_; }
  [[nodiscard]] const formats::JsonFault& fault() const { return fault_; }

 private:
  bool walkDocument();
  bool walkObject(InferredMembers& members);
  bool walkMember(InferredMembers& members, InferredField** field, uint64_t object);
  bool walkArray(InferredField& field);
  bool walkValue(InferredField& field, bool element);
  bool walkNested(InferredField& field, bool element);
  bool walkString(InferredField& field, bool element);
  bool walkNumber(InferredField& field, bool element);
  bool walkLiteral(InferredField& field, bool element);
  bool findField(InferredMembers& members, std::string_view rawKey, InferredField** field);
  bool openContainer();
  bool skipValue();

  void observe(InferredField& field, bool element, uint32_t kinds,
               uint8_t forms = string_form::kAll) {
    if (field.knows(element, kinds, forms)) [[likely]]
      return;
    observations_.push_back({&field, element, kinds, forms});
  }

  InferredMembers& root_;
  formats::JsonCursor cursor_;
  formats::JsonFault fault_;
  formats::ValueChecker checker_;
  std::vector<Observation> observations_;
  const InferredMembers* crowded_ = nullptr;
  std::string text_;      // an unescaped string or key
  size_t depth_ = 0;      // open containers
  int structs_ = 0;       // open objects
  size_t fields_ = 0;     // made so far
  uint64_t objects_ = 0;  // walked so far
};

}  // namespace penstock::bigquery
