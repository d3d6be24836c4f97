#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bigquery {

struct SchemaInferenceOptions {
  /// Documents that are not one JSON object are counted and passed over, without a trace in the
  /// schema, instead of being an error. Default: off.
  bool skipBadDocuments = false;
};

/// Finds the schema of JSON documents by looking at all of them (docs/reference/autodetect.md has
/// the rules). Columns stand in the order in which their keys appear first; all are NULLABLE or
/// REPEATED.
///
/// Memory does not grow with the number of documents, and none is allocated for a document that
/// brings nothing new. One thread at a time; several threads have one each and merge them.
class SchemaInference {
 public:
  /// Says where a document of the current call stands ("flights.json line 17"). Asked only when a
  /// document brings something new or is wrong.
  using PlaceOf = std::function<std::string(size_t document)>;

  explicit SchemaInference(const SchemaInferenceOptions& options = {});
  ~SchemaInference();
  SchemaInference(SchemaInference&&) noexcept;
  SchemaInference& operator=(SchemaInference&&) noexcept;

  /// Looks at more documents. Behind each, `formats::kJsonPadding` bytes are readable; it is
  /// fastest if they lie in one buffer in this order. INVALID_ARGUMENT: a bad document (its place
  /// and what is wrong), or a field that no column can hold: of two types (both, and where each was
  /// seen), with a name that BigQuery refuses, an array in an array, more than 15 levels deep, or
  /// too many of them. After an error only destruction is useful.
  [[nodiscard]] absl::Status add(std::span<const std::string_view> documents,
                                 const PlaceOf& placeOf);

  /// Takes over what `later` has seen, as if its documents had been added here after the own ones.
  /// Errors as `add`.
  [[nodiscard]] absl::Status merge(SchemaInference&& later);

  /// The schema; INVALID_ARGUMENT if there was no good document.
  [[nodiscard]] absl::StatusOr<TableSchema> finish() const;

  /// Good documents so far.
  [[nodiscard]] uint64_t documents() const;
  /// Bad documents passed over so far.
  [[nodiscard]] uint64_t skippedDocuments() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::bigquery
