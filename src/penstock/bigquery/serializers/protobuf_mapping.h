#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/protobuf_schema_options.h"
#include "penstock/bigquery/schema/table_schema.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace penstock::bigquery {

/// A protobuf message type and what its fields become as columns (BQT-016 to BQT-026). Immutable;
/// threads and serializers share one. All that is wrong with a type or the options is an error
/// here, before any record.
class ProtobufMapping {
 public:
  /// A message type that is compiled into the program.
  template <typename Message>
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<const ProtobufMapping>> of(
      const ProtoSchemaOptions& options = {}) {
    return create(Message::descriptor(), options);
  }

  /// `descriptor` and its pool must outlive the mapping.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<const ProtobufMapping>> create(
      const google::protobuf::Descriptor* descriptor, const ProtoSchemaOptions& options = {});

  /// A type that is only known at run time. `fileDescriptorSet`: a serialized
  /// google.protobuf.FileDescriptorSet, what `protoc --include_imports --descriptor_set_out=FILE`
  /// writes. `messageName`: with its package, `shop.Order`.
  [[nodiscard]] static absl::StatusOr<std::shared_ptr<const ProtobufMapping>> fromDescriptorSet(
      std::string_view fileDescriptorSet, std::string_view messageName,
      const ProtoSchemaOptions& options = {});

  /// The columns for messages of this type: what a table for them is created with.
  [[nodiscard]] const TableSchema& tableSchema() const { return schema_; }
  [[nodiscard]] const std::string& messageName() const { return messageName_; }

  /// OK if messages of this type can be written to a table with these columns; else an error that
  /// lists everything that does not fit.
  [[nodiscard]] absl::Status check(const TableSchema& columns) const;

  [[nodiscard]] const google::protobuf::Descriptor& descriptor() const { return *descriptor_; }
  [[nodiscard]] const ProtoSchemaOptions& options() const { return options_; }

 private:
  ProtobufMapping(std::shared_ptr<const void> owner, const google::protobuf::Descriptor* descriptor,
                  ProtoSchemaOptions options, TableSchema schema);

  std::shared_ptr<const void> owner_;  // of the descriptor, if it is not the program's own
  const google::protobuf::Descriptor* descriptor_;
  ProtoSchemaOptions options_;
  TableSchema schema_;
  std::string messageName_;
};

}  // namespace penstock::bigquery
