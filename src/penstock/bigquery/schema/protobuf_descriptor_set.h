#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include <memory>
#include <string_view>

/// Message types that are only known at run time. Internal: it shows protobuf.
namespace penstock::bigquery {

/// Builds the types of a serialized google.protobuf.FileDescriptorSet. Google's own files
/// (google/protobuf/timestamp.proto and so on) may be missing from it.
[[nodiscard]] absl::StatusOr<std::shared_ptr<const google::protobuf::DescriptorPool>>
readDescriptorSet(std::string_view serialized);

/// The message `name` of the set; an error names those that there are.
[[nodiscard]] absl::StatusOr<const google::protobuf::Descriptor*> findMessage(
    const google::protobuf::DescriptorPool& pool, std::string_view serialized,
    std::string_view name);

}  // namespace penstock::bigquery
