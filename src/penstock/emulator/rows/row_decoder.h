#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/emulator/catalog/schema.h"
#include "penstock/emulator/rows/decimal.h"
#include "penstock/emulator/rows/row_plan.h"
#include "penstock/emulator/rows/wire_reader.h"

namespace penstock::emulator {

/// One value of a decoded row. The values of a row form a tree that lies flat in the decoder: a
/// STRUCT's children are its columns, in order, those of a REPEATED column its elements, a RANGE's
/// start and end.
struct RowNode {
  enum class Kind : uint8_t {
    kNull,    ///< NULL; in a RANGE: unbounded
    kScalar,  ///< a value, in the member that belongs to field->type
    kStruct,
    kRange,
    kList,  ///< of a REPEATED column; without children when no element was written
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  Kind kind = Kind::kNull;
  const Field* field = nullptr;         ///< null only for the root
  FieldType type = FieldType::kStruct;  ///< of the value itself: of a RANGE's ends the element type
  uint32_t firstChild = kNone;
  uint32_t lastChild = kNone;
  uint32_t nextSibling = kNone;

  /// INT64; BOOL as 0 or 1; DATE in days from 1970-01-01; TIME in µs of the day; DATETIME in µs
  /// from 1970-01-01T00:00:00; TIMESTAMP in µs from the epoch (rounded down).
  int64_t integer = 0;
  int32_t picoseconds = 0;  ///< TIMESTAMP: what is finer than a µs
  double real = 0;          ///< FLOAT64
  std::string_view text;    ///< STRING, BYTES, GEOGRAPHY, JSON, INTERVAL: bytes of the row, valid
                            ///< UTF-8 but for BYTES
  Decimal decimal;          ///< NUMERIC, BIGNUMERIC
};

/// What is wrong with a row.
struct RowProblem {
  std::string path;     ///< dotted, of the column; empty when the row as a whole is unreadable
  std::string message;  ///< without the path
};

/// Reads rows by a plan, keeping its memory from row to row. Checks what the encodings of the
/// values ask for (BQT-090 to BQT-095: ranges, calendar, UTF-8, decimal bounds) and nothing that
/// the columns ask for beyond their type (REQUIRED, lengths, precision). One thread at a time.
class RowDecoder {
 public:
  explicit RowDecoder(std::shared_ptr<const RowPlan> plan);

  /// The problem of the first value that is wrong; nothing when the row is fine, whose nodes then
  /// stand until the next call and point into `row`.
  std::optional<RowProblem> decode(std::string_view row);

  [[nodiscard]] const RowNode& root() const { return nodes_.front(); }
  [[nodiscard]] const RowNode& node(uint32_t index) const { return nodes_[index]; }
  [[nodiscard]] const RowPlan& plan() const { return *plan_; }

 private:
  uint32_t addNode(const Field* field, FieldType type);
  void link(uint32_t parent, uint32_t child);
  void addColumns(uint32_t parent, const MessagePlan& plan);
  uint32_t valueNode(const FieldPlan& field, uint32_t column);
  std::optional<RowProblem> decodeMessage(const MessagePlan& plan, std::string_view bytes,
                                          uint32_t parent);
  std::optional<RowProblem> decodePacked(const FieldPlan& field, WireReader& reader,
                                         uint32_t column);
  std::optional<RowProblem> decodeNumber(const FieldPlan& field, WireReader& reader,
                                         uint32_t column);
  std::optional<RowProblem> decodeValue(const FieldPlan& field, std::string_view content,
                                        uint32_t column);

  std::shared_ptr<const RowPlan> plan_;
  std::vector<RowNode> nodes_;
  std::deque<std::string> intervals_;  ///< texts that a row does not hold itself
};

}  // namespace penstock::emulator
