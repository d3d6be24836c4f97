#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/serializers/protobuf_mapping.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"

/// Message types from the text of a .proto file, and messages from protobuf's text format.
namespace penstock::bigquery {

/// What protoc makes of a .proto file whose text is given without syntax, package (`test`) and
/// imports: a serialized FileDescriptorSet. `syntax`: "proto2" or "proto3".
[[nodiscard]] std::string descriptorSetOf(std::string_view text,
                                          std::string_view syntax = "proto3");

/// Message `M` of such a file: its mapping, its columns, its rows.
class ProtobufType {
 public:
  explicit ProtobufType(std::string_view text, const ProtoSchemaOptions& options = {},
                        std::string_view syntax = "proto3");

  /// The mapping, or why there is none.
  [[nodiscard]] const absl::Status& status() const { return status_; }
  [[nodiscard]] const ProtobufMapping& mapping() const { return *mapping_; }
  /// "id INT64, tags REPEATED STRING, inner STRUCT<a INT64>"; the error if there is none.
  [[nodiscard]] std::string columns() const;

  /// The message that the text format describes, as protobuf writes it.
  [[nodiscard]] std::string bytesOf(std::string_view textFormat) const;
  [[nodiscard]] std::unique_ptr<google::protobuf::Message> newMessage() const;

  /// Columns other than those of the message.
  ProtobufType& into(TableSchema columns);
  ProtobufType& with(const ProtobufMessageOptions& options);

  /// The bytes of the row as hexadecimal digits, or what is wrong: of a message in text format, and
  /// of the bytes of one.
  [[nodiscard]] std::string hexRow(std::string_view textFormat) const;
  [[nodiscard]] std::string hexRowOfBytes(std::string_view message) const;
  [[nodiscard]] absl::StatusOr<std::string> rowOfBytes(std::string_view message) const;
  /// The row as protobuf's text format reads it by the row's own descriptor, on one line.
  [[nodiscard]] std::string textRow(std::string_view textFormat) const;

 private:
  absl::Status status_;
  std::shared_ptr<const ProtobufMapping> mapping_;
  TableSchema columns_;
  ProtobufMessageOptions options_;
  std::shared_ptr<google::protobuf::DynamicMessageFactory> factory_;
};

/// A row read by libprotobuf by the descriptor of `columns`: text format on one line.
[[nodiscard]] std::string readRow(const TableSchema& columns, std::string_view row);

/// "08 01": bytes; spaces may stand between them.
[[nodiscard]] std::string fromHex(std::string_view digits);

}  // namespace penstock::bigquery
