#include "apps/penstock/protobuf_records.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace penstock::command {
namespace {

absl::StatusOr<std::string> readFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return base::invalidArgument("this is a directory; name a file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  // Nothing to copy is a failure of the copy, too.
  if (!file && errno != 0) {
    return base::invalidArgument("cannot read it: {}", std::generic_category().message(errno));
  }
  return bytes.str();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const bigquery::ProtobufMapping>> readMapping(const LoadPlan& plan) {
  const std::string& path = plan.protobuf->descriptorSetFile;
  const std::string context = fmt::format("{} {}", plan.names.descriptorSet, path);
  const absl::StatusOr<std::string> set = readFile(path);
  if (!set.ok()) return base::withContext(set.status(), context);
  PENSTOCK_ASSIGN_OR_RETURN(bigquery::ProtoSchemaOptions options,
                            plan.protobuf->options.schemaOptions(base::OptionSpelling::kFlag));
  options.ignoreFieldsWithoutColumn = plan.ignoreUnknownFields;
  auto mapping =
      bigquery::ProtobufMapping::fromDescriptorSet(*set, plan.protobuf->messageName, options);
  if (!mapping.ok()) return base::withContext(mapping.status(), context);
  return mapping;
}

absl::Status applyMessageFlags(const OptionFlags& flags, LoadPlan& plan) {
  if (!plan.protobuf) {
    const std::string given = flags.firstGiven();
    if (given.empty()) return absl::OkStatus();
    return base::invalidArgument("{} is for protobuf messages, and the records are JSON", given);
  }
  PENSTOCK_RETURN_IF_ERROR(flags.apply(bigquery::protobufOptionSet(), plan.protobuf->options));
  return plan.protobuf->options.schemaOptions(base::OptionSpelling::kFlag).status();
}

}  // namespace penstock::command
