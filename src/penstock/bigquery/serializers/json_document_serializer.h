#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/connector/row_batch.h"
#include "penstock/formats/json/padded_text.h"

namespace penstock::bigquery {

struct JsonDocumentOptions {
  /// Keys that name no column are dropped, at every level, instead of failing the document
  /// (BQT-058). What is dropped is still checked to be JSON. Default: off.
  bool ignoreUnknownFields = false;
};

/// Turns JSON documents into rows of a table (BQT-050 to BQT-059). The schema is compiled once; a
/// document is walked once and its row written in place. Strict: a document that is not exactly one
/// JSON object by RFC 8259, holds a key twice, or has a value that its column cannot hold exactly,
/// is refused.
///
/// A number for a TIMESTAMP column counts microseconds since 1970, never seconds or milliseconds
/// (BQT-059).
///
/// One thread at a time; memory is kept from document to document, so that none is allocated per
/// row.
class JsonDocumentSerializer {
 public:
  /// Errors are configuration errors that name the column: INVALID_ARGUMENT.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<JsonDocumentSerializer>> create(
      const TableSchema& schema, const JsonDocumentOptions& options = {});
  ~JsonDocumentSerializer();
  JsonDocumentSerializer(const JsonDocumentSerializer&) = delete;
  JsonDocumentSerializer& operator=(const JsonDocumentSerializer&) = delete;

  /// Writes the row of `document` to the end of `row`. An error is INVALID_ARGUMENT, names the path
  /// as `root.a.b[2]`, the column's type and the reason, and leaves some bytes in `row`: discard
  /// it.
  [[nodiscard]] absl::Status serialize(formats::PaddedText document, connector::RowEncoder& row);
  /// The same for a text that need not be padded: it is copied first.
  [[nodiscard]] absl::Status serialize(std::string_view document, connector::RowEncoder& row);

  /// Announces documents that are about to be serialized, so that they can be indexed many at a
  /// time. They lie in one buffer in this order, with whitespace or commas between them and
  /// `formats::kJsonPadding` readable bytes behind each (any others are taken one by one). Array
  /// and texts stay as they are until the next call.
  void beginBatch(std::span<const std::string_view> documents);
  /// The same as `serialize` for one of them. Fast in rising order; any order and repetition is
  /// fine.
  [[nodiscard]] absl::Status serializeFromBatch(size_t document, connector::RowEncoder& row);

 private:
  class Implementation;
  explicit JsonDocumentSerializer(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::bigquery
