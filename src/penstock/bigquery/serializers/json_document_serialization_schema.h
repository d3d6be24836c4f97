#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/bigquery/serializers/json_document_serializer.h"
#include "penstock/bigquery/serializers/row_serializer.h"

namespace penstock::bigquery {

/// JSON documents as records: one object each, its keys are columns (BQT-050 to BQT-059).
class JsonDocumentSerializationSchema final
    : public BigQueryProtoSerializationSchema<std::string_view> {
 public:
  /// Without a schema each table's own columns are used, and a table that does not exist is an
  /// error (BQW-166).
  explicit JsonDocumentSerializationSchema(std::optional<TableSchema> schema = std::nullopt,
                                           const JsonDocumentOptions& options = {})
      : schema_(std::move(schema)), options_(options) {}

  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) override {
    return schema_;
  }

  absl::Status prepare(connector::DestinationId destination, const TableName&,
                       const TableSchema* columns) override {
    // Tables with the same columns share one: thousands of equal plans would only keep each other
    // out of the cache.
    std::shared_ptr<JsonDocumentSerializer> serializer = last_;
    if (serializer == nullptr || lastColumns_ != *columns) {
      allShareLast_ = last_ == nullptr;
      PENSTOCK_ASSIGN_OR_RETURN(serializer, JsonDocumentSerializer::create(*columns, options_));
      last_ = serializer;
      lastColumns_ = *columns;
    }
    const auto index = static_cast<size_t>(destination);
    if (serializers_.size() <= index) serializers_.resize(index + 1);
    serializers_[index] = std::move(serializer);
    return absl::OkStatus();
  }

  absl::StatusOr<Serialized> serialize(const std::string_view& record,
                                       connector::DestinationId destination,
                                       connector::RowEncoder& row) override {
    JsonDocumentSerializer& serializer =
        allShareLast_ ? *last_ : *serializers_[static_cast<size_t>(destination)];
    PENSTOCK_RETURN_IF_ERROR(serializer.serialize(record, row));
    return Serialized::kRow;
  }

 private:
  std::optional<TableSchema> schema_;
  JsonDocumentOptions options_;
  std::vector<std::shared_ptr<JsonDocumentSerializer>> serializers_;  // by destination
  std::shared_ptr<JsonDocumentSerializer> last_;                      // to be made
  TableSchema lastColumns_;                                           // its columns
  bool allShareLast_ = true;  // no other was ever made: no need to look up which one it is
};

}  // namespace penstock::bigquery
