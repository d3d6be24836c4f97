#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "apps/penstock/destination_template.h"
#include "apps/penstock/record_fields.h"
#include "penstock/bigquery/serializers/json_document_serializer.h"
#include "penstock/bigquery/sink/blocking_writer.h"
#include "penstock/runtime/record_batch.h"

namespace penstock::command {

/// Says which table each record goes to, opens tables as they come up, and keeps the serializer of
/// each. A table's rows are laid out by the given schema, or by the table's own. One thread.
class RecordRoutes {
 public:
  struct Route {
    connector::DestinationId destination{};
    bigquery::JsonDocumentSerializer* serializer = nullptr;
    /// The serializer knows the batch's records: rows are taken from there.
    bool announced = false;
  };

  /// `writer` outlives the routes. A template without fields is opened at once.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<RecordRoutes>> create(
      bigquery::BlockingWriter& writer, const DestinationTemplate& destination,
      const std::optional<bigquery::TableSchema>& schema,
      const bigquery::JsonDocumentOptions& options);

  /// Where all records go; null if that depends on the record.
  [[nodiscard]] const Route* fixed() const { return fixed_; }

  void beginBatch(std::span<const std::string_view> records);

  /// Where record `index` of `batch`, which was begun, goes, if that is not fixed. Unroutable: a
  /// field has no value, or the values make no name. An error ends the load. The route stays valid.
  [[nodiscard]] absl::StatusOr<std::variant<const Route*, connector::Unroutable>> of(
      const runtime::RecordBatch& batch, size_t index);

 private:
  RecordRoutes(bigquery::BlockingWriter& writer, const DestinationTemplate& destination,
               const std::optional<bigquery::TableSchema>& schema,
               const bigquery::JsonDocumentOptions& options)
      : writer_(writer),
        template_(destination),
        schema_(schema),
        options_(options),
        fields_(destination.fields()) {}

  [[nodiscard]] absl::StatusOr<const Route*> open(const bigquery::TableName& table,
                                                  std::string origin);
  /// A table read for its own schema has other columns now; takes over in the middle of a batch.
  [[nodiscard]] absl::Status replan(connector::DestinationId destination,
                                    const bigquery::TableSchema& columns);
  [[nodiscard]] absl::StatusOr<bigquery::JsonDocumentSerializer*> serializerOf(
      connector::DestinationId destination);

  bigquery::BlockingWriter& writer_;
  const DestinationTemplate template_;
  const std::optional<bigquery::TableSchema> schema_;
  const bigquery::JsonDocumentOptions options_;

  RecordFields fields_;
  std::span<const std::string_view> records_;
  std::string key_;  // reused
  std::string why_;  // reused
  const Route* fixed_ = nullptr;
  std::unordered_map<std::string, Route> routes_;             // by the values of the fields
  std::unique_ptr<bigquery::JsonDocumentSerializer> shared_;  // of the given schema
  std::vector<std::unique_ptr<bigquery::JsonDocumentSerializer>> own_;  // of tables' own schemas
};

}  // namespace penstock::command
