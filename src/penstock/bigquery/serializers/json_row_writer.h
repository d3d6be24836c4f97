#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/encoding/parse_result.h"
#include "penstock/bigquery/serializers/json_plan.h"
#include "penstock/connector/row_batch.h"
#include "penstock/formats/json/json_cursor.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::bigquery {

/// Runs a plan over the tokens of one document and writes the row's bytes as it goes. Fields of a
/// row stand in the order of their numbers (BQT-007): those of a document with another order are
/// put right once per object. Allocates nothing once its buffers have grown, except for a message.
class JsonRowWriter {
 public:
  /// `plan` outlives the writer.
  JsonRowWriter(const JsonPlan& plan, bool ignoreUnknownFields);

  /// Writes `document`, whose first token is at `cursor`, to the end of `row` and leaves the cursor
  /// behind it. The index may go on behind the document. On false `failure()` says why and `row`
  /// holds part of the document.
  [[nodiscard]] bool write(std::string_view document, formats::JsonCursor* cursor,
                           connector::RowEncoder& row);

  /// INVALID_ARGUMENT: "root.a.b[2] (INT64): not an integer; found \"x\"" (BQT-059).
  [[nodiscard]] absl::Status failure() const;

 private:
  struct Span {
    uint32_t begin;
    uint32_t end;
  };
  /// What is kept of an object while it is walked.
  struct Frame {
    uint64_t* seen;  // one bit a column
    Span* spans;     // by column: where its bytes are, if it was seen
    size_t unknownKeys;
    size_t rowBegin;
  };

  // The walk. Each takes tokens; false: failed.
  bool openContainer();
  bool writeLevel(const JsonLevel& level);
  bool writeMembers(const JsonLevel& level, const Frame& frame, bool* isOrdered);
  bool writeMember(const JsonField& field, const Frame& frame);
  bool takeNull(const JsonField& field);
  bool writeRepeated(const JsonField& field);
  bool writeElement(const JsonField& field);
  bool writeValue(const JsonField& field);
  bool closeLevel(const JsonLevel& level, const Frame& frame, bool isOrdered);
  bool takeUnknown();
  const JsonField* findField(const JsonLevel& level);
  void reorder(const JsonLevel& level, const Frame& frame);

  // One value with its tag.
  bool writeString(const JsonField& field);
  bool writeStringToken(const JsonField& field);
  bool writeEscapedString(const JsonField& field, std::string_view raw);
  bool writeInt64(const JsonField& field);
  bool writeDouble(const JsonField& field);
  bool readLongDouble(const JsonField& field, double* value);
  bool writeBool(const JsonField& field);
  bool writeTimestamp(const JsonField& field);
  bool writeTimestampText(const JsonField& field);
  static ParseResult checkPicosecondTimestamp(std::string_view text);
  bool writeDate(const JsonField& field);
  bool writeTime(const JsonField& field);
  bool writeDatetime(const JsonField& field);
  bool writeNumeric(const JsonField& field);
  bool writeDecimal(const JsonField& field, DecimalKind kind);
  bool writeBytes(const JsonField& field);
  bool writeByteArray(const JsonField& field);
  bool writeJson(const JsonField& field);
  bool writeGeography(const JsonField& field);
  bool writeContainerText(const JsonField& field);
  bool writeStruct(const JsonField& field);

  /// A varint value and the next token is taken.
  bool putVarint(const JsonField& field, uint64_t value);
  /// Bytes with their length; no token is taken.
  void putBytes(const JsonField& field, std::string_view bytes);

  // Bytes of the row.
  void ensure(size_t bytes) {
    if (static_cast<size_t>(limit_ - to_) < bytes) [[unlikely]]
      grow(bytes);
  }
  void grow(size_t bytes);
  [[nodiscard]] size_t offset() const { return static_cast<size_t>(to_ - row_->rowData()); }
  void putTag(const JsonField& field) {
    std::memcpy(to_, field.tag.data(), field.tag.size());
    to_ += field.tagSize;
  }
  void putLength(size_t bytes);
  void resizeLength(size_t lengthAt, size_t laidOut, size_t size);

  /// The text that the string token stands for.
  bool readText(std::string_view* text);

  // Failures. All answer false.
  bool failValue(const JsonField& field, std::string_view reason);
  bool failKind(const JsonField& field);
  bool failMissing(const JsonField& field);
  bool failSyntax(const char* at, std::string_view reason);
  /// It is JSON, and no row can be made of it.
  bool failUnusable(const char* at, std::string_view reason);
  bool failFault() {
    return fault_.isSyntax ? failSyntax(fault_.at, fault_.reason)
                           : failUnusable(fault_.at, fault_.reason);
  }
  bool failAt(const char* at, std::string_view kind, std::string_view reason);
  bool failEnd();
  bool failDocument(std::string reason);
  bool failRoot();
  bool failUnknownKey(std::string_view key);
  bool check(const JsonField& field, ParseResult result);
  /// Whether the token that was taken last lies behind the document, which ends too early then.
  [[nodiscard]] bool hasLeftDocument() const;

  const JsonPlan& plan_;
  const bool ignoreUnknownFields_;

  formats::JsonCursor cursor_;
  std::string_view document_;
  size_t depth_ = 0;

  connector::RowEncoder* row_ = nullptr;
  char* to_ = nullptr;
  char* limit_ = nullptr;

  std::vector<uint64_t> seenWords_;
  uint64_t* seenTop_ = nullptr;
  std::vector<Span> spans_;
  Span* spanTop_ = nullptr;
  std::vector<uint8_t> lengthBytes_;  // by field: what the last STRUCT's length took
  formats::KeyLog unknownKeys_;
  formats::ValueChecker checker_;
  std::string text_;      // an unescaped string
  std::string keyText_;   // an unescaped key
  std::string keyLower_;  // a key in lower case
  std::string rowCopy_;   // a row whose fields are put in order

  formats::JsonFault fault_;
  bool endsEarly_ = false;
  std::string failureReason_;
  std::string failureType_;
  std::vector<std::string> failurePath_;  // innermost first: ".a", "[2]"
};

}  // namespace penstock::bigquery
