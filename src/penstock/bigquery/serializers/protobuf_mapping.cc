#include "penstock/bigquery/serializers/protobuf_mapping.h"

#include <google/protobuf/descriptor.h>

#include <utility>

#include "penstock/bigquery/schema/protobuf_descriptor_set.h"
#include "penstock/bigquery/schema/protobuf_schema.h"
#include "penstock/bigquery/serializers/protobuf_plan.h"

namespace penstock::bigquery {

ProtobufMapping::ProtobufMapping(std::shared_ptr<const void> owner,
                                 const google::protobuf::Descriptor* descriptor,
                                 ProtoSchemaOptions options, TableSchema schema)
    : owner_(std::move(owner)),
      descriptor_(descriptor),
      options_(std::move(options)),
      schema_(std::move(schema)),
      messageName_(descriptor->full_name()) {}

absl::StatusOr<std::shared_ptr<const ProtobufMapping>> ProtobufMapping::create(
    const google::protobuf::Descriptor* descriptor, const ProtoSchemaOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(TableSchema schema, deriveTableSchema(*descriptor, options));
  return std::shared_ptr<const ProtobufMapping>(
      new ProtobufMapping(nullptr, descriptor, options, std::move(schema)));
}

absl::StatusOr<std::shared_ptr<const ProtobufMapping>> ProtobufMapping::fromDescriptorSet(
    std::string_view fileDescriptorSet, std::string_view messageName,
    const ProtoSchemaOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<const google::protobuf::DescriptorPool> pool,
                            readDescriptorSet(fileDescriptorSet));
  PENSTOCK_ASSIGN_OR_RETURN(const google::protobuf::Descriptor* descriptor,
                            findMessage(*pool, fileDescriptorSet, messageName));
  PENSTOCK_ASSIGN_OR_RETURN(TableSchema schema, deriveTableSchema(*descriptor, options));
  return std::shared_ptr<const ProtobufMapping>(
      new ProtobufMapping(std::move(pool), descriptor, options, std::move(schema)));
}

absl::Status ProtobufMapping::check(const TableSchema& columns) const {
  return ProtobufPlan::compile(*descriptor_, columns, options_).status();
}

}  // namespace penstock::bigquery
