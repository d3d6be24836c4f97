#pragma once

#include <memory>

#include "apps/penstock/load_plan.h"
#include "apps/penstock/option_flags.h"
#include "penstock/bigquery/serializers/protobuf_mapping.h"

namespace penstock::command {

/// The message type that the plan's `protobuf` names, out of its descriptor set. Errors name the
/// setting and the file.
[[nodiscard]] absl::StatusOr<std::shared_ptr<const bigquery::ProtobufMapping>> readMapping(
    const LoadPlan& plan);

/// Puts the flags of bigquery::protobufOptionSet() into the plan. Errors name the flag; one that is
/// given for other records is one.
[[nodiscard]] absl::Status applyMessageFlags(const OptionFlags& flags, LoadPlan& plan);

}  // namespace penstock::command
