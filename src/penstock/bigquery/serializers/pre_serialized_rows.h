#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/bigquery/serializers/row_serializer.h"

namespace penstock::bigquery {

/// Rows that are protobuf bytes already, laid out by a descriptor: copied into the batch, nothing
/// else. The bytes are not checked; the service refuses what does not fit the descriptor.
class PreSerializedRows final : public BigQueryProtoSerializationSchema<std::string_view> {
 public:
  /// Rows as the schema's own descriptor lays them out (BQT-004).
  explicit PreSerializedRows(TableSchema schema) : schema_(std::move(schema)) {}
  /// Rows of a serialized google.protobuf.DescriptorProto. Without `schema` a missing table cannot
  /// be created.
  explicit PreSerializedRows(std::string descriptor,
                             std::optional<TableSchema> schema = std::nullopt)
      : schema_(std::move(schema)), descriptor_(std::move(descriptor)) {}

  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) override {
    return schema_;
  }
  absl::StatusOr<std::string> descriptor(const TableName&) override { return descriptor_; }
  absl::Status prepare(connector::DestinationId, const TableName&, const TableSchema*) override {
    return absl::OkStatus();
  }
  [[nodiscard]] bool copiesRecords() const override { return true; }
  absl::StatusOr<Serialized> serialize(const std::string_view& record, connector::DestinationId,
                                       connector::RowEncoder& row) override {
    row.append(record);
    return Serialized::kRow;
  }

 private:
  std::optional<TableSchema> schema_;
  std::string descriptor_;
};

}  // namespace penstock::bigquery
