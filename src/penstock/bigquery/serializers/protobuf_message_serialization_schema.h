#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/bigquery/serializers/protobuf_mapping.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"
#include "penstock/bigquery/serializers/row_serializer.h"

namespace penstock::bigquery {

/// What serializers of protobuf messages have in common: the columns, and a serializer for each
/// destination.
template <typename Record>
class ProtobufSerializationSchemaBase : public BigQueryProtoSerializationSchema<Record> {
 public:
  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) final { return schema_; }

  absl::Status prepare(connector::DestinationId destination, const TableName&,
                       const TableSchema* columns) final {
    PENSTOCK_ASSIGN_OR_RETURN(auto serializer,
                              ProtobufMessageSerializer::create(*mapping_, *columns, options_));
    const auto index = static_cast<size_t>(destination);
    if (serializers_.size() <= index) serializers_.resize(index + 1);
    serializers_[index] = std::move(serializer);
    return absl::OkStatus();
  }

 protected:
  ProtobufSerializationSchemaBase(std::shared_ptr<const ProtobufMapping> mapping,
                                  std::optional<TableSchema> schema,
                                  const ProtobufMessageOptions& options)
      : mapping_(std::move(mapping)), schema_(std::move(schema)), options_(options) {}

  ProtobufMessageSerializer& serializerOf(connector::DestinationId destination) {
    return *serializers_[static_cast<size_t>(destination)];
  }

 private:
  std::shared_ptr<const ProtobufMapping> mapping_;
  std::optional<TableSchema> schema_;
  ProtobufMessageOptions options_;
  std::vector<std::unique_ptr<ProtobufMessageSerializer>> serializers_;  // by destination
};

/// Messages of a type that is compiled into the program as records (BQT-016 to BQT-026). The
/// program includes the type's own header; this one shows no protobuf.
template <typename Message>
class ProtobufMessageSerializationSchema final : public ProtobufSerializationSchemaBase<Message> {
  using Base = ProtobufSerializationSchemaBase<Message>;

 public:
  /// Columns from the message type. `mapping` is `*ProtobufMapping::of<Message>()`.
  explicit ProtobufMessageSerializationSchema(std::shared_ptr<const ProtobufMapping> mapping)
      : Base(mapping, mapping->tableSchema(), {}) {}
  /// Columns of one's own, which the message's fields are paired with by name; none: each table's
  /// own, and a table that does not exist is an error (BQW-166).
  ProtobufMessageSerializationSchema(std::shared_ptr<const ProtobufMapping> mapping,
                                     std::optional<TableSchema> schema,
                                     const ProtobufMessageOptions& options = {})
      : Base(std::move(mapping), std::move(schema), options) {}

  absl::StatusOr<Serialized> serialize(const Message& record, connector::DestinationId destination,
                                       connector::RowEncoder& row) override {
    ProtobufMessageSerializer& serializer = Base::serializerOf(destination);
    const size_t size = record.ByteSizeLong();
    if (size > INT32_MAX) {
      return base::invalidArgument("the message has {} bytes, and protobuf ends at 2 GiB", size);
    }
    char* const scratch = serializer.scratch(size);
    record.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(scratch));
    PENSTOCK_RETURN_IF_ERROR(serializer.serialize({scratch, size}, row));
    return Serialized::kRow;
  }
};

/// Serialized messages as records: for types that are only known at run time.
class ProtobufBytesSerializationSchema final
    : public ProtobufSerializationSchemaBase<std::string_view> {
  using Base = ProtobufSerializationSchemaBase<std::string_view>;

 public:
  /// Columns from the message type.
  explicit ProtobufBytesSerializationSchema(std::shared_ptr<const ProtobufMapping> mapping)
      : Base(mapping, mapping->tableSchema(), {}) {}
  /// Columns of one's own; none: each table's own (BQW-166).
  ProtobufBytesSerializationSchema(std::shared_ptr<const ProtobufMapping> mapping,
                                   std::optional<TableSchema> schema,
                                   const ProtobufMessageOptions& options = {})
      : Base(std::move(mapping), std::move(schema), options) {}

  absl::StatusOr<Serialized> serialize(const std::string_view& record,
                                       connector::DestinationId destination,
                                       connector::RowEncoder& row) override {
    PENSTOCK_RETURN_IF_ERROR(Base::serializerOf(destination).serialize(record, row));
    return Serialized::kRow;
  }
};

}  // namespace penstock::bigquery
